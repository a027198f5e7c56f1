"""Queue `maintenance`: the sweep, and what keeps search honest.

Must not know: which sessions are due, or why.
"""

from celery import shared_task

from services.search_statistics import refresh_grown_scopes
from services.sweep import sweep, wake_stale
from slowwave.coordination.heartbeat import note_sweep
from slowwave.messages import REFRESH_SEARCH, SWEEP_SESSIONS, WAKE_STALE
from tasks.base import SlowwaveTask
from tasks.chain import continue_sweep, is_next_link


@shared_task(name=SWEEP_SESSIONS, base=SlowwaveTask, bind=True)
def sweep_sessions(self: SlowwaveTask, chain: str | None = None) -> None:
    """Offer what is due. A cycle that a cap ended is followed by the next one as soon as its sessions are through."""
    runtime = self.runtime
    if not is_next_link(runtime.redis, chain):
        return
    report = sweep(runtime.engine, runtime.queue, runtime.settings.memory.auto_flush, runtime.clock())
    note_sweep(runtime.redis)
    if report.more:
        continue_sweep(runtime.redis)


@shared_task(name=WAKE_STALE, base=SlowwaveTask, bind=True)
def wake_stale_sessions(self: SlowwaveTask) -> None:
    """Give stale dirty sessions a last flush."""
    runtime = self.runtime
    wake_stale(runtime.engine, runtime.settings.memory.auto_flush, runtime.clock())


@shared_task(name=REFRESH_SEARCH, base=SlowwaveTask, bind=True)
def refresh_search(self: SlowwaveTask) -> None:
    """Count the common terms of scopes that have grown."""
    runtime = self.runtime
    refresh_grown_scopes(runtime.engine, runtime.clock())
