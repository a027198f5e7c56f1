"""Real Celery processes for tests: workers, beats and Flower in process groups of their own, on servers that are given.

Settings are short, so that leases, tickets and sweeps are seen to end within seconds.
"""

import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from proof.servers import start_group
from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings, load_settings
from tests.support.processes import wait_until
from tests.workers.forking import Forked

ROOT = Path(__file__).parents[2]
HELD_APP = "tests.workers.slow_app"
PLAIN_APP = "slowwave_server"
SHORT = {
    "IDLE_SECONDS": "0.5",
    "FLUSH_INTERVAL_SECONDS": "1",
    "LEASE_SECONDS": "2",
    "TICKET_SECONDS": "5",
    "RETRY_INTERVAL_SECONDS": "1",
}
START_SECONDS = 90.0
CELERY = (sys.executable, "-m", "celery")


def _may_fork(environment: Mapping[str, str]) -> bool:
    """Whether a process of Celery may fork from a server that has imported the app, which saves two seconds of a core.

    Not where a variable may concern what is imported, and not where a model is asked: there each child of the pool
    imports more than all that the server has.
    """
    new = environment.keys() - os.environ.keys()
    ours = all(name.startswith(("SLOWWAVE_", "SLOW_APP_")) and "__LLM__" not in name for name in new)
    return ours and "COVERAGE_PROCESS_CONFIG" not in os.environ


class Program:
    """One process with its group and its log. folder: where it is called."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], log: Path, folder: Path = ROOT) -> None:
        self._log = log
        self._process: Forked | subprocess.Popen[bytes]
        if tuple(command[:3]) == CELERY and _may_fork(environment):
            log.touch()
            self._process = Forked(command[3:], environment, log, folder)
        else:
            self._process = start_group(command, environment, folder, log, mode="wb")
        self.pid = self._process.pid

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def children(self) -> list[int]:
        return [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii").split()]

    def says(self, text: str, seconds: float = START_SECONDS) -> None:
        """Wait until its log holds this."""
        wait_until(
            lambda: text in self.log or self.exit_code is not None, seconds, f"{text!r} in the log:\n{self.log[-3000:]}"
        )
        assert text in self.log, self.log

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process itself, and not what it has started."""
        self.send(signal.SIGKILL)
        self._process.wait(10)

    def wait(self, seconds: float) -> int:
        """Answer the exit code, which must come within `seconds`."""
        return self._process.wait(seconds)

    def end(self) -> None:
        """Kill it with all that it has started; under coverage, let it write first what it has measured."""
        with suppress(ProcessLookupError):
            if "COVERAGE_PROCESS_CONFIG" in os.environ:
                os.killpg(self.pid, signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(20)
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(10)


class Fleet:
    """Starts processes on one database and one broker, and ends those that are left when the test is over.

    `variables`: settings and other variables over the short ones, all of them in the form of the environment.
    """

    def __init__(self, database_url: str, broker_url: str, folder: Path, **variables: str) -> None:
        self.folder = folder
        self.programs: list[Program] = []
        self._standing: Program | None = None
        short = {f"SLOWWAVE_MEMORY__AUTO_FLUSH__{name}": value for name, value in SHORT.items()}
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLOWWAVE_", "FLOWER_", "REMAP_"))}
        urls = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": broker_url}
        (folder / "spool").mkdir(exist_ok=True)
        others = {"SLOWWAVE_SPOOL": str(folder / "spool"), "SLOW_APP_FOLDER": str(folder)}
        self.environment = clean | short | urls | others | variables

    def settings(self) -> Settings:
        """The settings that its processes have."""
        return load_settings({k: v for k, v in self.environment.items() if k.startswith("SLOWWAVE_")})

    def worker(
        self,
        *,
        app: str = HELD_APP,
        queues: Sequence[str] = QUEUES,
        concurrency: int = 1,
        pool: str = "prefork",
        ready: bool = True,
        **variables: str,
    ) -> Program:
        """Start a worker as a person would; answer when it takes messages."""
        node = f"w{uuid.uuid4().hex[:8]}@{socket.gethostname()}"
        options = ["-Q", ",".join(queues), "-n", node, "--concurrency", str(concurrency), "--pool", pool]
        # No -E: Flower asks for events by itself.
        quiet = ("--without-gossip", "--without-mingle", "--loglevel", "INFO")
        program = self._start(app, "worker", *options, *quiet, **variables)
        if ready:
            program.says(f"{node} ready.")
        return program

    def standing_worker(self) -> Program:
        """Answer a worker with two children that runs already, or a new one: starting costs seconds."""
        if self._standing is None or self._standing.exit_code is not None:
            self._standing = self.worker(concurrency=2)
        return self._standing

    def beat(self) -> Program:
        """Start a beat with a schedule file of its own."""
        schedule = self.folder / f"schedule-{uuid.uuid4().hex[:8]}"
        program = self._start(PLAIN_APP, "beat", "--schedule", str(schedule), "--loglevel", "INFO")
        program.says("beat: Starting")
        return program

    def flower(self, port: int, basic_auth: str) -> Program:
        """Start Flower on the loopback address; it is not awaited."""
        options = ("--address=127.0.0.1", f"--port={port}")
        return self._start(PLAIN_APP, "flower", *options, FLOWER_BASIC_AUTH=basic_auth)

    def hold(self, agent: str) -> None:
        """From now on extractions for this agent wait in their middle."""
        (self.folder / f"hold-{agent}").touch()

    def let_go(self, agent: str) -> None:
        (self.folder / f"hold-{agent}").unlink(missing_ok=True)

    def held(self, agent: str) -> list[int]:
        """The processes that have come to the hold since the start, dead ones included."""
        return [int(file.name.rsplit("-", 1)[1]) for file in self.folder.glob(f"held-{agent}-*")]

    def until_held(self, agent: str, times: int = 1) -> None:
        wait_until(lambda: len(self.held(agent)) >= times, 30, f"a flush of {agent} is in its middle")

    def extractions(self, agent: str) -> list[tuple[int, int]]:
        """The windows of this agent that extractors were given, in their order."""
        lines = (self.folder / "extractions").read_text("ascii").splitlines()
        parts = [line.split() for line in lines]
        return [(int(first), int(last)) for who, first, last in parts if who == agent]

    def end(self) -> None:
        for program in self.programs:
            program.end()

    def _start(self, app: str, *command: str, **variables: str) -> Program:
        log = self.folder / f"{command[0]}-{uuid.uuid4().hex[:8]}.log"
        program = Program([*CELERY, "-A", app, *command], self.environment | variables, log)
        self.programs.append(program)
        return program
