"""What is kept of one segment of a session: a bounded number of its sentences, each with its weight.

Must not know: other segments, and how long the summary of the day may be.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC

from slowwave_server.domain.events import Event
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.summaries.lines import Line, in_order
from slowwave_server.domain.summaries.picking import pick
from slowwave_server.domain.summaries.reading import read
from slowwave_server.domain.summaries.sentence import Sentence
from slowwave_server.domain.summaries.weights import weight_of

SUMMARIZER = "rules/2"
"""Name and version. Segments that another version made are made anew."""
MAX_SEGMENT_LINES = 40


def summarize_segment(
    events: Sequence[Event],
    *,
    session: str,
    agent: str = "The assistant",
    time_zone: str = "UTC",
    preceding: Sequence[Event] = (),
) -> tuple[Line, ...]:
    """At most `MAX_SEGMENT_LINES` lines of `events` (one session, by seq), by facet, then time; () where all is noise.

    agent: its name, for what it says itself; time_zone: its IANA zone, for "yesterday" (ZoneInfoNotFoundError where
    there is no such zone); preceding: the event before the segment, to which a short answer may reply.
    """
    lines = [_line(one, session) for one in read(events, agent=agent, time_zone=time_zone, preceding=preceding)]
    return in_order(_redacted(line) for line in pick(lines, MAX_SEGMENT_LINES, lambda _line: 1))


def _line(sentence: Sentence, session: str) -> Line:
    event = sentence.event
    weight = weight_of(sentence.fired, sentence.facet)
    return Line(
        sentence.facet,
        sentence.text,
        sentence.speaker,
        session,
        event.seq,
        event.happened_at.astimezone(UTC),
        weight,
        sentence.run,
    )


def _redacted(line: Line) -> Line:
    """What was said is without secrets already; names were not looked at, and words that were rewritten changed."""
    run = None if line.run is None else redact(line.run).text
    return replace(line, text=redact(line.text).text, speaker=redact(line.speaker).text, run=run)
