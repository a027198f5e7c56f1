"""The composition root: makes a Celery app from settings; the app makes the runtime of each process."""

import logging
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from billiard.common import REMAP_SIGTERM
from celery import Celery, current_app
from celery.concurrency.prefork import TaskPool as PreforkPool
from celery.signals import beat_init, worker_init, worker_process_shutdown, worker_ready, worker_shutdown
from sqlalchemy.exc import OperationalError

from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.queue_messages import shown_names
from slowwave.errors import InvalidSettings
from slowwave.settings import Settings, load_settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.redaction import load_forms
from slowwave_server.models.driver import WrongSchema
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import require_current
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.services.flush.batch import FlushBatch
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.maintenance.due_check import DueCheck
from slowwave_server.services.maintenance.scheduler import JobRunner
from slowwave_server.services.mem0_backend.choosing import feed_chosen
from slowwave_server.services.sources.build import build_source
from slowwave_server.tasks import all_tasks
from slowwave_server.tasks.base import Runtime
from slowwave_server.workers.broker_scripts import LoadsScripts
from slowwave_server.workers.celery_settings import celery_settings
from slowwave_server.workers.embedded_beat import beat_ends_with_its_worker
from slowwave_server.workers.jobs import job_runners
from slowwave_server.workers.leases import LeaseThread
from slowwave_server.workers.liveness import LoopTurns
from slowwave_server.workers.observed import send_last_spans
from slowwave_server.workers.stopped_children import ReplacesStopped
from slowwave_server.workers.task_counting import count_tasks

log = logging.getLogger(__name__)

LOADER = "slowwave_server.workers.loader:InstalledLoader"


class SlowwaveApp(Celery):
    """A Celery app that makes the runtime of its process on first use, and again after a fork."""

    def __init__(
        self,
        settings: Settings,
        extractor: Extractor | None,
        runners: Mapping[str, JobRunner],
        clock: Callable[[], datetime],
        **options: Any,
    ) -> None:
        # No fixups: Celery's fixup for Django adds the current folder to the import path.
        super().__init__("slowwave", loader=LOADER, fixups=[], **options)
        self.settings = settings
        self._extractor = extractor
        self._runners = runners
        self.domain_clock = clock
        self._lock = threading.Lock()
        self._runtime: Runtime | None = None
        self._pid = 0

    def send_task(self, name: str, args: Any = None, kwargs: Any = None, *rest: Any, **options: Any) -> Any:
        """Send a task. Monitors see the names of its keyword arguments without the values, which hold what was said."""
        options.setdefault("kwargsrepr", shown_names(sorted(kwargs or {})))
        return super().send_task(name, args, kwargs, *rest, **options)

    @property
    def slowwave(self) -> "SlowwaveApp":
        """The app's runtime, for tasks."""
        return self

    def runtime(self) -> Runtime:
        """The collaborators of this process. Connections must not be shared with a parent, so a fork makes new ones."""
        with self._lock:
            if self._runtime is None or self._pid != os.getpid():
                self._runtime = build_runtime(self.settings, self._extractor, self._runners, self.domain_clock)
                self._pid = os.getpid()
            return self._runtime

    def close_runtime(self) -> None:
        """Close the connections. The next process delivers what is still in the client's spool."""
        if self._runtime is not None and self._pid == os.getpid():
            self._runtime.memory.close()
            if self._runtime.source is not None:
                self._runtime.source.close()
            self._runtime.engine.dispose()


def build_runtime(
    settings: Settings, extractor: Extractor | None, runners: Mapping[str, JobRunner], clock: Callable[[], datetime]
) -> Runtime:
    """Make the collaborators of one process. extractor: None means that of the settings."""
    flushing = settings.memory.auto_flush
    # A flush repeats the statement of a broken connection on a new one; the next sweep repeats a failed sweep.
    engine = make_engine(settings.database_url, pre_ping=False, autocommit=True)
    redis = connect_broker(settings)
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
        extractor=extractor or build_extractor(settings, engine, redis, clock),
        settings=flushing,
        clock=clock,
        jitter=random.random,
        pause=_pause,
    )
    batch = FlushBatch(flusher, seconds=flushing.batch_seconds, monotonic=time.monotonic)
    due_check = DueCheck(engine, monotonic=time.monotonic)
    source = build_source(settings.memory)
    return Runtime(settings, engine, redis, queue, flusher, batch, Memory(settings), clock, runners, due_check, source)


