"""Cut windows: decide which events one flush processes."""

from collections.abc import Sequence

from slowwave_server.domain.candidates import Window
from slowwave_server.domain.events import Event

TOOL_ROOM = 4
"""Room for calls and results of tools in a window, as a multiple of the room for turns. `begin_flush` uses it too."""

PRECEDING_EVENTS = 4
"""The number of events before a window that its reader sees."""
PRECEDING_TURNS = 2
"""The number of turns among them; if tools fill the last events, the turns before their calls are added."""
LOOK_BACK = 200
"""The number of events before a window in which these turns are searched."""


def cut_window(events: Sequence[Event], *, max_messages: int, max_chars: int, max_events: int | None = None) -> Window:
    """Return the longest run of events, from the first one on, within the limits.

    `max_messages` and `max_chars` limit turns of people and agents, and milestones of tasks. Tool calls and results
    have separate limits, `TOOL_ROOM` times as large, so that they do not displace the turns around them.

    Args:
        events: events without a gap in seq, oldest first, at least one.
        max_messages: the highest number of events that are not a tool's.
        max_chars: the highest number of characters of these events. A longer event is a window alone, uncut.
        max_events: the highest number of events of any kind; None: as many as the other limits allow.

    Returns:
        A window of at least one event.

    Raises:
        ValueError: there are no events, or their numbers have a gap: a window with a gap would lose the missing events.
    """
    if not events:
        raise ValueError("a window needs at least one event")
    taken: list[Event] = []
    counts = {True: 0, False: 0}
    sizes = {True: 0, False: 0}
    for event in events[:max_events]:
        if taken and event.seq != taken[-1].seq + 1:
            raise ValueError(f"events {taken[-1].seq} and {event.seq} are not neighbours")
        is_tool = event.kind == "tool"
        room = TOOL_ROOM if is_tool else 1
        counts[is_tool] += 1
        sizes[is_tool] += len(event.content)
        fits = counts[is_tool] <= room * max_messages and sizes[is_tool] <= room * max_chars
        if taken and not fits:
            break
        taken.append(event)
        if not fits:
            break
    return Window(tuple(taken))


def most_events(max_messages: int) -> int:
    """Return the highest number of events in a window of at most `max_messages` turns."""
    return max_messages * (1 + TOOL_ROOM)


def preceding(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the context before the next window: the last `PRECEDING_EVENTS` of these events, and earlier ones until
    there are `PRECEDING_TURNS` turns.
    """
    near = events[-PRECEDING_EVENTS:]
    turns = [event for event in events[-LOOK_BACK:] if event.is_spoken][-PRECEDING_TURNS:]
    return (*(event for event in turns if event.seq < near[0].seq), *near) if near else ()
