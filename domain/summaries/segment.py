"""Choose a bounded number of weighted sentences from one segment of a session."""

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
"""Name and version. Segments from another version are summarized again."""
MAX_SEGMENT_LINES = 40


def summarize_segment(
    events: Sequence[Event],
    *,
    session: str,
    agent: str = "The assistant",
    time_zone: str = "UTC",
    preceding: Sequence[Event] = (),
) -> tuple[Line, ...]:
    """Return at most `MAX_SEGMENT_LINES` lines of `events` of one session, by facet, then time; () if all are noise.

    time_zone: the zone in which "yesterday" is resolved. preceding: the event to which a short first answer may refer.
    Raises ZoneInfoNotFoundError.
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
    """Redact again, because speaker names were not redacted before, and rewording can reveal a secret."""
    run = None if line.run is None else redact(line.run).text
    return replace(line, text=redact(line.text).text, speaker=redact(line.speaker).text, run=run)
