"""Queues `flush.high` and `flush`: one window of one session.

Must not know: what a flush consists of.
"""

import logging
from typing import Any

from celery import shared_task
from redis import Redis
from redis.exceptions import RedisError

from services.sweep import request_flush
from slowwave.coordination.task_counts import note_reclaimed
from slowwave.identity import SessionRef
from slowwave.messages import FLUSH_SESSION, FlushSession
from tasks import days, files
from tasks.base import SlowwaveTask
from tasks.chain import continue_sweep
from tasks.maintenance import tick_after_write

log = logging.getLogger(__name__)


@shared_task(name=FLUSH_SESSION, base=SlowwaveTask, bind=True)
def flush_session(self: SlowwaveTask, *args: Any, **kwargs: Any) -> str | None:
    """Flush a session. A message without a ticket comes from another service: it asks for a flush, now."""
    payload = self.parse(FlushSession, args, kwargs)
    if payload is None:
        return None
    runtime = self.runtime
    ref = SessionRef(payload.tenant or runtime.settings.tenant, payload.agent, payload.session)
    if payload.ticket is None:
        request_flush(runtime.engine, runtime.queue, [ref], by="request", priority="normal", now=runtime.clock())
        return "requested"
    result = runtime.flusher.flush(ref)
    log.info("flush %s/%s: %s %s", ref.agent, ref.session, result.outcome, result.window or "")
    if result.reclaimed:
        _count_reclaimed(runtime.redis)
    if result.drained:
        continue_sweep(runtime.redis)
    days.ask_after_flush(runtime, ref, result)
    files.ask_after_flush(runtime, ref, result)
    if runtime.settings.memory.maintenance.tick_after_writes:
        tick_after_write(runtime)
    return result.outcome


def _count_reclaimed(redis: Redis) -> None:
    try:
        note_reclaimed(redis)
    except RedisError as error:
        log.debug("a flush that was taken over was not counted: %s", type(error).__name__)
