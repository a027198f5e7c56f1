"""The Celery programs of the stack: two workers, beat and Flower, with a check that each is up."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from celery import Celery
from kombu.exceptions import OperationalError

from slowwave.coordination.keys import HIGH_QUEUE, QUEUES
from slowwave.settings import Settings
from slowwave_server.workers.celery_process import SOFT_STOP, celery_command
from slowwave_server.workers.celery_settings import broker_settings
from slowwave_server.workers.stack.child import Child, Program
from slowwave_server.workers.stack.data_folder import DataFolder
from slowwave_server.workers.stack.health import answers
from slowwave_server.workers.stack.ports import HOST

# Clients of the servers stop before the servers.
_STAGE = 2
# The soft shutdown takes 4 s; then the pool is terminated and messages return to their queues, which takes 1 s more.
_WORKER_GRACE_SECONDS = 6.5
_OTHER_GRACE_SECONDS = 3.0
FLOWER_TASKS = 2000
"""Tasks that Flower remembers, of some 10 KB each. It would keep 100,000, which is a gigabyte; what it keeps is reached
within minutes of a million turns a day, and its memory is flat from then on."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker process: its name, its queues in order, and the size of its pool."""

    name: str
    queues: tuple[str, ...]
    concurrency: int

    @property
    def node(self) -> str:
        """The worker's name in Celery."""
        return f"{self.name}@{socket.gethostname()}"


def default_workers(concurrency: int) -> tuple[Worker, ...]:
    """Return one small worker for urgent flushes only, and one for all queues."""
    return (Worker("fast", (HIGH_QUEUE,), 1), Worker("main", QUEUES, concurrency))


class CeleryPrograms:
    """Commands and health checks of one stack. app: for `celery -A`; environment: URLs and passwords."""

    def __init__(self, folder: DataFolder, app: str, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._app = app
        self._environment = {**environment, **SOFT_STOP}

    def worker(self, worker: Worker, *, events: bool = False) -> Program:
        """Return a worker's program. events: for -E, which Flower needs. Gossip is off: nothing reads it."""
        options = ("-Q", ",".join(worker.queues), "-n", worker.node, "--concurrency", str(worker.concurrency))
        quiet = ("--without-gossip", "--without-mingle", "--loglevel", "INFO", *(("-E",) if events else ()))
        return Program(
            name=f"worker-{worker.name}",
            command=celery_command(self._app, "worker", *options, *quiet),
            environment=self._environment,
            stage=_STAGE,
            grace_seconds=_WORKER_GRACE_SECONDS,
        )

    @property
    def _schedule(self) -> Path:
        return self._folder.beat / "schedule"

    def beat(self) -> Program:
        """Return the program of beat; the last time of each tick is stored in the data folder."""
        self._folder.beat.mkdir(mode=0o700, exist_ok=True)
        return Program(
            name="beat",
            command=celery_command(self._app, "beat", "--schedule", str(self._schedule), "--loglevel", "INFO"),
            environment=self._environment,
            stage=_STAGE,
            grace_seconds=_OTHER_GRACE_SECONDS,
        )

    def flower(self, port: int, basic_auth: str) -> Program:
        """Return the program of Flower on the loopback address; basic_auth: "USER:PASSWORD".

        The environment carries the password, because every user of the machine can read a command line.
        """
        # Without --conf Flower runs a flowerconfig.py of the current folder.
        conf = ("--persistent=False", f"--conf={os.devnull}")
        options = (f"--address={HOST}", f"--port={port}", f"--max-tasks={FLOWER_TASKS}", *conf)
        return Program(
            name="flower",
            command=celery_command(self._app, "flower", *options),
            environment={**self._environment, "FLOWER_BASIC_AUTH": basic_auth},
            stage=_STAGE,
            grace_seconds=_OTHER_GRACE_SECONDS,
        )

    def beat_runs(self, child: Child) -> bool:
        """Return True if beat has opened its schedule since its last start."""
        files = self._folder.beat.glob(f"{self._schedule.name}*")
        return child.pid is not None and any(file.stat().st_mtime >= child.started_at for file in files)


def worker_answers(settings: Settings, node: str) -> bool:
    """Return True if the worker of this name answers a ping through the broker. Raises nothing."""
    app = Celery(set_as_current=False)
    app.conf.update(broker_settings(settings))
    try:
        with app.connection_for_write(connect_timeout=2) as connection:
            return bool(app.control.ping(destination=[node], timeout=1.0, connection=connection))
    except (OperationalError, OSError):
        return False
    finally:
        app.close()


def flower_answers(port: int) -> bool:
    """Return True if Flower's health check answers that it is up."""
    return answers(f"http://{HOST}:{port}/healthcheck")
