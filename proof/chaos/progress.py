"""Measure the time from a fault until work continues, from outside, in Postgres, while other faults may already run.

The clock starts when a fault has ended: for a kill when it was sent, for an outage when the server answers again. Then

    first   until the first commit of a session that had been dirty before that moment, if any was
    all     until every session requested by this time, and not in a back-off, was flushed once (or was forgotten)
    hook    until a hook of an agent returned; for a killed talker: one of its own
    longest the longest time that a hook took during the fault (including one that had begun before)

Other faults in between are included, so these are upper bounds.
"""

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from proof.chaos.places import Places, lines_of
from proof.chaos.plan import Fault

_POLL_SECONDS = 0.1
# Hooks on the reply path; the others are reads, passes and forgets.
_HOOKS = frozenset({"turn", "task", "note", "prompt", "trigger"})
# Requested or offered, and not done yet; by Postgres' clock, which no fault changes.
_ASKED = """
    SELECT s.id, s.processed_until FROM slowwave.sessions s
    WHERE s.last_seq > s.processed_until AND (s.not_before IS NULL OR s.not_before <= clock_timestamp())
      AND (s.invalidated_at > s.processed_until OR s.flush_due_at <= clock_timestamp() OR s.attempts > 0)
"""
_DIRTY = "SELECT count(*) FROM slowwave.sessions WHERE dirty_since <= to_timestamp(:ended)"
_NEWEST = "SELECT coalesce(max(id), 0) FROM slowwave.flushes"
_FIRST = "SELECT 1 FROM slowwave.flushes WHERE id > :newest AND oldest_recorded_at <= to_timestamp(:ended) LIMIT 1"
_LEFT = """
    SELECT s.id FROM unnest(cast(:ids AS bigint[]), cast(:untils AS bigint[])) AS w (id, until)
    JOIN slowwave.sessions s ON s.id = w.id AND s.processed_until = w.until
"""


@dataclass(slots=True)
class Resumed:
    """One fault and its consequences. Times are epoch seconds; durations are seconds after `ended`, None: never."""

    fault: Fault
    began: float
    ended: float
    target: str
    first: float | None = None
    all: float | None = None
    hook: float | None = None
    longest: float = 0.0
    newest: int = 0
    dirty: int = 0
    asked: dict[int, int] | None = field(default=None, repr=False)

    @property
    def awaited(self) -> bool:
        """Return True if a consequence is still missing."""
        return self.all is None or (self.first is None and self.dirty > 0)

    def to_json(self) -> dict[str, Any]:
        """Return a line for the run's list of faults."""
        figures = {"first": self.first, "all": self.all, "hook": self.hook, "longest": self.longest}
        when = {"began": self.began, "ended": self.ended, "dirty": self.dirty, "asked": len(self.asked or {})}
        return {"number": self.fault.number, "kind": self.fault.kind.name, "target": self.target} | when | figures


class Progress:
    """A thread that watches all ended faults until their work continues."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._open: list[Resumed] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def watch(self, resumed: Resumed) -> None:
        """Watch a fault that has just ended."""
        with self._lock:
            self._open.append(resumed)

    def close(self) -> None:
        """Stop watching."""
        self._ending.set()
        self._thread.join(60)
        self._engine.dispose()

    def _run(self) -> None:
        while not self._ending.wait(_POLL_SECONDS):
            with self._lock:
                open_now = list(self._open)
            try:
                if open_now:
                    with self._engine.connect() as connection:
                        for resumed in open_now:
                            _look(connection, resumed)
            except SQLAlchemyError:
                continue  # if Postgres is the unavailable server, the time counts for all watched faults
            with self._lock:
                self._open = [one for one in self._open if one.awaited]


def _look(connection: Connection, resumed: Resumed) -> None:
    if resumed.asked is None:
        resumed.newest = connection.execute(text(_NEWEST)).scalar_one()
        resumed.dirty = connection.execute(text(_DIRTY), {"ended": resumed.ended}).scalar_one()
        resumed.asked = {row.id: row.processed_until for row in connection.execute(text(_ASKED))}
    passed = time.time() - resumed.ended
    ended = {"newest": resumed.newest, "ended": resumed.ended}
    if resumed.first is None and resumed.dirty and connection.execute(text(_FIRST), ended).first():
        resumed.first = passed
    if resumed.all is None:
        left = {"ids": list(resumed.asked), "untils": list(resumed.asked.values())}
        if not connection.execute(text(_LEFT), left).first():
            resumed.all = passed


def add_hooks(resumed: Iterable[Resumed], places: Places) -> None:
    """Find in the journals when hooks returned again, and their durations in the meantime."""
    calls = sorted(_calls(places), key=lambda call: call.returned)
    for one in resumed:
        own = one.target if one.fault.kind.name == "talker" else None
        later = (call.returned for call in calls if call.returned > one.ended and own in {None, call.talker})
        first = next(later, None)
        one.hook = None if first is None else first - one.ended
        during = [call.seconds for call in calls if call.tried <= one.ended and call.returned >= one.began]
        one.longest = max(during, default=0.0)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a hook that returned (epoch seconds)."""

    talker: str
    tried: float
    returned: float

    @property
    def seconds(self) -> float:
        return self.returned - self.tried


def _calls(places: Places) -> Iterator[_Call]:
    for journal in places.journals():
        talker = f"talker-{journal.name.split('-')[1]}"
        tried: dict[int, float] = {}
        for line in lines_of(journal):
            if line["state"] == "tried" and line["kind"] in _HOOKS:
                tried[line["serial"]] = line["t"]
            elif line["state"] == "done" and line["serial"] in tried:
                yield _Call(talker, tried.pop(line["serial"]), line["t"])
