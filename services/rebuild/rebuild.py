"""A whole rebuild: read the remaining windows, show the difference, switch.

    read ──▶ all windows read ──▶ the difference ──▶ confirmed ──▶ switched, one run that can be undone
     └── a cap, or an unreachable model: windows read so far are kept, and the same call continues

The difference is computed by the switch itself, in a transaction that is rolled back.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from psycopg.errors import DeadlockDetected
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from slowwave_server.domain.bare_secrets import without_bare_secrets
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import Unanswered
from slowwave_server.domain.rebuilding import pairs
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.memories.changes import Author, Ledger, changes_of_run
from slowwave_server.services.rebuild.ledger import Owner, count_windows, places, read_window
from slowwave_server.services.rebuild.staging import keep, open_staging, totals
from slowwave_server.services.rebuild.switching import CannotSwitch, Switched, switch
from slowwave_server.services.runs.heartbeat import RunHeartbeat
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, RunEnd, finish_run, start_run

log = logging.getLogger(__name__)

ATTEMPTS = 3
FAILURES_IN_A_ROW = 5
"""After this many windows in a row without a usable answer, the rebuild stops: the cause is not in the windows."""

_EVENTS = text("SELECT e.memory_id, e.session_id, e.seq FROM slowwave.rebuild_evidence e WHERE e.run_id = :run")
_CALLS = text("SELECT count(*) FROM slowwave.llm_calls c WHERE c.run_id = :run")


@dataclass(frozen=True, slots=True)
class Line:
    """A memory that the switch would add or remove; before: the text that it replaces."""

    type: str
    content: str
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a rebuild.

    windows: the number of all windows. read: the number of windows that the extractor has read, in this
    run or an earlier one. gone:
    the number of windows whose events are deleted. failed: the number of windows without a usable answer. Windows that
    were not read keep their memories. calls: the number of calls in this run. tokens: the number of tokens of all
    reads. changed: the memories with another text. stopped: the reason why not all windows were read.
    """

    agent: str
    extractor: str
    run: int
    windows: int
    read: int
    gone: int
    failed: int
    calls: int
    tokens: int
    gained: tuple[Line, ...] = ()
    lost: tuple[Line, ...] = ()
    changed: tuple[Line, ...] = ()
    unchanged: int = 0
    reweighed: int = 0
    stopped: str | None = None
    switched: bool = False

    @property
    def summary(self) -> str:
        """The report as one sentence."""
        read = f"{self.read:,} of {pluralize(self.windows, 'window')} read by {self.extractor}"
        if self.stopped is not None:
            return f"{read}, then stopped: {self.stopped}"
        diff = f"{len(self.gained):,} gained, {len(self.lost):,} lost, {len(self.changed):,} changed"
        return f"{read}; {diff}, {self.unchanged:,} unchanged" + ("" if self.switched else "; not switched")


