"""The maintenance job `retention` removes old events, old model calls, old rows of the audit log, answered requests,
kept answers of models, webhook deliveries and tombstones of memories; it ends open work without recent mentions, and
maintains the partitions of events.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from slowwave.settings_sections import Retention
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.access.audit_log import remove_old_acts
from slowwave_server.services.changes.feed import remove_old_tombstones
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, JobRunner
from slowwave_server.services.requests.store import remove_old_requests
from slowwave_server.services.retention.calls import CallRemoval, remove_old_answers, remove_old_calls
from slowwave_server.services.retention.events import Removal, remove_old_events
from slowwave_server.services.retention.partitions import PartitionCounts, keep_partitions
from slowwave_server.services.retention.work import expire_work
from slowwave_server.services.webhooks.outbox import remove_old_deliveries


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
