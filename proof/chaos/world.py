"""The world of a chaos run: real servers, supervised workers and beat as in a deployment, talkers, a model."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import redis
from sqlalchemy import Engine

from proof.chaos.places import FOLDER_VARIABLE, VISIBILITY_VARIABLE, Places
from proof.servers import Servers, until
from slowwave.coordination.keys import CONSOLIDATE_QUEUE, DAYS_QUEUE, HIGH_QUEUE, QUEUES
from slowwave.settings import variable_of
from slowwave.spool import spooled
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.workers.stack.child import Child, Program, Say
from slowwave_server.workers.stack.programs import CeleryPrograms, Worker
from slowwave_server.workers.stack.supervisor import Supervisor

ROOT = Path(__file__).parents[2]
APP = "proof.chaos.app"
# Threads, as pools for models have; the other workers have processes. The last worker makes days and passes while
# others flush: behind a queue of flushes that is never empty, no fault would hit them.
WORKERS = (
    Worker("fast", (HIGH_QUEUE,), 1),
    Worker("main", QUEUES, 2),
    Worker("threads", QUEUES, 2),
    Worker("days", (DAYS_QUEUE, CONSOLIDATE_QUEUE), 1),
)
SPOOL_BYTES = 16_000_000
_START_SECONDS = 90.0
_HASTE = 1.1
_POLL_SECONDS = 0.2

# Leases (8 s), sweeps (5 s), tickets (60 s) and retries (30 s) have their defaults. Shorter settings are those whose
# default exceeds a run of minutes: quiet conversations, days, working memory, the ticks of jobs.
SHORTER = {
    "memory.auto_flush.idle_seconds": "4",
    "memory.auto_flush.max_dirty_age_seconds": "60",
    "memory.days.quiet_seconds": "10",
    "memory.consolidation.interval_seconds": "20",
    "memory.consolidation.min_age_days": "0",
    "memory.maintenance.tick_seconds": "30",
    "memory.llm.breaker_seconds": "5",
    "memory.llm.timeout_seconds": "8",
}
SHORTEST = {
    "memory.auto_flush.ticket_seconds": "15",
    "memory.auto_flush.retry_interval_seconds": "8",
    "memory.days.quiet_seconds": "5",
    "memory.consolidation.interval_seconds": "10",
}
# Celery redelivers a killed worker's messages after this time (180 s in a deployment): within the run, long after the
# sweep.
VISIBILITY_SECONDS = 45
SHORT_VISIBILITY_SECONDS = 20
# A window that loses its worker again and again would be halved, and its events quarantined one by one. This is right
# for a text that kills, but here no text does. And the model keeps each line of a window, of which there may be twenty.
PATIENT = {"memory.auto_flush.extractor.max_retries": "60", "memory.llm.max_output_tokens": "4000"}


@dataclass(frozen=True, slots=True)
class Options:
    """The parts of a world. agents: the number of agents per talker; events: the number of all events to record;
    seconds: the time for them.
    """

    seed: int
    talkers: int
    agents: int
    events: int
    seconds: float
    token_budget: int
    short: bool = False
    redis_server: Path | None = None

    @property
    def rate(self) -> float:
        """Return the events per second of one talker, on average, while nothing stops it."""
        return self.events / self.seconds / self.talkers * _HASTE


class World:
    """All processes of a run. Use it as a context manager: after it no process is left."""

    def __init__(self, places: Places, options: Options, say: Say, *, disks: bool) -> None:
        self.places = places
        self.options = options
        self.disks = disks
        self._say = say
        self.servers = Servers(places.root / "servers", say, redis_server=options.redis_server)
        self.supervisor = Supervisor(places.logs, say, held=self.servers.held)
        self.environment: dict[str, str] = {}
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def engine(self) -> Engine:
        """Return a new engine for the database; the caller disposes of it."""
        return make_engine(self.servers.database_url)

    def client(self, seconds: float | None = 30.0) -> redis.Redis:
        """Return a new client of the broker with this timeout."""
        return redis.Redis.from_url(self.servers.broker_url, socket_timeout=seconds)

    @property
    def workers(self) -> list[Child]:
        return [self.supervisor.children[f"worker-{worker.name}"] for worker in WORKERS]

    @property
    def beat(self) -> Child:
        return self.supervisor.children["beat"]

    @property
    def talkers(self) -> list[Child]:
        return [child for name, child in self.supervisor.children.items() if name.startswith("talker-")]

    def _start(self) -> None:
        self.servers.start()
        engine = self.engine
        migrate(engine)
        engine.dispose()
        self.supervisor.start(self._python("model", "proof.chaos.model", str(self.places.root), environment=_clean()))
        until(self.places.model_url.exists, _START_SECONDS, "the model answers")
        self.environment = _clean() | self._variables()
        programs = CeleryPrograms(self.servers.folder, APP, self.environment)
        for worker in WORKERS:
            self.supervisor.start(_with_pool(replace(programs.worker(worker), folder=ROOT), worker))
        self.supervisor.start(replace(programs.beat(), folder=ROOT))
        until(self._workers_are_ready, _START_SECONDS, "the workers are ready")

    def _workers_are_ready(self) -> bool:
        return all(_says(self.places.logs / f"worker-{worker.name}.log", f"{worker.node} ready.") for worker in WORKERS)

    def start_talkers(self) -> None:
        """Let agents talk from now on."""
        options = self.options
        for number in range(options.talkers):
            spool = self.places.spool(number)
            spool.mkdir(mode=0o700)
            if self.disks:
                size = f"size={SPOOL_BYTES}"
                subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(spool)], check=True)
            self.supervisor.start(self._talker(number, spool))

    def _talker(self, number: int, spool: Path) -> Program:
        options = self.options
        given = {
            "folder": self.places.root,
            "number": number,
            "seed": options.seed,
            "agents": options.agents,
            # The run ends the talk; others may make up for a talker that was killed for a long time.
            "events": options.events,
            "rate": options.rate,
        }
        arguments = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        environment = self.environment | {variable_of("spool"): str(spool)}
        talker = self._python(f"talker-{number}", "proof.chaos.talk", *arguments, environment=environment)
        return replace(talker, prepare=lambda: self._rest_when_done(spool))

    def _rest_when_done(self, spool: Path) -> None:
        """Start a talker again unless the talk is over. Raises OSError when the world ends."""
        while self.places.stop.exists() and not spooled(spool).files:
            if self._closing.wait(_POLL_SECONDS):
                raise OSError("the talk is over")

    def _python(self, name: str, module: str, *arguments: str, environment: Mapping[str, str]) -> Program:
        command = (sys.executable, "-m", module, *arguments)
        return Program(name, command, environment, stage=3, grace_seconds=10.0, folder=ROOT)

    def _variables(self) -> dict[str, str]:
        """Return the settings of all processes, and the folder of the run, as variables."""
        own = {
            "database_url": self.servers.database_url,
            "broker_url": self.servers.broker_url,
            "spool": str(self.places.root / "spool-workers"),
            "memory.files.root": str(self.places.root / "memory"),
            "memory.llm.driver": "openai",
            "memory.llm.model": "fake-1",
            "memory.llm.api_key": "no key",
            "memory.llm.base_url": self.places.model_url.read_text(encoding="utf-8"),
            "memory.llm.synthesize": "false",
            "memory.llm.adjudicate": "false",
            "memory.llm.daily_token_budget": str(self.options.token_budget),
        }
        shorter, visibility = shortened(short=self.options.short)
        given = own | shorter
        return {variable_of(key): value for key, value in given.items()} | {
            FOLDER_VARIABLE: str(self.places.root),
            VISIBILITY_VARIABLE: str(visibility),
        }

    def close(self) -> None:
        """Stop everything, servers last; paused processes are continued first."""
        self._closing.set()
        self.supervisor.stop(20.0)
        self.servers.close()
        for number in range(self.options.talkers if self.disks else 0):
            subprocess.run(["umount", str(self.places.spool(number))], check=False, capture_output=True)


def _with_pool(program: Program, worker: Worker) -> Program:
    if worker.name != "threads":
        return program
    # Threads have no soft shutdown: TERM waits for the task.
    environment = {name: value for name, value in program.environment.items() if name != "REMAP_SIGTERM"}
    return replace(program, command=(*program.command, "--pool", "threads"), environment=environment)


def shortened(*, short: bool) -> tuple[dict[str, str], int]:
    """Return the settings that differ from their defaults, by key, and the visibility timeout in seconds."""
    own = SHORTER | PATIENT | (SHORTEST if short else {})
    return own, SHORT_VISIBILITY_SECONDS if short else VISIBILITY_SECONDS


def _says(log: Path, text: str) -> bool:
    return log.exists() and text in log.read_text(encoding="utf-8", errors="replace")


def _clean() -> dict[str, str]:
    """Return the variables of this process without those that would change how the world runs."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("SLOWWAVE_", "FLOWER_", "REMAP_", "PG"))}
