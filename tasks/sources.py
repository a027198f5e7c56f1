"""Queue `capture`: reads sessions that another program keeps, if a hook named a run; a tick sends the messages.

A lost or duplicate message changes nothing: Postgres stores which runs are due, and each recorded event has a key.
"""

import logging
import random
from typing import Any

from celery import shared_task

from slowwave.coordination.keys import CAPTURE_QUEUE
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.external_runs import READ_SESSION, READ_SESSIONS, ReadSession
from slowwave.identity import SessionRef
from slowwave_server.services.sources.reading import SessionReader
from slowwave_server.services.sources.store import take_due
from slowwave_server.tasks.base import SlowwaveTask

log = logging.getLogger(__name__)


@shared_task(name=READ_SESSIONS, base=SlowwaveTask, bind=True)
def read_sessions(self: SlowwaveTask) -> None:
    """Send one message for each session with a due run, so that sessions spread over the workers."""
    runtime = self.runtime
    room = runtime.room_in(CAPTURE_QUEUE)
    if runtime.source is None or room <= 0:
        return
    for ref in take_due(runtime.engine, limit=room, now=runtime.clock()):
        names = [ref.agent, ref.session, ref.tenant]
        publish(runtime.redis, CAPTURE_QUEUE, envelope(READ_SESSION, names, {}, CAPTURE_QUEUE, task_id=new_id()))


@shared_task(name=READ_SESSION, base=SlowwaveTask, bind=True)
def read_session(self: SlowwaveTask, *args: Any, **kwargs: Any) -> None:
    """Record the new events in the runs of a session that hooks named."""
    asked = self.parse(ReadSession, args, kwargs)
    if asked is None:
        return
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
