"""Start processes of a version: workers, beat and producers, each with its log, on given servers."""

import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proof.chaos.places import Places
from proof.drills.versions import Version
from proof.servers import start_group, until
from slowwave.coordination.keys import QUEUES
from slowwave.settings import variable_of

START_SECONDS = 120.0
STOP_SECONDS = 60.0
AGENTS = 3
_ENOUGH = 1_000_000

# Shorter settings are those whose default exceeds a drill of seconds: quiet conversations, days, working memory, lost
# messages. Leases keep their default.
SHORTER = {
    "memory.auto_flush.idle_seconds": "1",
    "memory.auto_flush.flush_interval_seconds": "1",
    "memory.auto_flush.max_dirty_age_seconds": "20",
    "memory.auto_flush.ticket_seconds": "10",
    "memory.auto_flush.retry_interval_seconds": "3",
    "memory.days.quiet_seconds": "2",
    "memory.consolidation.interval_seconds": "4",
    "memory.consolidation.min_age_days": "0",
    # A tick finds that a pass from the backup is dead when its lease has expired.
    "memory.maintenance.tick_seconds": "15",
}


class Process:
    """One process in its own group."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> None:
        self._log = log
        self._process = start_group(command, environment, folder, log)

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def says(self, text: str) -> None:
        """Wait until its log contains this text. Raises TimeoutError, with the end of the log."""
        try:
            until(lambda: text in self.log or not self.runs, START_SECONDS, f"{text!r}")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.log[-2000:]}") from None
        if text not in self.log:
            raise TimeoutError(f"it ended and never said {text!r}:\n{self.log[-2000:]}")

    def stop(self) -> int:
        """Ask the process to end. Return its exit code. Raises subprocess.TimeoutExpired."""
        self._process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        """Wait for its own end. Return its exit code. Raises subprocess.TimeoutExpired."""
        return self._process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """Kill the process and all processes that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(STOP_SECONDS)

    @property
    def log(self) -> str:
        """Its output."""
        return self._log.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Programs:
    """Starts the programs of a version. places: the folder of the drill; all: the started processes."""

    places: Places
    database_url: str
    broker_url: str
    all: list[Process]

    def worker(self, version: Version, name: str) -> Process:
        """Start a worker for every queue. It is ready when `until_ready` returns."""
        options = ("-Q", ",".join(QUEUES), "-n", _node(name), "--concurrency", "2", "--loglevel", "INFO")
        return self._celery(version, name, "worker", *options, "--without-gossip", "--without-mingle")

    def until_ready(self, worker: Process, name: str) -> None:
        """Wait until a worker takes messages."""
        worker.says(f"{_node(name)} ready.")

    def beat(self, version: Version, name: str) -> Process:
        """Start a beat with its own schedule."""
        return self._celery(version, name, "beat", "--schedule", str(self.places.root / f"schedule-{name}"))

    def talker(self, version: Version, number: int, *, seed: int, rate: float) -> Process:
        """Start a producer, which continues where an earlier one with this number ended. rate: events per second."""
        self.places.spool(number).mkdir(exist_ok=True)
        given = {"folder": self.places.root, "number": number, "seed": seed, "rate": rate}
        given |= {"agents": AGENTS, "events": _ENOUGH}
        words = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        own = {variable_of("spool"): str(self.places.spool(number))}
        return self._start(version, f"talker-{number}", "proof.chaos.talk", *words, **own)

    def variables(self) -> dict[str, str]:
        """The settings of all processes, as variables."""
        own = {
            "database_url": self.database_url,
            "broker_url": self.broker_url,
            "spool": str(self.places.root / "spool-workers"),
            "memory.files.root": str(self.places.root / "memory"),
        }
        return {variable_of(key): value for key, value in (own | SHORTER).items()}

    def kill_all(self) -> None:
        """End the remaining processes."""
        for process in self.all:
            process.kill()

    def _celery(self, version: Version, name: str, *command: str) -> Process:
        return self._start(version, name, "celery", "-A", "slowwave_server", *command, REMAP_SIGTERM="SIGQUIT")

    def _start(self, version: Version, name: str, module: str, *words: str, **variables: str) -> Process:
        environment = version.environment() | self.variables() | variables
        log = self.places.logs / f"{name}.log"
        process = Process([sys.executable, "-m", module, *words], environment, version.root, log)
        self.all.append(process)
        return process


def _node(name: str) -> str:
    return f"{name}@{socket.gethostname()}"
