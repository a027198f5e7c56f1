"""Run a Postgres, a Valkey and the requested workers, in a temporary folder."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from proof.servers import Servers, start_group, until
from slowwave.coordination.broker import connect_broker
from slowwave.coordination.keys import QUEUES
from slowwave.settings import PREFIX, Settings, load_settings, variable_of
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate

FLUSHES = "SELECT count(*) FROM slowwave.flushes"
DEADLINE_SECONDS = 300.0
QUIET = 0.2
"""Seconds of CPU a second, of all workers together: what they take when they have nothing to do, and a little."""


class Site:
    """A context manager with the servers. changed: settings that differ from their defaults, by key."""

    def __init__(self, **changed: object) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="slowwave-sizing-"))
        self._programs: list[subprocess.Popen[bytes]] = []
        self._servers = Servers(self._folder / "servers", _silent)
        urls = {"database_url": self._servers.database_url, "broker_url": self._servers.broker_url}
        values = urls | {"spool": self._folder / "spool", "memory.files.root": self._folder / "files"} | changed
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith((PREFIX, "PG", "REMAP_"))}
        self._environment |= {variable_of(key): str(value) for key, value in values.items()}
        self.settings: Settings = load_settings({k: v for k, v in self._environment.items() if k.startswith(PREFIX)})

    def __enter__(self) -> Self:
        self._servers.start()
        engine = make_engine(self.settings.database_url)
        migrate(engine)
        engine.dispose()
        self.connection = psycopg.connect(self.settings.database_url, autocommit=True)
        self.redis = connect_broker(self.settings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_programs()
        self.connection.close()
        self.redis.close()
        self._servers.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start_worker(self, processes: int, queues: tuple[str, ...] = QUEUES) -> int:
        """Start one worker. Return its pid when it is ready."""
        log = self._folder / f"worker-{len(self._programs)}.log"
        options = ("-Q", ",".join(queues), "-c", str(processes), "-l", "INFO", "-n", f"w{len(self._programs)}@sizing")
        pid = self._start(log, "worker", *options, "--without-gossip", "--without-mingle")
        until(lambda: "@sizing ready." in log.read_text(errors="replace"), 120, "the worker is ready")
        return pid

    def stop_programs(self) -> None:
        """Kill the workers, and all processes that they started."""
        for program in self._programs:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        self._programs.clear()

    def value(self, statement: str) -> float:
        """Return the first column of the only row."""
        row = self.connection.execute(statement.encode()).fetchone()
        return 0.0 if row is None or row[0] is None else float(row[0])

    def until_flushed(self, flushes: float, seconds: float = DEADLINE_SECONDS) -> None:
        """Return when the ledger has this many rows. Raises TimeoutError."""
        until(lambda: self.value(FLUSHES) >= flushes, seconds, f"{flushes:.0f} flushes")

    def until_quiet(self, spent: Callable[[], float], seconds: float = DEADLINE_SECONDS) -> None:
        """Return when all queues are empty and workers use almost no CPU for a second."""

        def quiet() -> bool:
            if any(self.redis.llen(queue) for queue in QUEUES):
                return False
            before = spent()
            time.sleep(1.0)
            return spent() - before < QUIET

        until(quiet, seconds, "the queues are empty")

    def _start(self, log: Path, *command: str) -> int:
        celery = (sys.executable, "-m", "celery", "-A", "slowwave_server")
        program = start_group([*celery, *command], self._environment, Path.cwd(), log, mode="wb")
        self._programs.append(program)
        return program.pid


def _silent(_part: str, _line: str) -> None:
    """Ignore the event, because the report has the result."""
