"""The decorator and the base class of every task. The class provides the collaborators, and stores an invalid payload
as a dead letter.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, Protocol, TypeVar

from celery import Celery, Task, shared_task
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
from slowwave_server.services.task_payloads import PAYLOADS
from slowwave_server.tasks import DECLARED, DeclaredTask, Period

log = logging.getLogger(__name__)

Payload = TypeVar("Payload", bound=BaseModel)

MAX_ASKED = 1000
"""With this many messages in a queue, ticks add none: due work waits in Postgres, or in the files."""

REST_SECONDS = 1.0
"""While Postgres is unavailable, a payload that cannot be stored as a dead letter is redelivered at most this often."""


@dataclass(frozen=True)
class Runtime:
    """The collaborators of this process, built once after the fork."""

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
        """Return the model of these settings, within its budgets; None if the settings name no model. Raises
        InvalidSettings.
        """
        return build_model(settings, self.engine, self.redis, self.clock)

    @cached_property
    def model(self) -> AskModel | None:
        """The model of this process's settings; None without a model, or if it is not configured correctly."""
        try:
            return self.build_model(self.settings)
        except InvalidSettings as error:
            log.warning("no model is used: %s", error)
            return None

    def room_in(self, queue: str) -> int:
        """Return how many messages a tick may add to a queue; 0 or less means none."""
        return MAX_ASKED - self.queue.depths()[queue]


class RuntimeSource(Protocol):
    """A Celery app with a runtime; `workers.app` makes it."""

    def runtime(self) -> Runtime: ...


class SlowwaveTask(Task[..., Any]):
    """A task whose outcome is in Postgres: Celery keeps no result, and never retries a failure."""

    abstract = True
    ignore_result = True

    @property
    def runtime(self) -> Runtime:
        """The collaborators, from the app of this task."""
        app: Celery = self.app
        source: RuntimeSource = app.slowwave  # type: ignore[attr-defined]
        return source.runtime()

    def before_start(self, *_: Any) -> None:
        """Clear the log context of the previous task of this thread."""
        clear()

    def came_from(self, queue: str) -> bool:
        """Return True if a worker received this message from this queue; a direct call has no queue."""
        return (self.request.delivery_info or {}).get("routing_key") == queue

    def was_forgotten(self) -> bool:
        """Return True if a forget removed this message, because of its content, after a worker had taken it from the
        queue.

        If the broker gives no answer, the result is False: the fence in Postgres stops messages older than the forget
        (I10).
        """
        try:
            return was_forgotten(self.runtime.redis, self.request.id or "")
        except RedisError:
            return False

    def parse(self, model: type[Payload], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Payload | None:
        """Return the payload as its model. Return None if it is invalid; it is then stored as a dead letter with its
        error.

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
        """Add the agent and the session to later log lines and to the task's span."""
        tenant = getattr(payload, "tenant", None) or self.runtime.settings.tenant
        agent, session = getattr(payload, "agent", None), getattr(payload, "session", None)
        bind(tenant=tenant, agent=agent, session=session)
        name_session(tenant, agent, session)

    def store_dead_letter(self, payload: Mapping[str, Any], error: str, *, task: str | None = None) -> None:
        """Store a payload in `dead_letters`. While Postgres is unavailable the message returns to its queue instead.

        task: the task of the payload; this task by default.
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
        # The dead letter stores the error; the error may quote a value, which logs must not contain.
        log.warning("%s: dead letter %s, see `slowwave queue list`", task or self.name, letter)


def slowwave_task(
    name: str,
    *,
    queue: str = "maintenance",
    every: Period | None = None,
    at_start: bool = False,
    most_seconds: int | None = None,
) -> Callable[[Callable[..., Any]], SlowwaveTask]:
    """Declare a task. The function of a task in `PAYLOADS` receives the payload instead of the message's arguments.

    every, at_start: see `DeclaredTask`. most_seconds: a longer run is stopped, first by an error that counts as its
    failure, a minute later by a kill; None: the limit of all tasks.
    """
    DECLARED[name] = DeclaredTask(name, queue, every, at_start)
    limits: dict[str, Any] = (
        {} if most_seconds is None else {"soft_time_limit": most_seconds, "time_limit": most_seconds + 60}
    )
    payload = PAYLOADS.get(name)
    register: Callable[[Callable[..., Any]], SlowwaveTask] = shared_task(
        name=name, base=SlowwaveTask, bind=True, **limits
    )
    return register if payload is None else lambda work: register(_with_payload(work, payload))


def _with_payload(work: Callable[..., Any], model: type[BaseModel]) -> Callable[..., Any]:
    @wraps(work)
    def run(self: SlowwaveTask, *args: Any, **kwargs: Any) -> Any:
        payload = self.parse(model, args, kwargs)
        return None if payload is None else work(self, payload)

    return run
