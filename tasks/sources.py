"""Queue `capture`: reads sessions that another program keeps, if a hook named a run; a tick sends the messages.

A lost or duplicate message changes nothing: Postgres stores which runs are due, and each recorded event has a key.
"""

import logging
import random

from slowwave.coordination.keys import CAPTURE_QUEUE
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.external_runs import READ_SESSION, ReadSession
from slowwave.identity import SessionRef
from slowwave.settings import Settings
from slowwave_server.services.sources.reading import SessionReader
from slowwave_server.services.sources.store import take_due
from slowwave_server.tasks.base import SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)


def _period(settings: Settings) -> float | None:
    memory = settings.memory
    return None if memory.source == "events" else memory.auto_flush.flush_interval_seconds


@slowwave_task("slowwave.read_sessions", every=_period)
def read_sessions(self: SlowwaveTask) -> None:
    """Send one message for each session with a due run, so that sessions spread over the workers."""
    runtime = self.runtime
    room = runtime.room_in(CAPTURE_QUEUE)
    if runtime.source is None or room <= 0:
        return
    for ref in take_due(runtime.engine, limit=room, now=runtime.clock()):
        names = [ref.agent, ref.session, ref.tenant]
        publish(runtime.redis, CAPTURE_QUEUE, envelope(READ_SESSION, names, {}, CAPTURE_QUEUE, task_id=new_id()))


@slowwave_task(READ_SESSION, queue=CAPTURE_QUEUE)
def read_session(self: SlowwaveTask, asked: ReadSession) -> None:
    """Record the new events in the runs of a session that hooks named."""
    runtime = self.runtime
    if runtime.source is None:
        log.info("%s/%s: memory.source is events here", asked.agent, asked.session)
        return
    ref = SessionRef(asked.tenant or runtime.settings.tenant, asked.agent, asked.session)
    store = runtime.memory.store
    looked = SessionReader(
        engine=runtime.engine,
        source=runtime.source,
        capture=store.capture.one,
        clock=runtime.clock,
        jitter=random.random,
        tools=runtime.settings.memory.tools,
    ).look(ref)
    if looked.due:
        store.offers.enqueue([(ref, "normal")])
    log.info(
        "read %s/%s: %d new, %d runs taken, %d wait", ref.agent, ref.session, looked.added, looked.taken, looked.waiting
    )
