"""Compute the waits of each turn by cause, from calls and commits.

    should begin ─ hook ─▶ returned
                    recorded ─ policy ─▶ due ─ queue ─▶ begun ─ work ─▶ committed

A turn is due when a flush that covers it is first requested: by its session's own hooks (turns, idle, reset), by a
prompt in another session of its agent, or because the session has been quiet or dirty for long enough. A turn that
arrives while its session is already due is due at once.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Asked = Literal["turns", "end", "prompt", "quiet", "age", "none"]
"""Why a turn was due: by its session's turns, by its end, by a prompt elsewhere, quiet or dirty for long, or nothing
that is known."""

TOLD = frozenset({"turns", "end", "prompt"})
"""Of these, somebody asked for the flush: it need not be found by a sweep."""

_CLOCK_SECONDS = 0.05
"""A call's statement runs after the call began: by so much at most a trigger seems to be older than what it covers."""


@dataclass(frozen=True, slots=True)
class Window:
    """One committed flush of a session: its turns, its start, its commit."""

    first_turn: int
    last_turn: int
    begun: float
    committed: float


@dataclass(frozen=True, slots=True)
class Conversation:
    """The events of one session. recorded: turn → the time at which Postgres stored it. asked: (time, reason), in any
    order.
    """

    recorded: Mapping[int, float]
    asked: Sequence[tuple[float, Asked]]
    windows: Sequence[Window]


@dataclass(frozen=True, slots=True)
class Turn:
    """The waits of one turn, in seconds; said, due: Unix times. A turn that was not flushed has no lag."""

    agent: int
    said: float
    hook: float
    late: float
    policy: float | None = None
    queue: float | None = None
    work: float | None = None
    due: float | None = None
    asked: Asked = "none"
    from_due: float | None = None
    from_said: float | None = None


def conversations(
    lines: Iterable[Mapping[str, Any]],
    recorded: Mapping[str, Mapping[int, float]],
    windows: Mapping[str, Sequence[Window]],
    name: Mapping[int, str],
) -> dict[str, Conversation]:
    """Join the producers' records with the database, by session.

    name: maps a session's number to its name.
    """
    asked: dict[str, list[tuple[float, Asked]]] = {session: [] for session in recorded}
    for line in lines:
        _, kind, _, number, turn = line["hook"]
        session = name[number]
        for boosted in line.get("boosted") or ():
            asked.setdefault(boosted, []).append((line["began"], "prompt"))
        if line.get("due"):
            at = recorded.get(session, {}).get(turn, line["began"]) if kind == "turn" else line["began"]
            asked.setdefault(session, []).append((at, "turns" if kind == "turn" else "end"))
    return {
        session: Conversation(turns, sorted(asked[session]), windows.get(session, ()))
        for session, turns in recorded.items()
    }


def due_moment(talk: Conversation, window: Window, *, idle: float, age: float) -> tuple[float, Asked]:
    """Return when a window was first due, and why; at the latest, it was due when it began."""
    first = talk.recorded[window.first_turn]
    found: list[tuple[float, Asked]] = [
        (max(at, first), why) for at, why in talk.asked if first - _CLOCK_SECONDS <= at <= window.begun
    ]
    times = sorted(at for at in talk.recorded.values() if first <= at <= window.begun)
    for at, following in zip(times, [*times[1:], window.begun], strict=True):
        if at + idle <= following:
            found.append((at + idle, "quiet"))
            break
    if first + age <= window.begun:
        found.append((first + age, "age"))
    return min(found, default=(window.begun, "none"))


def turns_of(
    lines: Iterable[Mapping[str, Any]],
    talks: Mapping[str, Conversation],
    name: Mapping[int, str],
    *,
    idle: float,
    age: float,
) -> list[Turn]:
    """Return the waits of each completed turn, in the order of the plan. idle, age: the settings, in seconds."""
    dues: dict[tuple[str, int], tuple[float, Asked]] = {}
    found = []
    for line in lines:
        _, kind, agent, number, turn = line["hook"]
        if kind != "turn":
            continue
        session = name[number]
        hook, late = line["returned"] - line["scheduled"], line["began"] - line["scheduled"]
        plain = Turn(agent, line["scheduled"], hook, max(0.0, late))
        talk = talks.get(session)
        window = None if talk is None else _window_of(talk, turn)
        if talk is None or window is None:
            found.append(plain)
            continue
        key = (session, window.first_turn)
        if key not in dues:
            dues[key] = due_moment(talk, window, idle=idle, age=age)
        found.append(_flushed(plain, talk.recorded[turn], window, dues[key]))
    return found


def _window_of(talk: Conversation, turn: int) -> Window | None:
    place = bisect_left(talk.windows, turn, key=lambda window: window.last_turn)
    if place == len(talk.windows) or turn not in talk.recorded:
        return None
    return talk.windows[place]


def _flushed(plain: Turn, recorded: float, window: Window, asked: tuple[float, Asked]) -> Turn:
    due = max(recorded, asked[0])
    return Turn(
        plain.agent,
        plain.said,
        plain.hook,
        plain.late,
        policy=due - recorded,
        queue=max(0.0, window.begun - due),
        work=window.committed - max(window.begun, due),
        due=due,
        asked=asked[1],
        from_due=max(0.0, window.committed - due),
        from_said=window.committed - plain.said,
    )
