"""What is kept of one segment of a session: a bounded number of its sentences, each with its weight.

Must not know: other segments, and how long the summary of the day may be.
"""

from collections.abc import Sequence
from datetime import UTC

from domain.events import Event
from domain.summaries.lines import Line, in_order
from domain.summaries.ranking import centrality, choose, vectors
from domain.summaries.reading import Sentence, read
from domain.summaries.weights import CENTRALITY, base_weight

SUMMARIZER = "rules/1"
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
    sentences = _once(read(events, agent=agent, time_zone=time_zone, preceding=preceding))
    units = vectors([sentence.text for sentence in sentences])
    weights = [
        base_weight(sentence.fired, sentence.facet, len(sentence.text.split())) + CENTRALITY * central
        for sentence, central in zip(sentences, centrality(units), strict=True)
    ]
    chosen = choose(weights, units, [1] * len(sentences), MAX_SEGMENT_LINES)
    return in_order(_line(sentences[at], session, weights[at]) for at in chosen)


def _once(sentences: Sequence[Sentence]) -> list[Sentence]:
    """What is said twice in the same words counts where it was said first."""
    return list({sentence.text.casefold(): sentence for sentence in reversed(sentences)}.values())[::-1]


def _line(sentence: Sentence, session: str, weight: float) -> Line:
    event = sentence.event
    at = event.happened_at.astimezone(UTC)
    return Line(sentence.facet, sentence.text, sentence.speaker, session, event.seq, at, round(weight, 4))
