"""The composition root: settings in, one configured Celery app out, with the runtime of each process behind it.

Must not know: what tasks do. Every setting of Celery stands here with its reason, and nowhere else.
"""

import logging
import os
import random
import threading
from datetime import UTC, datetime
from functools import cache
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_shutdown, worker_ready, worker_shutdown
from kombu import Queue
from sqlalchemy.exc import OperationalError

from beat_schedule import celery_schedule
from domain.extraction import RulesExtractor
from models.engine import make_engine
from models.schema import WrongSchema, require_current
from services.flush import Flusher
from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings, load_settings
from tasks.base import Runtime
from workers.leases import LeaseThread

log = logging.getLogger(__name__)

# Over twice the longest task: a message whose worker died comes back after this; until then the sweep has long
# offered the session again. Tests shorten it.
VISIBILITY_SECONDS = 180
# A worker that is told to stop gives its work this long before it hands the messages back.
SOFT_SHUTDOWN_SECONDS = 4.0


class SlowwaveApp(Celery):
    """A Celery app that makes the runtime of its process on first use, and anew after a fork."""

    def __init__(self, settings: Settings, **options: Any) -> None:
        super().__init__("slowwave", **options)
        self.settings = settings
        self._lock = threading.Lock()
        self._runtime: Runtime | None = None
        self._pid = 0

    @property
    def slowwave(self) -> "SlowwaveApp":
        """What tasks ask for their runtime."""
        return self

    def runtime(self) -> Runtime:
        """The collaborators of this process. Connections must not be shared with a parent, so a fork makes new ones."""
        with self._lock:
            if self._runtime is None or self._pid != os.getpid():
                self._runtime, self._pid = build_runtime(self.settings), os.getpid()
            return self._runtime

    def close_runtime(self) -> None:
        """Let go of connections; what the client's spool still holds is delivered by the next process."""
        if self._runtime is not None and self._pid == os.getpid():
            self._runtime.memory.close()
            self._runtime.engine.dispose()


def build_runtime(settings: Settings) -> Runtime:
    """Put the collaborators of one process together."""
    flushing = settings.memory.auto_flush
    engine = make_engine(settings.database_url).execution_options(isolation_level="AUTOCOMMIT")
    redis = redis_from_url(settings.broker_url)
    queue = FlushQueue(
        redis,
        ticket_seconds=flushing.ticket_seconds,
        lease_seconds=flushing.lease_seconds,
        per_agent_concurrency=flushing.per_agent_concurrency,
    )
    flusher = Flusher(
        engine=engine,
        queue=queue,
        keeper=LeaseThread(queue, lease_seconds=flushing.lease_seconds),
        extractor=RulesExtractor(),
        settings=flushing,
        clock=utc_now,
        jitter=random.random,
        pause=_pause,
    )
    return Runtime(settings, engine, redis, queue, flusher, Memory(settings), utc_now)


def utc_now() -> datetime:
    """The wall clock, aware."""
    return datetime.now(UTC)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def make_app(settings: Settings) -> SlowwaveApp:
    """A configured app for these settings."""
    # Read by billiard when the worker starts: SIGTERM becomes the soft shutdown, which waits a bounded time.
    os.environ.setdefault("REMAP_SIGTERM", "SIGQUIT")
    app = SlowwaveApp(settings, include=["tasks.capture", "tasks.flush", "tasks.maintenance"])
    app.conf.update(_configuration(settings))
    return app


@cache
def default_app() -> SlowwaveApp:
    """The app of this process, from its environment: what `celery -A workers` finds."""
    return make_app(load_settings())


def _configuration(settings: Settings) -> dict[str, Any]:
    flushing = settings.memory.auto_flush
    longest = flushing.extractor.max_extraction_seconds
    return {
        "broker_url": settings.broker_url,
        "broker_transport": "workers.transport:Transport",
        # Only these queues; a typo in a route must not make a queue that nobody reads.
        "task_queues": [Queue(name, exchange="", routing_key=name) for name in QUEUES],
        "task_default_queue": "maintenance",
        "task_default_exchange": "",
        "task_create_missing_queues": False,
        "task_routes": {
            "slowwave.record_turn": {"queue": "capture"},
            "slowwave.prompt_arrived": {"queue": "capture"},
            "slowwave.flush_session": {"queue": "flush"},
        },
        # A message is acknowledged when its work is done; a killed child gives it back; a failure is not tried again
        # by the broker, since Postgres knows what is still to do.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_acks_on_failure_or_timeout": True,
        "worker_prefetch_multiplier": 1,
        # JSON only: a pickle message is refused, not run.
        "task_serializer": "json",
        "accept_content": ["json"],
        "result_backend": None,
        "task_ignore_result": True,
        "task_time_limit": longest + 30,
        "task_soft_time_limit": longest + 15,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_pool_acquire_timeout": 5,
        "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
        "broker_transport_options": {
            "visibility_timeout": max(VISIBILITY_SECONDS, 2 * (longest + 30)),
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "unacked_mutex_expire": 30,
            "queue_order_strategy": "priority",
            "socket_timeout": 10,
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        "worker_soft_shutdown_timeout": SOFT_SHUTDOWN_SECONDS,
        # Idle children too: a message that was taken in the last moment goes back to its queue.
        "worker_enable_soft_shutdown_on_idle": True,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_send_task_events": True,
        "task_send_sent_event": True,
        "worker_hijack_root_logger": True,
        "beat_schedule": celery_schedule(settings),
        "beat_max_loop_interval": 5,
        "timezone": "UTC",
        "enable_utc": True,
    }


@worker_init.connect
@beat_init.connect
def refuse_wrong_schema(sender: Any = None, **_: Any) -> None:
    """A worker on another schema than its code would lose what it reads: it stops and says what to run."""
    app = getattr(sender, "app", None)
    if not isinstance(app, SlowwaveApp):
        return
    engine = make_engine(app.settings.database_url)
    try:
        with engine.connect() as connection:
            require_current(connection)
    except WrongSchema as error:
        raise SystemExit(f"slowwave: {error}") from None
    except OperationalError as error:
        # Postgres may come up after the workers: tasks fail until then, and the sweep repairs that.
        log.warning("Postgres is not reachable yet, the schema was not checked: %s", error.orig)
    finally:
        engine.dispose()


@worker_ready.connect
def sweep_at_start(sender: Any = None, **_: Any) -> None:
    """What became due while everything was off is offered as soon as a worker is there."""
    app = getattr(sender, "app", None)
    if isinstance(app, SlowwaveApp):
        app.send_task("slowwave.sweep_sessions", queue="maintenance", expires=60)


@worker_shutdown.connect
@worker_process_shutdown.connect
def let_go(sender: Any = None, **_: Any) -> None:
    """Close what this process opened."""
    default_app().close_runtime()
