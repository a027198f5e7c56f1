"""The base of every task: where its collaborators come from, and what becomes of a payload that can't be taken.

Must not know: how the runtime is built; a single task's work.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol, TypeVar

from celery import Celery, Task
from celery.exceptions import Reject
from pydantic import BaseModel, ValidationError
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.errors import InvalidSettings, SlowwaveError
from slowwave.settings import Settings
from slowwave.tracing import name_session
from slowwave.validation_errors import plain_problems
from slowwave_server.domain.model_calls import AskModel
from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.services.flush.batch import FlushBatch
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.forget.broker import was_forgotten
from slowwave_server.services.llm.build import build_model
from slowwave_server.services.log_context import bind, clear
from slowwave_server.services.maintenance.due_check import DueCheck
from slowwave_server.services.maintenance.scheduler import JobRunner
from slowwave_server.services.sources.protocol import SessionSource

log = logging.getLogger(__name__)

Payload = TypeVar("Payload", bound=BaseModel)

MAX_ASKED = 1000
"""With so many messages in a queue ticks add none: what is due waits in Postgres, or in the files."""

REST_SECONDS = 1.0
"""While Postgres is away, a payload that can't be buried goes round no faster than this."""


@dataclass(frozen=True)
class Runtime:
    """The collaborators of this process: made after the fork, once."""

    settings: Settings
    engine: Engine
    redis: Redis
    queue: FlushQueue
    flusher: Flusher
    batch: FlushBatch
    memory: Memory
    clock: Callable[[], datetime]
    runners: Mapping[str, JobRunner]
    due_check: DueCheck
    source: SessionSource | None = None

    def build_model(self, settings: Settings) -> AskModel | None:
        """The model of some settings, within its budgets; None without one. Raises InvalidSettings."""
        return build_model(settings, self.engine, self.redis, self.clock)

    @cached_property
    def model(self) -> AskModel | None:
        """The model of this process's settings; None without one, or where it isn't set up."""
        try:
            return self.build_model(self.settings)
        except InvalidSettings as error:
            log.warning("no model is used: %s", error)
            return None

    def room_in(self, queue: str) -> int:
        """How many messages may be added to a queue by those that ask for what is due; 0 or less: none."""
        return MAX_ASKED - self.queue.depths()[queue]


class RuntimeSource(Protocol):
    """A Celery app that knows its runtime; `workers.app` makes it."""

    def runtime(self) -> Runtime: ...


class SlowwaveTask(Task[..., Any]):
    """A task whose outcome lives in Postgres: it keeps no result, and no failure of it is tried again by Celery."""

    abstract = True
    ignore_result = True

    @property
    def runtime(self) -> Runtime:
        """The collaborators, from the app that this task is bound to."""
        app: Celery = self.app
        source: RuntimeSource = app.slowwave  # type: ignore[attr-defined]
        return source.runtime()

    def before_start(self, *_: Any) -> None:
        """Whose work the last task of this thread did is not whose this one does."""
        clear()

    def came_from(self, queue: str) -> bool:
        """Whether a worker received this message from that queue; called in a process by itself it came from none."""
        return (self.request.delivery_info or {}).get("routing_key") == queue

    def was_forgotten(self) -> bool:
        """Whether this message was taken out of its queue because of what it carries, after a worker had taken it.

        Without an answer it counts as not: the fence in Postgres stops what was taken before it went up (I10).
        """
        try:
            return was_forgotten(self.runtime.redis, self.request.id or "")
        except RedisError:
            return False

    def parse(self, model: type[Payload], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Payload | None:
        """The payload as its model, or None: then it lies in `dead_letters` with its error and is not tried again.

        Positional arguments take the names of the model's fields in their order.
        """
        names = list(model.model_fields)
        raw: dict[str, Any] = dict(zip(names, args, strict=False)) | dict(kwargs)
        if len(args) > len(names):
            self.store_dead_letter(
                raw | {"args": list(args)}, f"{len(args)} arguments, at most {len(names)} are known: {names}"
            )
            return None
        try:
            payload = model.model_validate(raw)
        except ValidationError as error:
            problems = "; ".join(f"{place or 'payload'}: {told}" for place, told in plain_problems(model, error))
            self.store_dead_letter(raw, problems)
        except SlowwaveError as error:
            self.store_dead_letter(raw, str(error))
        else:
            self._say_whose(payload)
            return payload
        return None

    def _say_whose(self, payload: BaseModel) -> None:
        """From here on logs and the task's span name the agent and the session."""
        tenant = getattr(payload, "tenant", None) or self.runtime.settings.tenant
        agent, session = getattr(payload, "agent", None), getattr(payload, "session", None)
        bind(tenant=tenant, agent=agent, session=session)
        name_session(tenant, agent, session)

    def store_dead_letter(self, payload: Mapping[str, Any], error: str, *, task: str | None = None) -> None:
        """Put a payload into `dead_letters`. While Postgres is away the message goes back to its queue instead.

        task: whose payload it is; this task's own unless given.
        """
        runtime = self.runtime
        if self.was_forgotten():
            return
        tenant = payload.get("tenant")
        try:
            with runtime.engine.connect() as connection:
                letter = store_dead_letter(
                    connection,
                    task=task or self.name,
                    tenant=tenant if isinstance(tenant, str) else runtime.settings.tenant,
                    payload=payload,
                    error=error,
                    now=runtime.clock(),
                )
        except OperationalError as outage:
            runtime.flusher.pause(REST_SECONDS)
            raise Reject(f"no dead letter could be written: {outage}", requeue=True) from outage
        # The error stands in the letter; it may quote a value, which is no business of a log.
        log.warning("%s: dead letter %s, see `slowwave queue list`", task or self.name, letter)