def utc_now() -> datetime:
    """Return the current time, aware."""
    return datetime.now(UTC)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def make_app(
    settings: Settings,
    *,
    extractor: Extractor | None = None,
    runners: Mapping[str, JobRunner] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> SlowwaveApp:
    """Return a configured app for these settings.

    extractor: turns a window into memories; None: that of the settings. runners: run maintenance jobs, by type; None:
    those of this version. clock: returns the current time, aware.
    """
    app = SlowwaveApp(settings, extractor, job_runners() if runners is None else runners, clock)
    app.conf.update(celery_settings(settings))
    app.steps["consumer"].add(LoopTurns)
    app.steps["consumer"].add(LoadsScripts)
    app.steps["consumer"].add(ReplacesStopped)
    count_tasks()
    beat_ends_with_its_worker()
    return app


@cache
def default_app() -> SlowwaveApp:
    """Return the app of this process, made from its environment, for `celery -A slowwave_server`."""
    return make_app(load_settings())


@worker_init.connect
@beat_init.connect
def refuse_wrong_schema(sender: Any = None, **_: Any) -> None:
    """Stop the worker with a sentence if the schema is not the code's: it could lose data."""
    app = getattr(sender, "app", None)
    if not isinstance(app, SlowwaveApp):
        return
    refuse_source(app.settings)
    engine = make_engine(app.settings.database_url)
    try:
        with engine.connect() as connection:
            require_current(connection)
    except WrongSchema as error:
        raise SystemExit(f"slowwave: {error}") from None
    except OperationalError as error:
        # Postgres may start after the workers: tasks fail until then, and the sweep repairs this.
        log.warning("Postgres is not reachable yet, the schema was not checked: %s", error.orig)
    finally:
        engine.dispose()


def refuse_source(settings: Settings) -> None:
    """Raise SystemExit with a sentence at the start if a source can't be read, not later in each task."""
    try:
        build_source(settings.memory)
    except InvalidSettings as error:
        raise SystemExit(f"slowwave: {error}") from None


@worker_init.connect
def refuse_a_model_that_is_not_set_up(sender: Any = None, **_: Any) -> None:
    """Report a missing package of the model once at the start, and not in every task. No server is called yet."""
    app = getattr(sender, "app", None)
    if not isinstance(app, SlowwaveApp):
        return
    engine = make_engine(app.settings.database_url)
    try:
        build_extractor(app.settings, engine, connect_broker(app.settings), app.domain_clock)
    except InvalidSettings as error:
        raise SystemExit(f"slowwave: {error}") from None
    finally:
        engine.dispose()


@worker_init.connect
def load_before_the_fork(**_: Any) -> None:
    """Import modules once that every child would otherwise import at its first flush."""
    load_forms()


@worker_ready.connect
def look_around_at_start(sender: Any = None, **_: Any) -> None:
    """At the start of a worker, find sessions, days and jobs that became due during a downtime."""
    app = getattr(sender, "app", None)
    if isinstance(app, SlowwaveApp):
        for task in all_tasks().values():
            if task.at_start:
                app.send_task(task.name, queue=task.queue, expires=60)


@worker_ready.connect
def feed_the_backend_of_the_settings(sender: Any = None, **_: Any) -> None:
    """Queue every change of a memory for `memory.backend` from now on, or for no backend."""
    app = getattr(sender, "app", None)
    if not isinstance(app, SlowwaveApp):
        return
    engine = make_engine(app.settings.database_url)
    try:
        change = feed_chosen(engine, app.settings, app.domain_clock())
    except OperationalError as error:
        # If a backend is fed, the next tick does this.
        log.warning("Postgres is not reachable yet, memory.backend was not registered: %s", error.orig)
    except InvalidSettings as error:
        log.error("%s", error)  # noqa: TRY400 (a sentence for who set it up, not a place in the code)
    else:
        if change.registered or change.unregistered:
            log.info("memory.backend is %s from here on", app.settings.memory.backend)
    finally:
        engine.dispose()


@worker_ready.connect
def stop_softly_on_term(sender: Any = None, **_: Any) -> None:
    """Let SIGTERM start the soft shutdown, which waits a limited time, unless REMAP_SIGTERM is set.

    Celery reads that variable long before it loads an app, so it can't be set here. Only processes stop softly; a
    worker with threads waits for its tasks. Children do not get this handler, because Celery resets theirs.
    """
    pool = getattr(sender, "pool", None)
    if not REMAP_SIGTERM and isinstance(pool, PreforkPool):
        signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGQUIT))


@worker_shutdown.connect
@worker_process_shutdown.connect
def let_go(**_: Any) -> None:
    """Close the connections of this process, if it has made an app of this kind."""
    app: object = current_app
    if isinstance(app, SlowwaveApp):
        app.close_runtime()
    send_last_spans()
