"""Queue `maintenance`: requests that wait for a worker, and the sweep that enqueues them again after a lost message.

A message contains only the id of a row of slowwave.requests: tenant and arguments come from the row.
"""

import logging
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from slowwave.coordination.request_queue import REQUEST_QUEUE, wake_request
from slowwave.messages import ANSWER_REQUEST
from slowwave_server.services.requests.store import answer_request, overdue_requests
from slowwave_server.services.requests.work import RequestWork
from slowwave_server.tasks.base import SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)

REQUEST_SECONDS = 3600
"""A forget of an agent with years of conversations takes minutes; a longer one indicates an error."""
MOST_OFFERED = 100


class AnswerRequest(BaseModel):
    """The argument of `slowwave.answer_request`: the id of a row of slowwave.requests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    request: UUID


@slowwave_task(ANSWER_REQUEST, most_seconds=REQUEST_SECONDS)
def answer(self: SlowwaveTask, *args: Any, **kwargs: Any) -> str | None:
    """Execute one request and record its result. A redelivery changes nothing."""
    asked = self.parse(AnswerRequest, args, kwargs)
    if asked is None:
        return None
    runtime = self.runtime
    work = RequestWork(runtime.engine, runtime.redis, runtime.settings, runtime.clock)
    state = answer_request(runtime.engine, asked.request, work, runtime.clock)
    if state is not None:
        log.info("request %s: %s", asked.request, state)
    return state


@slowwave_task("slowwave.sweep_requests", every=15)
def sweep_requests(self: SlowwaveTask) -> None:
    """Enqueue requests again after the loss of their message or worker."""
    runtime = self.runtime
    room = min(MOST_OFFERED, runtime.room_in(REQUEST_QUEUE))
    if room <= 0:
        return
    with runtime.engine.connect() as connection:
        requests = overdue_requests(connection, runtime.clock(), limit=room)
    for request in requests:
        wake_request(runtime.redis, request)
    if requests:
        log.info("requests: %d were offered again", len(requests))
