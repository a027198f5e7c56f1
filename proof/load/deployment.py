"""Servers and workers as `slowwave up` starts them, in a separate folder, with workers that can be stopped.

There are two differences: Postgres stores the time of each commit (`track_commit_timestamp`), which costs little and is
the only source of this time; and Flower runs only on request.
"""

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from slowwave.settings import PREFIX, Settings, load_settings, variable_of
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.workers.stack.child import Child
from slowwave_server.workers.stack.data_folder import DataFolder
from slowwave_server.workers.stack.embedded_postgres import EmbeddedPostgres
from slowwave_server.workers.stack.embedded_valkey import EmbeddedValkey
from slowwave_server.workers.stack.ports import settle_ports
from slowwave_server.workers.stack.programs import CeleryPrograms, default_workers, flower_answers, worker_answers
from slowwave_server.workers.stack.supervisor import Supervisor

START_SECONDS = 90.0
_POLL_SECONDS = 0.1


class Deployment:
    """A context manager: servers run inside the block; after it all processes and the folder are removed.

    changed: settings that differ from their defaults, by key. died: the number of times that a program ended by itself.
    """

    def __init__(self, changed: Mapping[str, object]) -> None:
        self.folder = DataFolder(Path(tempfile.mkdtemp(prefix="slowwave-load-")))
        self.changed = dict(changed)
        self._claims = ExitStack()
        self._servers: Supervisor | None = None
        self._programs: Supervisor | None = None
        self._held = -1
        self._ports: dict[str, int] = {}
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "PG", "FLOWER_"))
        }

    @property
    def settings(self) -> Settings:
        """Return the settings of its processes, from their environment."""
        return load_settings({name: value for name, value in self.environment.items() if name.startswith(PREFIX)})

    @property
    def children(self) -> dict[str, Child]:
        """Return the programs that run now, by name: postgres, valkey, worker-fast, worker-main, beat, flower."""
        running = [supervisor for supervisor in (self._servers, self._programs) if supervisor is not None]
        return {name: child for supervisor in running for name, child in supervisor.children.items()}

    @property
    def died(self) -> dict[str, int]:
        """Return how often each running program died and was started again."""
        return {name: child.deaths for name, child in self.children.items() if child.deaths}

    def __enter__(self) -> Self:
        try:
            self._start_servers()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A person may interrupt a part once; its processes are stopped nevertheless.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self._end()
        finally:
            signal.signal(signal.SIGINT, before)

    def _start_servers(self) -> None:
        self._held = self._claims.enter_context(self.folder.claim())
        self._servers = Supervisor(self.folder.logs, _nothing, held=self._held)
        self._ports = settle_ports(self.folder.ports, {"postgres": 0, "valkey": 0, "flower": 0})
        postgres = EmbeddedPostgres(self.folder, self._ports["postgres"], _nothing)
        postgres.create(self._held, threading.Event())
        with (self.folder.postgres / "postgresql.conf").open("a", encoding="utf-8") as configuration:
            configuration.write("\ntrack_commit_timestamp = on\n")
        valkey = EmbeddedValkey(self.folder, self._ports["valkey"])
        for server in (postgres, valkey):
            self._servers.start(server.program(self.environment))
            wait_until(server.answers, START_SECONDS, "a server answers")
        postgres.prepare_database()
        values = {"database_url": postgres.url, "broker_url": valkey.url, "spool": self.folder.root / "spool"} | {
            "memory.files.root": self.folder.root / "files"
        }
        self.environment |= {variable_of(key): str(value) for key, value in (values | self.changed).items()}
        engine = make_engine(postgres.url)
        migrate(engine)
        engine.dispose()

    def start_workers(self, *, flower: bool = False) -> None:
        """Start the workers of a machine of this size, and beat; return when all of them are ready."""
        programs = CeleryPrograms(self.folder, "slowwave_server", self.environment)
        self._programs = Supervisor(self.folder.logs, _nothing, held=self._held)
        workers = default_workers(os.cpu_count() or 1)
        for worker in workers:
            self._programs.start(programs.worker(worker))
        beat = self._programs.start(programs.beat())
        if flower:
            self._programs.start(programs.flower(self._ports["flower"], f"load:{self.folder.secret('flower')}"))
        settings = self.settings
        for worker in workers:
            wait_until(partial(worker_answers, settings, worker.node), START_SECONDS, f"worker {worker.name} answers")
        wait_until(lambda: programs.beat_runs(beat), START_SECONDS, "beat runs")
        if flower:
            wait_until(lambda: flower_answers(self._ports["flower"]), START_SECONDS, "Flower answers")

    def stop_workers(self) -> None:
        """Stop workers and beat as a deployment does; servers stay."""
        if self._programs is not None:
            self._programs.stop()
            self._programs = None

    def _end(self) -> None:
        self.stop_workers()
        if self._servers is not None:
            self._servers.stop()
            self._servers = None
        self._claims.close()
        shutil.rmtree(self.folder.root, ignore_errors=True)


def wait_until(condition: Callable[[], bool], seconds: float, what: str, *, poll: float = _POLL_SECONDS) -> None:
    """Return when `condition` holds. Raises TimeoutError with `what`."""
    deadline = time.monotonic() + seconds
    rest = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        rest.wait(poll)


def _nothing(_part: str, _line: str) -> None:
    """Ignore the event, because the report has the result."""
