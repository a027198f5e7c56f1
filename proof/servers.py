"""A Postgres and a Valkey that can be stopped, killed, paused and restarted at the same address with their data.

The servers, their settings and their guardians are those of the stack. The caller restarts them at the moment that its
experiment needs, instead of a supervisor.
"""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from slowwave_server.workers.stack.child import Child, Program, Say
from slowwave_server.workers.stack.data_folder import DataFolder
from slowwave_server.workers.stack.embedded_postgres import EmbeddedPostgres
from slowwave_server.workers.stack.embedded_valkey import EmbeddedValkey
from slowwave_server.workers.stack.ports import settle_ports

_START_SECONDS = 60.0
_STOP_SECONDS = 15.0
_POLL_SECONDS = 0.02


class Server:
    """One server process. answers: returns True if it is up, and raises nothing if it is not."""

    def __init__(self, program: Program, answers: Callable[[], bool], log: Path, say: Say, held: int) -> None:
        self._program = program
        self._answers = answers
        self._log = log
        self._say = say
        self._held = held
        self._child: Child | None = None

    @property
    def name(self) -> str:
        return self._program.name

    def start(self) -> None:
        """Start it, and return when it answers. Raises TimeoutError."""
        self._child = Child(self._program, self._log, self._say, held=self._held)
        self._child.start()
        until(self._answers, _START_SECONDS, f"{self.name} answers")

    def stop(self, number: signal.Signals | None = None) -> None:
        """Send its stop signal, or this one, and return when no process is left. Nothing starts it again."""
        child = self._child
        if child is None:
            return
        if number is None:
            child.stop()
        elif number is signal.SIGKILL:
            child.kill()
        else:
            # The guardian would send the usual signal; this one comes first, and the guardian finds the server ending.
            self.send(number)
            child.stop()
        if not child.wait(_STOP_SECONDS):
            child.kill()
            child.wait(_STOP_SECONDS)
        self._child = None

    def pause(self) -> None:
        """Send SIGSTOP to the server and each of its processes: connections stay open without answers."""
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT, and return when it answers."""
        self.send(signal.SIGCONT)
        until(self._answers, _START_SECONDS, f"{self.name} answers again")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the server; stop and continue signals go to all of its processes."""
        pid = None if self._child is None else self._child.pid
        if pid is None:
            return
        whole = number in {signal.SIGSTOP, signal.SIGCONT}
        for one in (pid, *children_of(pid)) if whole else (pid,):
            with suppress(ProcessLookupError):
                os.kill(one, number)


class Servers:
    """A Postgres with an empty database `slowwave`, and a Valkey or another program with the same settings.

    folder: an empty folder. redis_server: the program to run instead of Valkey.
    """

    def __init__(self, folder: Path, say: Say, *, redis_server: Path | None = None) -> None:
        self._data = DataFolder(folder)
        self._claim = self._data.claim()
        self._held = self._claim.__enter__()
        ports = settle_ports(self._data.ports, {"postgres": 0, "valkey": 0})
        self._embedded = EmbeddedPostgres(self._data, ports["postgres"], say)
        valkey = self._valkey = EmbeddedValkey(self._data, ports["valkey"])
        program = valkey.program(_plain_environment())
        if redis_server is not None:
            program = replace(program, command=(str(redis_server), *program.command[1:]))
        self._embedded.create(self._held, threading.Event())
        self.postgres = self._server(self._embedded.program(_plain_environment()), self._embedded.answers, say)
        self.valkey = self._server(program, valkey.answers, say)
        self.database_url = self._embedded.url
        self.broker_url = valkey.url

    def _server(self, program: Program, answers: Callable[[], bool], say: Say) -> Server:
        return Server(program, answers, self._data.logs / f"{program.name}.log", say, self._held)

    @property
    def folder(self) -> DataFolder:
        return self._data

    @property
    def held(self) -> int:
        """The descriptor that every process on these servers keeps open."""
        return self._held

    def start(self) -> None:
        """Start both; the database exists and is empty."""
        self.postgres.start()
        self._embedded.prepare_database()
        self.valkey.start()

    def lose(self) -> None:
        """Kill both servers and remove their data, like the loss of a machine."""
        for server, folder in ((self.valkey, self._data.valkey), (self.postgres, self._data.postgres)):
            server.stop(signal.SIGKILL)
            remove(folder)

    def replace(self) -> None:
        """Start empty servers at the addresses of the lost ones, with the same passwords."""
        self._embedded.create(self._held, threading.Event())
        self._valkey.program(_plain_environment())  # writes its settings
        self.start()

    def close(self) -> None:
        """Stop all running servers, paused or not."""
        for server in (self.valkey, self.postgres):
            server.send(signal.SIGCONT)
            server.stop()
        self._claim.__exit__(None, None, None)


def _plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PG", "SLOWWAVE_"))}


def start_group(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path, *, mode: str = "ab"
) -> subprocess.Popen[bytes]:
    """Start a process in its own group. log: the file of its output; mode: "wb" to replace an existing file."""
    with log.open(mode) as out:
        return subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process; empty if the process has ended."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += [int(child) for child in (thread / "children").read_text(encoding="ascii").split()]
    return found


def until(condition: Callable[[], bool], seconds: float, what: str, *, poll: float = _POLL_SECONDS) -> float:
    """Wait for a condition. Return the seconds. Raises TimeoutError with the name of the condition.

    poll: the seconds between checks; use more if a check is expensive.
    """
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(poll)
    return time.monotonic() - began


def remove(folder: Path) -> None:
    """Remove a folder of a run, regardless of the owners of its files."""
    shutil.rmtree(folder, ignore_errors=True)