@dataclass(slots=True)
class Rebuilder:
    """The collaborators of a rebuild.

    extractor_of: returns the extractor whose calls a run pays for. confirm: a function that is called with the
    difference before anything changes; None: only compare.
    """

    engine: Engine
    extractor_of: Callable[[int], Extractor]
    clock: Callable[[], datetime]
    confirm: Callable[[Report], bool] | None
    counts: Counter[str] = field(default_factory=Counter)

    def rebuild(self, owner: Owner, *, only_fallback: bool, by: str) -> Report:
        """Read, compare, switch. Raises CannotSwitch; windows read so far are kept."""
        with self.engine.begin() as connection:
            scope = find_scope(connection, owner.tenant, "agent", owner.name)
            run = start_run(
                connection, kind="rebuild", now=self.clock(), lease_seconds=LEASE_SECONDS, scope_id=scope, by=by
            )
        report: Report | None = None
        try:
            with RunHeartbeat(self.engine, run, self.clock):
                report = self._rebuild(owner, run, only_fallback=only_fallback, by=by)
        finally:
            if report is None or not report.switched:
                self._end(run, report)
        return report

    def _rebuild(self, owner: Owner, run: Run, *, only_fallback: bool, by: str) -> Report:
        extractor = self.extractor_of(run.id)
        number = open_staging(self.engine, owner, extractor, only_fallback=only_fallback, by=by, now=self.clock())
        stopped = self._read(owner, number, extractor, only_fallback=only_fallback)
        author = Author(run.id, by)
        with self.engine.connect() as connection:
            staged = totals(connection, number)
            report = Report(
                agent=owner.name,
                extractor=extractor.name,
                run=run.id,
                windows=count_windows(connection, owner, only_fallback=only_fallback),
                read=staged.windows,
                gone=self.counts["gone"],
                failed=self.counts["failed"],
                calls=connection.execute(_CALLS, {"run": run.id}).scalar_one(),
                tokens=staged.tokens,
                stopped=stopped,
            )
        if not staged.windows:
            return report
        report = self._compared(report, number, author)
        if stopped is not None or self.confirm is None or not self.confirm(report):
            return report
        return self._switched(report, number, author, run)

    def _read(self, owner: Owner, number: int, extractor: Extractor, *, only_fallback: bool) -> str | None:
        """Read the remaining windows. Return the reason for an early stop, or None."""
        in_a_row = 0
        for place in places(self.engine, owner, number, only_fallback=only_fallback):
            found = read_window(self.engine, owner, place)
            if found is None:
                self.counts["gone"] += 1
                continue
            try:
                extraction = without_bare_secrets(extractor.extract(*found, self.clock()), *found)
            except TransientError as error:
                in_a_row += 1
                if not _maybe_the_window(error) or in_a_row == FAILURES_IN_A_ROW:
                    return str(error)
                self.counts["failed"] += 1
                continue
            except Exception as error:  # noqa: BLE001 - as in a flush: whatever an extractor raises is this window's
                log.warning("a window was not read: %s", type(error).__name__)
                self.counts["failed"] += 1
                continue
            made = extraction.made
            if made is not None and made.fallback == "budget":
                return f"{made.why} is reached"
            if made is not None and made.fallback == "failed":
                self.counts["failed"] += 1
                in_a_row += 1
                if in_a_row == FAILURES_IN_A_ROW:
                    return f"{pluralize(in_a_row, 'window')} in a row without a usable answer: {made.why}"
                continue
            in_a_row = 0
            keep(self.engine, number, place, extraction, extractor, self.clock())
        return None

    def _compared(self, report: Report, number: int, author: Author) -> Report:
        """Return the report with the difference that a switch would make."""
        with self.engine.connect() as connection, connection.begin() as transaction:
            done = _switch(Ledger(connection, author, self.clock()), number)
            report = _with_difference(connection, report, done)
            transaction.rollback()
        return report

    def _switched(self, report: Report, number: int, author: Author, run: Run) -> Report:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.engine.begin() as connection:
                    done = _switch(Ledger(connection, author, self.clock()), number)
                    report = replace(_with_difference(connection, report, done), switched=True)
                    self._finish(connection, run, report)
            except DBAPIError as error:
                if not isinstance(error.orig, DeadlockDetected) or attempt == ATTEMPTS:
                    raise
            else:
                return report
        raise AssertionError("unreachable: the last attempt answers or raises")

    def _end(self, run: Run, report: Report | None) -> None:
        with self.engine.begin() as connection:
            self._finish(connection, run, report)

    def _finish(self, connection: Connection, run: Run, report: Report | None) -> None:
        now = self.clock()
        if report is None:
            summary = "the rebuild failed; what was read is kept"
            finish_run(connection, run, status="failed", summary=summary, stats={}, now=now)
            return
        names = ("windows", "read", "gone", "failed", "calls", "tokens", "unchanged", "reweighed")
        stats = {name: getattr(report, name) for name in names}
        stats |= {name: len(getattr(report, name)) for name in ("gained", "lost", "changed")}
        status: RunEnd = "completed" if report.switched else "stopped"
        finish_run(connection, run, status=status, summary=report.summary, stats=stats, now=now)


def _maybe_the_window(error: TransientError) -> bool:
    """Return True if a model gave no answer: perhaps it can't read this window, and the rebuild goes on."""
    return isinstance(error, Unanswered) and error.tokens is None


def _switch(ledger: Ledger, number: int) -> Switched:
    try:
        return switch(ledger, number)
    except IntegrityError:
        raise CannotSwitch("something of these conversations was forgotten meanwhile: ask again") from None


def _with_difference(connection: Connection, report: Report, done: Switched) -> Report:
    events: dict[UUID, set[tuple[int, int]]] = defaultdict(set)
    for row in connection.execute(_EVENTS, {"run": report.run}):
        events[row.memory_id].add((row.session_id, row.seq))
    gone = {memory: frozenset(events[memory]) for memory in done.archived}
    come = {memory: frozenset(events[memory]) for memory in done.created}
    said = {
        line.memory: line
        for line in changes_of_run(connection, report.run)
        if line.memory is not None and line.action in {"created", "archived"}
    }
    otherwise = pairs(gone, come)
    types = _types(connection, said)

    def line(memory: UUID, before: UUID | None = None) -> Line:
        was = None if before is None else said[before].content
        return Line(types[memory], said[memory].content or "", was)

    return replace(
        report,
        gained=tuple(line(memory) for memory in sorted(done.created - set(otherwise.values()))),
        lost=tuple(line(memory) for memory in sorted(done.archived - set(otherwise))),
        changed=tuple(line(new, old) for old, new in sorted(otherwise.items())),
        unchanged=done.unchanged,
        reweighed=done.reweighed,
    )


def _types(connection: Connection, memories: Iterable[UUID]) -> dict[UUID, str]:
    rows = connection.execute(
        text("SELECT m.id, m.type FROM slowwave.memories m WHERE m.id = ANY(:ids)"), {"ids": list(memories)}
    )
    return {row.id: row.type for row in rows}
