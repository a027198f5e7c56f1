"""The journal of calls: one line before each call and one after it, each synced to disk at once.

F/journal-K-PID.jsonl    the lines of one process; an incomplete last line was being written when it died, and is
skipped
F/environment-K.json     the settings with which producer K talks, as variables
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

CallKind = Literal["turn", "task", "note", "prompt", "trigger", "forget", "read", "pass"]
LineKind = Literal["fact", "lasting", "both", "passing", "reply", "result", "long", "odd", "milestone", "note"]


@dataclass(frozen=True, slots=True)
class Line:
    """One statement. word: occurs only in this statement (in both lines of a contradiction: kind "both").

    at: its own time (ISO), None for the time of the call. about: for a fact, the attribute with the word as its value.
    """

    kind: LineKind
    role: str
    text: str
    word: str
    at: str | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a hook. serial: the number of the call of one producer; key: the idempotency key.

    session: "" for a call that concerns a whole agent. scope: None for the agent's own.
    """

    producer: int
    serial: int
    kind: CallKind
    tenant: str
    agent: str
    session: str = ""
    scope: str | None = None
    lines: tuple[Line, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.producer}-{self.serial}"


@dataclass(slots=True)
class Told:
    """The result of a call. done: True if the hook returned, so that its guarantee holds; failed: True if the hook
    reported that it did nothing. If both are False, its process was killed or stopped before the hook returned.
    stored: "postgres" or "spool", as its receipt says.

    at: the time of the first attempt (epoch seconds); done_at: the time of the last return, 0 without one.
    """

    call: Call
    at: float
    done: bool = False
    done_at: float = 0.0
    stored: str = ""
    failed: bool = False
    tries: int = 1
    detail: dict[str, Any] = field(default_factory=dict)


class Writer:
    """The journal of this process. Each line is on the disk when its method returns."""

    def __init__(self, folder: Path, producer: int) -> None:
        path = folder / f"journal-{producer}-{os.getpid()}.jsonl"
        self._file = path.open("ab")

    def tried(self, call: Call) -> None:
        self._write({"state": "tried", "t": time.time(), **asdict(call)})

    def done(self, call: Call, stored: str = "", **detail: Any) -> None:
        self._write({"state": "done", "t": time.time(), "serial": call.serial, "stored": stored, "detail": detail})

    def failed(self, call: Call, error: Exception) -> None:
        self._write({"state": "failed", "t": time.time(), "serial": call.serial, "stored": type(error).__name__})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def read(folder: Path, producer: int | None = None) -> list[Told]:
    """Return all calls of a folder, or of one producer, in the order of their first attempts."""
    told: dict[tuple[int, int], Told] = {}
    for path in folder.glob("journal-*.jsonl" if producer is None else f"journal-{producer}-*.jsonl"):
        number = int(path.name.split("-")[1])
        for line in _lines(path):
            _note(told, number, line)
    return sorted(told.values(), key=lambda one: (one.at, one.call.producer, one.call.serial))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for raw in path.read_bytes().split(b"\n")[:-1]:
        yield json.loads(raw)


def _note(told: dict[tuple[int, int], Told], producer: int, line: dict[str, Any]) -> None:
    state, moment = line.pop("state"), line.pop("t")
    key = (producer, line["serial"])
    if state == "tried":
        if key in told:
            told[key].tries += 1
            told[key].at = min(told[key].at, moment)
        else:
            said = tuple(Line(**said) for said in line.pop("lines"))
            told[key] = Told(Call(**line, lines=said), moment)
    elif state == "done":
        one = told[key]
        one.done, one.done_at, one.stored = True, max(one.done_at, moment), line["stored"]
        one.detail |= line["detail"]
    else:
        told[key].failed = True


def events_of(told: Iterable[Told]) -> int:
    """Return the number of events that calls that returned recorded: each once, including forgotten ones."""
    return sum(len(one.call.lines) for one in told if one.done and one.call.kind in {"turn", "task"})


def forgets(told: Iterable[Told]) -> list[Told]:
    """Return the forgets among them."""
    return [one for one in told if one.call.kind == "forget"]
