"""Run a consolidation pass over one scope, from start to report. A pass can be explained and undone."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Engine, func, select

from slowwave.settings import Consolidation
from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.consolidation.known import LIVE
from slowwave_server.domain.model_calls import Spender
from slowwave_server.domain.similarity import MeaningOf
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import Memory, MemoryConflict, ReviewItem
from slowwave_server.services.consolidation.asking import Asking, ModelUse, spender_of
from slowwave_server.services.consolidation.batches import (
    LeaseLost,
    Pass,
    PassKind,
    RunawayStopped,
    Transaction,
    next_due,
)
from slowwave_server.services.consolidation.meaning import pair_judge
from slowwave_server.services.consolidation.questions import any_unasked
from slowwave_server.services.consolidation.replays import Replays
from slowwave_server.services.consolidation.scope_lock import scope_lock
from slowwave_server.services.memories.changes import Author, changes_of_run
from slowwave_server.services.runs.heartbeat import RunHeartbeat
from slowwave_server.services.runs.signals import consolidation_completed, consolidation_failed, consolidation_started
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, RunEnd, finish_run, start_run

PassEnd = Literal["completed", "rolled_back", "stopped"]
CHANGES_SHOWN = 10_000
_ONE = {"conflicts": "conflict", "triples": "triple"}


@dataclass(frozen=True, slots=True)
class PassReport:
    """The result of a consolidation pass over one scope.

    Attributes:
        state: completed; rolled_back (search would have found less evidence, so the harmful changes were not
            committed); stopped (by the circuit breaker); busy (another pass works on this scope); nothing (no memory
            was due).
        checked: the number of memories that the pass compared.
        failed: the number of memories that raised an error; the next pass tries them again.
        more: True if a cap ended the pass before all due memories were compared.
        not_asked: the cap that prevented calls of the model, in words; "" if none did.
        replayed: the figures of the replayed questions (`Replays.figures`).
        changes: for a dry run, the changes that the pass would have made, in order.
    """

    state: "PassEnd | Literal['busy', 'nothing']"
    run: int | None = None
    checked: int = 0
    failed: int = 0
    more: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    summary: str = ""
    not_asked: str = ""
    replayed: dict[str, Any] = field(default_factory=dict)
    changes: tuple[ChangeLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """The request for a pass.

    Attributes:
        scope_id: the scope.
        kind: the kind of the pass (light or deep).
        by: the person or the job that requests the pass.
        dry_run: True to make all changes, report them, and roll them back before anybody can see them.
        allow_archive: True to switch off the circuit breaker, which stops a pass that archives unusually many memories.
        model: the model that extracts relations from new memories and, in deep passes, writes one sentence from two
            memories. A dry run never calls it.
        part_of: the run that requests this pass.
        meaning: a model of pairs that the pass uses instead of the installed one.
    """

    scope_id: int
    kind: PassKind
    by: str | None = None
    dry_run: bool = False
    allow_archive: bool = False
    model: ModelUse | None = None
    part_of: int | None = None
    meaning: MeaningOf | None = None


def consolidate(engine: Engine, order: Order, *, settings: Consolidation, clock: Callable[[], datetime]) -> PassReport:
    """Consolidate the memories of one scope that are due.

    A light pass takes the memories that no pass has checked since they were created or said again. A deep pass also
    takes all memories that are not active yet. Both take a memory only if its events are at least `min_age_days` old.
    At most one pass works on a scope at a time; a second one reports busy. If search would find less evidence after
    some changes, they are rolled back (`replays`). The report counts failures; the run stores the outcome of the pass.
    """
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    with scope_lock(engine, order.scope_id) as ours:
        if not ours:
            return PassReport("busy", summary="another pass is running on this scope")
        with engine.connect() as connection:
            due = next_due(connection, order.scope_id, order.kind, settings, clock())
            if not due and not any_unasked(connection, order.scope_id):
                return PassReport("nothing", summary=_why_nothing(connection, order, settings))
        if order.dry_run:
            return _rehearse(engine, order, settings, clock)
        # A model call may last longer than the lease of the run, so a thread renews the lease.
        work = _begin(engine, engine.begin, order, settings, clock)
        with nullcontext() if order.model is None else RunHeartbeat(engine, work.run, clock):
            if order.model is not None:
                _give_model(work, order.model, spender_of(engine, order.scope_id, order.model.run or work.run.id))
            return _perform(work, order)


def _why_nothing(connection: Connection, order: Order, settings: Consolidation) -> str:
    waiting = connection.execute(
        select(func.count()).where(
            Memory.scope_id == order.scope_id, Memory.checked_at.is_(None), Memory.status.in_(LIVE)
        )
    ).scalar_one()
    if not waiting:
        return "no memory is due"
    days = f"{settings.min_age_days:g} days old"
    return f"no memory is due; {pluralize(waiting, 'memory waits', 'memories wait')} to be {days}"


def _rehearse(engine: Engine, order: Order, settings: Consolidation, clock: Callable[[], datetime]) -> PassReport:
    """Run the same pass in one transaction, and roll this transaction back."""
    with engine.connect() as connection, connection.begin() as whole:

        @contextmanager
        def nested() -> Iterator[Connection]:
            with connection.begin_nested():
                yield connection

        report = _perform(_begin(engine, nested, order, settings, clock), order)
        if report.run is not None:
            report = replace(
                report, changes=changes_of_run(connection, report.run, scope_id=order.scope_id, limit=CHANGES_SHOWN)
            )
        whole.rollback()
    return replace(report, run=None)


def _perform(work: Pass, order: Order) -> PassReport:
    transaction, clock, run = work.transaction, work.clock, work.run
    began = clock()
    if not order.dry_run:
        consolidation_started.send(order.kind, run=run.id, scope=order.scope_id)
    state: PassEnd = "completed"
    said = ""
    try:
        work.work()
        state = "rolled_back" if work.counts["rolled_back"] else state
    except RunawayStopped as stopped:
        state, said = "stopped", str(stopped)
    except Exception as error:
        _end(transaction, order, run, "failed", _report(transaction, order, run, work, state), clock, error)
        raise
    report = _report(transaction, order, run, work, state, said)
    _end(transaction, order, run, state, report, clock, None)
    if not order.dry_run:
        _tell_completed(order, report, (clock() - began).total_seconds() * 1000)
    return report


def _begin(
    engine: Engine, transaction: Transaction, order: Order, settings: Consolidation, clock: Callable[[], datetime]
) -> Pass:
    with transaction() as connection:
        run = start_run(
            connection,
            kind=order.kind,
            now=clock(),
            lease_seconds=LEASE_SECONDS,
            scope_id=order.scope_id,
            by=order.by,
            part_of=order.part_of,
            dry_run=order.dry_run,
        )
    author = Author(run.id, order.by)
    return Pass(
        transaction,
        order.scope_id,
        order.kind,
        settings,
        author,
        run,
        clock,
        order.allow_archive,
        replays=Replays(engine, order.scope_id, settings.replay_questions, settings.max_evidence_lost),
        meaning=order.meaning or pair_judge(settings),
    )


def _give_model(work: Pass, use: ModelUse, spender: Spender) -> None:
    work.asking = Asking(use.model, spender, work.counts)
    work.synthesize = use.synthesize and work.kind == "deep"
    work.triples = use.triples and work.settings.extract_triples


def _tell_completed(order: Order, report: PassReport, milliseconds: float) -> None:
    consolidation_completed.send(
        order.kind,
        run=report.run,
        scope=order.scope_id,
        duration_ms=milliseconds,
        persisted=0,
        links=report.counts.get("linked", 0),
        triples=report.counts.get("triples", 0),
    )


def _end(
    transaction: Transaction,
    order: Order,
    run: Run,
    status: RunEnd | PassEnd,
    report: "PassReport",
    clock: Callable[[], datetime],
    error: Exception | None,
) -> None:
    """End the run, unless another worker took it over."""
    if error is not None and not order.dry_run:
        consolidation_failed.send(order.kind, run=run.id, scope=order.scope_id, error=str(error))
    if isinstance(error, LeaseLost):
        return
    with transaction() as connection:
        stats = {"checked": report.checked, "failed": report.failed, **report.counts, **report.replayed}
        finish_run(
            connection,
            run,
            status=status,
            summary=report.summary,
            stats=stats,
            now=clock(),
            error=None if error is None else f"{type(error).__name__}: {error}",
        )


def _report(
    transaction: Transaction,
    order: Order,
    run: Run,
    work: Pass,
    state: PassEnd,
    said: str = "",
) -> PassReport:
    counts = dict(work.counts)
    with transaction() as connection:
        for name, table in (("conflicts", MemoryConflict), ("asked", ReviewItem)):
            counts[name] = connection.execute(
                select(func.count()).where(table.scope_id == order.scope_id, table.run_id == run.id)
            ).scalar_one()
    counts = {name: number for name, number in sorted(counts.items()) if number}
    not_asked = work.asking.reached if work.asking is not None else ""
    summary = in_full(said or _summary(work, counts), not_asked)
    replayed = work.replays.figures()
    return PassReport(state, run.id, work.checked, work.failed, work.more, counts, summary, not_asked, replayed)


def in_words(counts: Mapping[str, int]) -> str:
    """Format the counts of a pass for a person: "2 merged, 1 conflict, 12 not asked"."""
    told = (
        pluralize(number, _ONE[name], name) if name in _ONE else f"{number} {name.replace('_', ' ')}"
        for name, number in counts.items()
    )
    return ", ".join(told)


def in_full(summary: str, *not_asked: str) -> str:
    """Add to a summary the caps that prevented calls of the model: "…; not asked: daily_token_budget is reached"."""
    caps = list(dict.fromkeys(cap for cap in not_asked if cap))
    return "; ".join([summary, *(f"not asked: {cap}" for cap in caps)])


def _summary(work: Pass, counts: dict[str, int]) -> str:
    done = in_words(counts) or "nothing to change"
    failed = f"; {work.failed} failed" if work.failed else ""
    more = "; more are due" if work.more else ""
    return f"{pluralize(work.checked, 'memory', 'memories')} looked at: {done}{failed}{more}{work.replays.words()}"
