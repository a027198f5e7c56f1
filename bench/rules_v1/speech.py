"""The speaker of an event, the listener, and the event to which it replies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.rules_v1.noise import is_noise
from bench.rules_v1.person import Speaker
from slowwave_server.domain.events import Event

UNNAMED_USER = "The user"
MAX_NAME = 80
_NO_NAMES = frozenset(("", "user", "assistant", "human", "ai"))


@dataclass(frozen=True, slots=True)
class Speech:
    """One event worth reading. is_agent: an assistant without a name, which is the agent itself.

    before: the text of the event before it if another speaker said that one, else None.
    """

    event: Event
    speaker: Speaker
    is_agent: bool
    before: str | None


def name_of(event: Event, agent: str) -> str:
    """The speaker's name in one line: the event's own, else the agent's, or "The user"."""
    name = " ".join((event.name or "").split())[:MAX_NAME].strip()
    if name.lower() not in _NO_NAMES:
        return name
    return agent if event.kind == "assistant" else UNNAMED_USER


def speeches(events: Iterable[Event], preceding: Iterable[Event], agent: str) -> Iterator[Speech]:
    """The spoken events of a window in order, without noise and tasks. "You" is resolved if exactly two people
    speak.
    """
    before = [event for event in preceding if event.kind != "task" and not is_noise(event)]
    spoken = [event for event in events if event.kind != "task" and not is_noise(event)]
    people = sorted({name_of(event, agent) for event in (*before, *spoken)})
    last = before[-1] if before else None
    for event in spoken:
        name = name_of(event, agent)
        others = [person for person in people if person != name]
        speaker = Speaker(name, others[0] if len(people) == 2 else None)
        heard = last.content if last is not None and name_of(last, agent) != name else None
        yield Speech(event, speaker, event.kind == "assistant" and name == agent, heard)
        last = event
