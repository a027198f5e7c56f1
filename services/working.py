"""A cycle over the working memory of one scope: gather what is due, drop what is known, keep and link the rest, settle.

All that a cycle writes is one transaction: it is done, with its statistics, or it never was.

Must not know: Celery, when a cycle is due, how notes are compared.
"""

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from domain.spoken_time import count_words
from services.memory_changes import Author
from services.runs import Run, finish_run, start_run
from services.signals import consolidation_completed, consolidation_failed, consolidation_started
from services.working_cycle import Cycle, Outcome
from services.working_store import due_notes, end_dead_runs, expired_notes, lock_cycle, settle
from slowwave.settings import Consolidation

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
LOCK_WAIT_SECONDS = 5.0
"""A cycle takes less than a second: one that was asked for while another runs waits for it, and misses nothing."""


@dataclass(frozen=True, slots=True)
class CycleReport:
    """What a cycle came to: gathered = persisted + duplicates + failed.

    state: completed; nothing (no note was due, so there is no run); busy (another cycle of this scope went on).
    more: a cap ended it, and more is due.
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
        """The statistics in a sentence."""
        if self.state != "completed":
            return {"nothing": "no note is due", "busy": "another cycle of this scope is under way"}[self.state]
        expired = f"; {self.expired} expired" if self.expired else ""
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{count_words(self.gathered, 'note')}: {self.persisted} kept, {self.duplicates} known already{failed}"
            f"{expired}; {count_words(self.links, 'link')}, {count_words(self.triples, 'triple')}"
        )

    def stats(self) -> dict[str, int | bool]:
        """The numbers, for the run."""
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
    """Run one cycle. dry_run: do all of it, and take it back before anybody sees it.

    Raises what Postgres raises for reasons of its own; then the run is failed, and nothing else was written.
    """
    # One transaction, also where the engine commits each statement for others.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    begun: list[Run] = []
    try:
        with engine.connect() as connection, connection.begin() as whole:
            report = _locked_cycle(
                engine, connection, scope_id, settings, clock, by, begun, dry_run=dry_run, wait=lock_wait_seconds
            )
            if dry_run:
                whole.rollback()
    except Exception as error:
        if not dry_run:
            _fail(engine, scope_id, begun, error, clock())
        raise
    if report.state == "completed" and not dry_run:
        numbers = {name: getattr(report, name) for name in ("duration_ms", "persisted", "links", "triples")}
        consolidation_completed.send("working", run=report.run, scope=scope_id, **numbers)
    return replace(report, run=None) if dry_run else report


def _locked_cycle(
    engine: Engine,
    connection: Connection,
    scope_id: int,
    settings: Consolidation,
    clock: Callable[[], datetime],
    by: str | None,
    begun: list[Run],
    *,
    dry_run: bool,
    wait: float,
) -> CycleReport:
    if not lock_cycle(connection, scope_id, wait_seconds=wait):
        return CycleReport("busy")
    now = clock()
    end_dead_runs(connection, scope_id, now)
    limit = settings.batch_size
    notes = due_notes(connection, scope_id, min_importance=settings.min_importance, limit=limit + 1, now=now)
    expired = expired_notes(connection, scope_id, now)
    if not notes and not expired:
        return CycleReport("nothing")
    with ExitStack() as stack:
        # Seen by others at once, and there still if the cycle is not: so it has a transaction of its own.
        starter = connection if dry_run else stack.enter_context(engine.begin())
        run = start_run(starter, kind="working", now=now, lease_seconds=LEASE_SECONDS, scope_id=scope_id, by=by)
    begun.append(run)
    if not dry_run:
        consolidation_started.send("working", run=run.id, scope=scope_id)
    cycle = Cycle(connection, scope_id, settings, Author(run.id, by), now)
    cycle.work(notes[:limit])
    settle(connection, scope_id, expired, "expired", run_id=run.id, now=now)
    took = round((clock() - now).total_seconds() * 1000)
    report = _report(cycle, run=run.id, expired=len(expired), more=len(notes) > limit, duration_ms=took)
    if not finish_run(connection, run, status="completed", summary=report.summary, stats=report.stats(), now=clock()):
        raise CycleLost(f"run {run.id} was ended by somebody else; all that it did is taken back")
    return report


class CycleLost(Exception):
    """The run was taken for dead while it went on."""


def _fail(engine: Engine, scope_id: int, begun: list[Run], error: Exception, now: datetime) -> None:
    sentence = f"{type(error).__name__}: {error}"
    try:
        with engine.begin() as connection:
            for run in begun:
                finish_run(connection, run, status="failed", summary="taken back", stats={}, now=now, error=sentence)
    except DBAPIError:
        # The next cycle ends it, when Postgres is back.
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
