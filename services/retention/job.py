"""The maintenance job `retention` removes old events, old model calls, old rows of the audit log, answered requests,
kept answers of models, webhook deliveries and tombstones of memories; it ends open work without recent mentions, and
maintains the partitions of events.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.errors import DeadlockDetected, LockNotAvailable
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from slowwave.settings_sections import Retention
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.access.audit_log import remove_old_acts
from slowwave_server.services.changes.feed import remove_old_tombstones
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, JobRunner
from slowwave_server.services.requests.store import remove_old_requests
from slowwave_server.services.retention.events import Removal, remove_old_events
from slowwave_server.services.retention.work import expire_work
from slowwave_server.services.webhooks.outbox import remove_old_deliveries

WIDTH = 1_000_000
"""The number of sessions in one partition: about ten million events, whose index fits into a small server's memory."""

_EXTEND = text("SELECT slowwave.add_event_partitions(:width)")
_EMPTY = text("SELECT slowwave.truncate_empty_partitions()")
_ANALYZE = text("SELECT slowwave.analyze_events()")
_IN_USE = (LockNotAvailable, DeadlockDetected)
"""The errors while a capture holds one partition and waits for another."""


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """Created and emptied partitions. busy: the table was in use; the next call continues."""

    made: int = 0
    emptied: int = 0
    busy: bool = False


def keep_partitions(engine: Engine, *, width: int = WIDTH) -> PartitionCounts:
    """Create partitions for future sessions, truncate partitions without remaining rows, and update the planner's
    statistics.

    If this never runs, no data is lost, because the last partition has no upper bound. A second call changes nothing
    more.
    """
    made = emptied = 0
    try:
        with engine.begin() as connection:
            made = connection.execute(_EXTEND, {"width": width}).scalar_one()
        with engine.begin() as connection:
            emptied = connection.execute(_EMPTY).scalar_one()
        with engine.begin() as connection:
            connection.execute(_ANALYZE)
    except DBAPIError as error:
        if not isinstance(error.orig, _IN_USE):
            raise
        return PartitionCounts(made, emptied, busy=True)
    return PartitionCounts(made, emptied)


CALL_DAYS = 90
"""Single calls tell what went wrong lately; longer than a run, a week's cap, or an undo needs them."""
ANSWER_HOURS = 24
"""An answer waits for its window's commit, which is a matter of seconds; later the model is asked again."""
BATCH = 5000

_TENANTS = text("SELECT DISTINCT u.tenant FROM slowwave.llm_usage u ORDER BY u.tenant")
_OLD = "c.tenant = :tenant AND c.reserved_at < :before AND c.outcome IS NOT NULL"
_COUNT = text(f"SELECT count(*) FROM slowwave.llm_calls c WHERE {_OLD}")
_REMOVE = text(
    "DELETE FROM slowwave.llm_calls WHERE id IN ("
    f"SELECT c.id FROM slowwave.llm_calls c WHERE {_OLD} ORDER BY c.reserved_at LIMIT {BATCH} FOR UPDATE SKIP LOCKED)"
)
_OLD_ANSWERS = text("DELETE FROM slowwave.window_answers w WHERE w.asked_at < :before")


@dataclass(frozen=True, slots=True)
class CallRemoval:
    """The number of calls that were, or would be, removed. done: False if the next call must continue."""

    calls: int = 0
    done: bool = True


def remove_old_calls(
    engine: Engine, *, now: datetime, dry_run: bool = False, go_on: Callable[[], bool] = lambda: True
) -> CallRemoval:
    """Remove the settled calls of all tenants that were made more than CALL_DAYS days ago.

    go_on: a function that is called before each statement; if it returns False, the removal stops.
    """
    with engine.connect() as connection:
        tenants = connection.execute(_TENANTS).scalars().all()
    total = 0
    for tenant in tenants:
        values = {"tenant": tenant, "before": now - timedelta(days=CALL_DAYS)}
        while True:
            if not go_on():
                return CallRemoval(total, done=False)
            with engine.begin() as connection:
                found = connection.execute(_COUNT if dry_run else _REMOVE, values)
                count = int(found.scalar_one()) if dry_run else found.rowcount
            total += count
            if dry_run or count < BATCH:
                break
    return CallRemoval(total)


