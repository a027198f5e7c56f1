"""How a session's events of one day are split into segments: runs of bounded size.

A segment ends with the event that fills it, so whether it is full depends on its own events alone: events that are
appended never change a full segment, and cutting may begin behind any full one.

Must not know: what a summary says of a segment.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slowwave_server.domain.events import Event

MAX_SEGMENT_EVENTS = 100
MAX_SEGMENT_CHARACTERS = 24_000
"""The event that reaches it is the segment's last."""
MAX_EVENT_CHARACTERS = 12_000
"""What is read of one event: of a longer one its beginning and its end."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Events of one session and day, at least one, by seq. full: no event is ever added to it."""

    events: tuple[Event, ...]
    full: bool

    @property
    def from_seq(self) -> int:
        return self.events[0].seq

    @property
    def to_seq(self) -> int:
        return self.events[-1].seq


def cut_segments(events: Iterable[Event]) -> Iterator[Segment]:
    """The segments of a session's events of one day, which come by seq from the day's first on, or from the first
    behind a full segment. Only the last one may be not full. Holds one segment at a time.
    """
    run: list[Event] = []
    characters = 0
    for event in events:
        run.append(event)
        characters += min(len(event.content), MAX_EVENT_CHARACTERS)
        if len(run) == MAX_SEGMENT_EVENTS or characters >= MAX_SEGMENT_CHARACTERS:
            yield Segment(tuple(run), full=True)
            run, characters = [], 0
    if run:
        yield Segment(tuple(run), full=False)
