"""Split a session's events of one day into segments of bounded size.

The event that reaches a limit is the last of its segment, so only the segment's own events decide whether it is full.
Later events never change a full segment, and splitting can start after any full segment.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slowwave_server.domain.events import Event

MAX_SEGMENT_EVENTS = 100
MAX_SEGMENT_CHARACTERS = 24_000
"""The event that reaches this total is the segment's last."""
MAX_EVENT_CHARACTERS = 12_000
"""Maximum characters read from one event: the beginning and the end of a longer one."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Events of one session and day, at least one, by seq. full: True if the segment accepts no further event."""

    events: tuple[Event, ...]
    full: bool

    @property
    def from_seq(self) -> int:
        return self.events[0].seq

    @property
    def to_seq(self) -> int:
        return self.events[-1].seq


def cut_segments(events: Iterable[Event]) -> Iterator[Segment]:
    """Yield the segments of a session's events of one day; only the last one may be incomplete.

    events: sorted by seq, from the day's first event on, or from the first event after a full segment. The function
    holds one segment in memory at a time.
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
