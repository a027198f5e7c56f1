"""Queues `flush.high` and `flush`: one window of one session, then for a short time windows of waiting sessions."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.messages import FLUSH_SESSION, FlushSession
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.services.flush.sweep import request_flush
from slowwave_server.services.task_counts import note_reclaimed
from slowwave_server.tasks import days, files
from slowwave_server.tasks.base import Runtime, SlowwaveTask, slowwave_task
from slowwave_server.tasks.maintenance import tick_after_write
from slowwave_server.tasks.sweep_chain import continue_sweep

log = logging.getLogger(__name__)


@slowwave_task(FLUSH_SESSION, queue=NORMAL_QUEUE)
def flush_session(self: SlowwaveTask, asked: FlushSession) -> str | Mapping[str, int]:
    """Flush a session. A message without a ticket comes from another service and requests a flush now.

    Returns the outcome; if the batch continued with other sessions, the number of sessions by outcome.
    """
    runtime = self.runtime
    ref = SessionRef(asked.tenant or runtime.settings.tenant, asked.agent, asked.session)
    if asked.ticket is None:
        request_flush(runtime.engine, runtime.queue, [ref], by="request", priority="normal", now=runtime.clock())
        return "requested"
    return _flush_batch(runtime, ref, goes_on=self.came_from(NORMAL_QUEUE))


def _flush_batch(runtime: Runtime, ref: SessionRef, *, goes_on: bool) -> str | Mapping[str, int]:
    flushed: list[tuple[SessionRef, FlushResult]] = []
    try:
        for session, result in runtime.batch.flush(ref, goes_on=goes_on):
            flushed.append((session, result))
            log.info("flush %s/%s: %s %s", session.agent, session.session, result.outcome, result.window or "")
    finally:
        _look_after(runtime, flushed)
    if len(flushed) == 1:
        return flushed[0][1].outcome
    return dict(Counter(result.outcome for _, result in flushed))


def _look_after(runtime: Runtime, flushed: Sequence[tuple[SessionRef, FlushResult]]) -> None:
    """Request the follow-up work of flushes (days, sweeps, ticks) once for the whole batch."""
    if reclaimed := sum(result.reclaimed for _, result in flushed):
        _count_reclaimed(runtime.redis, reclaimed)
    if any(result.drained for _, result in flushed):
        continue_sweep(runtime.redis)
    days.ask_after_flushes(runtime, flushed)
    for ref, result in flushed:
        files.ask_after_flush(runtime, ref, result)
    if flushed and runtime.settings.memory.maintenance.tick_after_writes:
        tick_after_write(runtime)


def _count_reclaimed(redis: Redis, flushes: int) -> None:
    try:
        note_reclaimed(redis, flushes)
    except RedisError as error:
        log.debug("a flush that was taken over was not counted: %s", type(error).__name__)