def remove_old_answers(engine: Engine, *, now: datetime) -> int:
    """Remove answers about windows that were not committed within ANSWER_HOURS. Return their number."""
    with engine.begin() as connection:
        return connection.execute(_OLD_ANSWERS, {"before": now - timedelta(hours=ANSWER_HOURS)}).rowcount


def run_retention(context: JobContext) -> JobOutcome:
    """Remove data of all tenants as `memory.retention` says; a dry run only counts it."""
    rules, now, go_on = context.settings.memory.retention, context.clock(), context.patience()
    removal = remove_old_events(
        context.engine,
        rules.event_days,
        now=now,
        dry_run=context.dry_run,
        go_on=go_on,
    )
    calls = remove_old_calls(context.engine, now=now, dry_run=context.dry_run, go_on=go_on)
    acts = remove_old_acts(context.engine, now=now, dry_run=context.dry_run, go_on=go_on)
    tasks = expire_work(
        context.engine,
        rules.task_days,
        now=now,
        by=f"{context.job.id}, run {context.run.id}",
        dry_run=context.dry_run,
        go_on=go_on,
        part_of=context.run.id,
    )
    kept_room = PartitionCounts() if context.dry_run else keep_partitions(context.engine)
    stats = {
        "events": removal.events,
        "sessions": removal.sessions,
        "days": removal.days,
        "busy": removal.busy,
        "tasks_expired": tasks,
        "calls": calls.calls,
        "audit_rows": acts,
        "tombstones": remove_old_tombstones(context.engine, now=now, dry_run=context.dry_run, go_on=go_on),
        **_remove_passing(context, now, go_on),
        "partitions_made": kept_room.made,
        "partitions_emptied": kept_room.emptied,
    }
    summary = _summary(rules, removal, calls, tasks, acts, dry_run=context.dry_run)
    return JobOutcome(summary, stats, "completed" if removal.done and calls.done else "stopped")


def _remove_passing(context: JobContext, now: datetime, go_on: Callable[[], bool]) -> dict[str, int]:
    """Remove rows without lasting value; a dry run does not count them."""
    if context.dry_run:
        return {"answers": 0, "requests": 0, "deliveries": 0}
    return {
        "answers": remove_old_answers(context.engine, now=now),
        "requests": remove_old_requests(context.engine, now=now),
        "deliveries": remove_old_deliveries(context.engine, now=now, go_on=go_on),
    }


def _summary(
    rules: Retention,
    removal: Removal,
    calls: CallRemoval,
    tasks: int,
    acts: int,
    *,
    dry_run: bool,
) -> str:
    would = " would go" if dry_run else " removed"
    events = f"{pluralize(removal.events, 'event')} of {pluralize(removal.days, 'day')}{would}"
    parts = ["events are kept for ever (memory.retention.event_days is 0)" if rules.event_days == 0 else events]
    if removal.busy:
        parts.append(f"{pluralize(removal.busy, 'session')} in use left to the next run")
    if tasks:
        parts.append(f"{pluralize(tasks, 'open task')}{' would expire' if dry_run else ' expired'}")
    if calls.calls:
        parts.append(f"{pluralize(calls.calls, 'call')} of models{would}")
    if acts:
        parts.append(f"{pluralize(acts, 'row')} of the audit log{would}")
    if not (removal.done and calls.done):
        parts.append("out of time, the next run goes on")
    return "; ".join(parts)


RUNNERS: Mapping[str, JobRunner] = {"retention": run_retention}
"""By job type."""
