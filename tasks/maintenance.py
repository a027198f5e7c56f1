"""Queue `maintenance`: the sweep, the refresh of search statistics, and the scheduler of maintenance jobs."""

import logging

from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError

from slowwave.coordination.keys import HIGH_QUEUE
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import MAINTENANCE_TICK, RUN_MAINTENANCE, SWEEP_SESSIONS
from slowwave_server.services.flush.sweep import sweep, wake_stale
from slowwave_server.services.maintenance.heartbeat import note_sweep
from slowwave_server.services.maintenance.scheduler import Scheduler
from slowwave_server.services.retention.sessions import bound_sessions
from slowwave_server.services.samples import take_samples
from slowwave_server.services.search.passages import cut_whole_events
from slowwave_server.services.search.statistics import refresh_grown_scopes
from slowwave_server.services.task_payloads import RunMaintenance
from slowwave_server.tasks.base import Runtime, SlowwaveTask, slowwave_task
from slowwave_server.tasks.sweep_chain import continue_sweep, is_next_link

log = logging.getLogger(__name__)

QUEUE = "maintenance"


# First priority: the sweep finds quiet sessions and repairs. Behind a backlog of days it would expire.
@slowwave_task(
    SWEEP_SESSIONS,
    queue=HIGH_QUEUE,
    every=lambda settings: settings.memory.auto_flush.flush_interval_seconds,
    at_start=True,
)
def sweep_sessions(self: SlowwaveTask, chain: str | None = None) -> None:
    """Enqueue due sessions. If a cap ends the cycle, the next one follows as soon as its sessions are done."""
    runtime = self.runtime
    if not is_next_link(runtime.redis, chain):
        return
    report = sweep(runtime.engine, runtime.queue, runtime.settings.memory.auto_flush, runtime.clock())
    note_sweep(runtime.redis)
    if report.more:
        continue_sweep(runtime.redis)


@slowwave_task("slowwave.wake_stale", every=600)
def wake_stale_sessions(self: SlowwaveTask) -> None:
    """Give stale dirty sessions a last flush, and enforce the limits of abandoned sessions."""
    runtime = self.runtime
    wake_stale(runtime.engine, runtime.settings.memory.auto_flush, runtime.clock())
    bounds = bound_sessions(runtime.engine, runtime.settings.memory.sessions, runtime.clock())
    if bounds.closed or bounds.asked:
        log.info("sessions: %d not seen for long, %d beyond their agent's most", bounds.closed, bounds.asked)


@slowwave_task("slowwave.refresh_search", every=60)
def refresh_search(self: SlowwaveTask) -> None:
    """Recount the common words of scopes that grew or became quiet, and split events that an older version indexed as
    a whole into passages.

    A scope grew if it has at least 200 events and was never counted, or if it got a tenth and 100 more events since the
    last count. A scope of at most 20,000 documents became quiet if its last flush was at least five minutes and less
    than an hour ago and the last count does not include all its events.
    """
    runtime = self.runtime
    refresh_grown_scopes(runtime.engine, runtime.clock())
    cut_whole_events(runtime.engine)


@slowwave_task("slowwave.take_samples", every=60)
def take_status_samples(self: SlowwaveTask) -> None:
    """Store samples of each tenant for the console's charts: one row per minute, later one row per hour."""
    take_samples(self.runtime.engine, self.runtime.clock())


@slowwave_task(MAINTENANCE_TICK, every=lambda settings: settings.memory.maintenance.tick_seconds, at_start=True)
def maintenance_tick(self: SlowwaveTask) -> None:
    """Send one message for each due maintenance job, so that jobs spread over the workers."""
    runtime = self.runtime
    for job in _scheduler(runtime, "tick").find_due().jobs:
        publish(runtime.redis, QUEUE, envelope(RUN_MAINTENANCE, [job], {}, QUEUE, task_id=new_id()))


@slowwave_task(RUN_MAINTENANCE, most_seconds=3600)
def run_maintenance(self: SlowwaveTask, asked: RunMaintenance) -> str | None:
    """Run a job if it is due and no other process runs it, so that a redelivery changes nothing."""
    scheduler = _scheduler(self.runtime, self.request.hostname or "worker")
    report = scheduler.run_if_due(asked.job)
    if report is None:
        if not scheduler.knows(asked.job):
            self.store_dead_letter(asked.model_dump(mode="json"), f"there is no job {asked.job!r}")
        return None
    level = logging.WARNING if report.status in {"failed", "lost"} else logging.INFO
    log.log(level, "maintenance job %s, run %s: %s: %s", report.job, report.run, report.status, report.summary)
    return report.status


def tick_after_write(runtime: Runtime) -> None:
    """Request a tick if a job is due; a failure here does not fail the write, and beat's tick comes anyway."""
    try:
        if runtime.due_check.is_due(runtime.clock()):
            publish(runtime.redis, QUEUE, envelope(MAINTENANCE_TICK, [], {}, QUEUE, task_id=new_id()))
    except (DBAPIError, RedisError) as error:
        log.warning("no tick was asked for after a write: %s", type(error).__name__)


def _scheduler(runtime: Runtime, by: str) -> Scheduler:
    return Scheduler(
        runtime.engine,
        runtime.runners,
        runtime.settings,
        clock=runtime.clock,
        by=by,
        build_model=runtime.build_model,
    )
