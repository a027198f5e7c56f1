"""Windows: which events one flush takes, and how much of a very long one.

Must not know: how events are read, or what is extracted from them.
"""

from collections.abc import Sequence
from dataclasses import replace

from slowwave_server.domain.candidates import Window
from slowwave_server.domain.events import Event


def cut_window(events: Sequence[Event], *, max_messages: int, max_chars: int) -> Window:
    """The longest run of events from the first one on that keeps both bounds.

    events: contiguous by seq, oldest first, at least one. An event that is longer than `max_chars` is a window by
    itself, cut in the middle with a mark that says how much was left out; its stored text stays whole.
    Raises ValueError for no events or numbers with a gap: a window with a hole would lose what lies in it.
    """
    if not events:
        raise ValueError("a window needs at least one event")
    taken: list[Event] = []
    size = 0
    for event in events[:max_messages]:
        if taken and event.seq != taken[-1].seq + 1:
            raise ValueError(f"events {taken[-1].seq} and {event.seq} are not neighbours")
        size += len(event.content)
        if size > max_chars and taken:
            break
        taken.append(event)
    if len(taken) == 1:
        taken[0] = replace(taken[0], content=shorten(taken[0].content, max_chars))
    return Window(tuple(taken))


def shorten(text: str, max_chars: int) -> str:
    """At most `max_chars` characters of `text`: its beginning, a mark, its end."""
    if len(text) <= max_chars:
        return text
    mark = f"\n[… {len(text) - max_chars} characters left out …]\n"
    room = max(max_chars - len(mark), 0)
    head = (room + 1) // 2
    return text[:head] + mark[: max_chars - room] + text[len(text) - (room - head) :]
