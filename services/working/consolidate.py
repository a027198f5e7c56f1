"""A cycle over the working memory of one scope: collect due notes, drop known ones, store and link the rest, settle.

A cycle writes everything in one transaction, including its statistics.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from slowwave.settings import Consolidation
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.domain.working import Note
from slowwave_server.services.memories.changes import Author
from slowwave_server.services.runs.signals import consolidation_completed, consolidation_failed, consolidation_started
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, finish_run, start_run
from slowwave_server.services.working.cycle import Cycle, Outcome
from slowwave_server.services.working.store import (
    MAX_EXPIRED,
    cycle_lock,
    due_notes,
    end_dead_runs,
    expired_notes,
    reopen_failed,
    settle,
)

log = logging.getLogger(__name__)

LOCK_WAIT_SECONDS = 5.0
"""How long a requested cycle waits for a running one. A cycle takes less than a second."""


@dataclass(frozen=True, slots=True)
class CycleReport:
    """The result of a cycle: gathered = persisted + duplicates + failed.

    state: completed; nothing (no note was due, so no run exists); busy (another cycle of this scope is running). more:
    True if a cap ended it and more notes are due.
    """

    state: Literal["completed", "nothing", "busy"]
    run: int | None = None
    gathered: int = 0
    persisted: int = 0
    duplicates: int = 0
    failed: int = 0
    expired: int = 0
    links: int = 0
    triples: int = 0
    duration_ms: int = 0
    more: bool = False
    outcomes: tuple[Outcome, ...] = ()

    @property
    def summary(self) -> str:
        """The statistics as a sentence."""
        if self.state != "completed":
            return {"nothing": "no note is due", "busy": "another cycle of this scope is under way"}[self.state]
        expired = f"; {self.expired} expired" if self.expired else ""
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{pluralize(self.gathered, 'note')}: {self.persisted} kept, {self.duplicates} known already{failed}"
            f"{expired}; {pluralize(self.links, 'link')}, {pluralize(self.triples, 'triple')}"
        )

    def stats(self) -> dict[str, int | bool]:
        """Return the numbers for the run."""
        kept = asdict(replace(self, outcomes=()))
        return {name: value for name, value in kept.items() if name not in {"state", "run", "outcomes"}}


def consolidate_working(
    engine: Engine,
    scope_id: int,
    *,
    settings: Consolidation,
    clock: Callable[[], datetime],
    by: str | None = None,
    dry_run: bool = False,
    lock_wait_seconds: float = LOCK_WAIT_SECONDS,
) -> CycleReport:
    """Run one cycle. dry_run: True to run the whole cycle and roll it back.

    Raises errors of Postgres; the run has then failed, and nothing else was written.
    """
    # One transaction, even if the engine is in autocommit.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    ask = _Ask(scope_id, settings, clock, by)
    begun: list[Run] = []
    try:
        with engine.connect() as connection, cycle_lock(connection, scope_id, wait_seconds=lock_wait_seconds) as ours:
            if not ours:
                return CycleReport("busy")
            report = _rehearse(connection, ask) if dry_run else _perform(connection, ask, begun)
    except Exception as error:
        if not dry_run:
            _fail(engine, scope_id, begun, error, clock())
        raise
    if report.run is not None:
        numbers = {name: getattr(report, name) for name in ("duration_ms", "persisted", "links", "triples")}
        consolidation_completed.send("working", run=report.run, scope=scope_id, **numbers)
    return report


@dataclass(frozen=True, slots=True)
class _Ask:
    scope_id: int
    settings: Consolidation
    clock: Callable[[], datetime]
    by: str | None


@dataclass(frozen=True, slots=True)
class _Due:
    """The notes of a cycle. more: True if the cap excluded some."""

    notes: list[Note]
    expired: list[UUID]
    more: bool


def _perform(connection: Connection, ask: _Ask, begun: list[Run]) -> CycleReport:
    """Start the run in a separate transaction, so that it is visible and stays if the cycle fails; then do the work."""
    with connection.begin():
        end_dead_runs(connection, ask.scope_id, ask.clock())
        due = _gather(connection, ask)
        if due is None:
            return CycleReport("nothing")
        run = _start(connection, ask)
    begun.append(run)
    consolidation_started.send("working", run=run.id, scope=ask.scope_id)
    with connection.begin():
        return _settle_all(connection, ask, run, due)


def _rehearse(connection: Connection, ask: _Ask) -> CycleReport:
    """Run the same cycle in one transaction that is rolled back."""
    with connection.begin() as whole:
        due = _gather(connection, ask)
        report = CycleReport("nothing")
        if due is not None:
            report = replace(_settle_all(connection, ask, _start(connection, ask, dry_run=True), due), run=None)
        whole.rollback()
    return report


def _gather(connection: Connection, ask: _Ask) -> _Due | None:
    now, limit = ask.clock(), ask.settings.batch_size
    reopen_failed(connection, ask.scope_id, now)
    notes = due_notes(connection, ask.scope_id, min_importance=ask.settings.min_importance, limit=limit + 1, now=now)
    expired = expired_notes(connection, ask.scope_id, now)
    if not notes and not expired:
        return None
    return _Due(notes[:limit], expired, more=len(notes) > limit or len(expired) == MAX_EXPIRED)


def _start(connection: Connection, ask: _Ask, *, dry_run: bool = False) -> Run:
    return start_run(
        connection,
        kind="working",
        now=ask.clock(),
        lease_seconds=LEASE_SECONDS,
        scope_id=ask.scope_id,
        by=ask.by,
        dry_run=dry_run,
    )


def _settle_all(connection: Connection, ask: _Ask, run: Run, due: _Due) -> CycleReport:
    now = ask.clock()
    cycle = Cycle(connection, ask.scope_id, ask.settings, Author(run.id, ask.by), now)
    cycle.work(due.notes)
    settle(connection, ask.scope_id, due.expired, "expired", run_id=run.id, now=now)
    took = round((ask.clock() - now).total_seconds() * 1000)
    report = _report(cycle, run=run.id, expired=len(due.expired), more=due.more, duration_ms=took)
    stats, end = report.stats(), ask.clock()
    if not finish_run(connection, run, status="completed", summary=report.summary, stats=stats, now=end):
        raise CycleLost(f"run {run.id} was ended by somebody else; all that it did is taken back")
    return report


class CycleLost(Exception):
    """The run was marked as dead while it was still working."""


def _fail(engine: Engine, scope_id: int, begun: list[Run], error: Exception, now: datetime) -> None:
    sentence = f"{type(error).__name__}: {error}"
    try:
        with engine.begin() as connection:
            for run in begun:
                finish_run(connection, run, status="failed", summary="taken back", stats={}, now=now, error=sentence)
    except DBAPIError:
        # The next cycle ends it, when Postgres is available.
        log.warning("the end of a failed cycle could not be noted")
    consolidation_failed.send("working", run=begun[0].id if begun else None, scope=scope_id, error=sentence)


def _report(cycle: Cycle, *, run: int, expired: int, more: bool, duration_ms: int) -> CycleReport:
    ends = Counter(one.outcome for one in cycle.outcomes)
    return CycleReport(
        "completed",
        run,
        gathered=len(cycle.outcomes),
        persisted=ends["consolidated"],
        duplicates=ends["duplicate"],
        failed=ends["failed"],
        expired=expired,
        links=cycle.counts["links"],
        triples=cycle.counts["triples"],
        duration_ms=duration_ms,
        more=more,
        outcomes=tuple(cycle.outcomes),
    )
