"""Supervise one program: start it under a guardian, start it again when it dies, write its output to one log file."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from slowwave_server.workers.stack.backoff import next_delay

GUARDIAN = Path(__file__).with_name("guardian.py")
LOG_BYTES = 5_000_000
LOGS_KEPT = 3
SERVER_LINGER_SECONDS = 8.0
"""How long servers outlive a killed supervisor, so that workers can still give their work back to them."""

Say = Callable[[str, str], None]
"""Tells a person something: (name of the part, one line). Called from several threads."""


def _nothing() -> None:
    """Do nothing before a start."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run, and the way to stop it.

    grace_seconds: the time between the stop signal and SIGKILL. linger_seconds: the time between the death of the
    supervisor and the stop signal. stage: programs of the highest stage stop first. closing: the work that the program
    must finish before it ends, in words; such a program always gets its whole grace period. user: the system user to
    run as (None: this one). prepare: a function that is called before every start.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    stage: int = 1
    stop_signal: signal.Signals = signal.SIGTERM
    grace_seconds: float = 5.0
    linger_seconds: float = 0.0
    closing: str | None = None
    user: str | None = None
    folder: Path | None = None
    prepare: Callable[[], None] = _nothing


class Child:
    """A program that its own thread keeps running until a stop is requested.

    held: a descriptor that every guardian keeps open (-1: none). pid: the program's process id, None between two lives;
    deaths: the number of times that it ended without a request.
    """

    def __init__(self, program: Program, log: Path, say: Say, *, held: int = -1) -> None:
        self.program = program
        self.log = log
        self.pid: int | None = None
        self.started_at = 0.0
        self.deaths = 0
        self._say = say
        self._held = held
        self._stopping = threading.Event()
        self._asked = b""
        # Reentrant, because a signal handler may call `kill` while this thread is inside `stop`.
        self._lock = threading.RLock()
        self._control: socket.socket | None = None
        self._thread = threading.Thread(target=self._live, name=f"child {program.name}", daemon=True)

    def start(self) -> None:
        """Start the program. Returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Send the stop signal. Returns at once."""
        with self._lock:
            self._stopping.set()
            self._ask(b"stop\n")

    def kill(self) -> None:
        """Kill the program and all processes that it has started. Returns at once."""
        with self._lock:
            self._stopping.set()
            self._ask(b"kill\n")

    def wait(self, seconds: float) -> bool:
        """Wait until the program and all processes that it started are gone. False: not within the limit."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _ask(self, word: bytes) -> None:
        # Store the request: a program that is just being started gets it as soon as its socket exists.
        self._asked = word
        if self._control is not None:
            with suppress(OSError):
                self._control.sendall(word)

    def _live(self) -> None:
        delay = 0.0
        while not self._stopping.is_set():
            started = time.monotonic()
            ending = self._one_life()
            if self._stopping.is_set():
                return
            alive = time.monotonic() - started
            delay = next_delay(delay, alive)
            self.deaths += 1
            again = f"starting it again in {delay:g} s (log: {self.log})"
            self._say(self.program.name, f"{ending} after {alive:.0f} s; {again}")
            self._stopping.wait(delay)

    def _one_life(self) -> str:
        """Run the program once. Return in words how it ended."""
        try:
            self.program.prepare()
            rotate(self.log)
            guardian, control = self._spawn()
        except OSError as error:
            return f"could not be started ({error})"
        with self._lock:
            self._control = control
            if self._asked:
                self._ask(self._asked)
        code = self._listen(control)
        with self._lock:
            self._control = None
            control.close()
        guardian.wait()
        pid, self.pid = self.pid, None
        if code is None and pid is not None:
            # The guardian itself was killed, and its child died with it; this kills the rest of the group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        return describe(code)

    def _spawn(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        program = self.program
        arguments = [str(theirs.fileno()), str(self._held), program.user or "", str(int(program.stop_signal))]
        limits = (str(program.grace_seconds), str(program.linger_seconds))
        passed = (theirs.fileno(),) if self._held < 0 else (theirs.fileno(), self._held)
        try:
            with theirs, self.log.open("ab") as log:
                guardian = subprocess.Popen(  # noqa: S603  (the commands are this package's own)
                    [sys.executable, "-I", "-S", GUARDIAN, *arguments, *limits, *program.command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=dict(program.environment),
                    cwd=program.folder,
                    pass_fds=passed,
                    # Ctrl-C in the terminal must reach only the supervisor, which stops its children in order.
                    start_new_session=True,
                )
        except OSError:
            ours.close()
            raise
        return guardian, ours

    def _listen(self, control: socket.socket) -> int | None:
        """Read the guardian's messages to their end. Return the program's exit code, or None without one."""
        code = None
        with control.makefile("r", encoding="ascii") as lines, suppress(ConnectionError):
            for line in lines:
                word, _, value = line.strip().partition(" ")
                if word == "started":
                    self.started_at = time.time()
                    self.pid = int(value)
                elif word == "ended":
                    code = int(value)
        return code


def describe(code: int | None) -> str:
    """Return an exit code in words: "exited with code 1", "was killed by SIGKILL"."""
    if code is None:
        return "lost its guardian"
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def rotate(log: Path, *, limit: int = LOG_BYTES, kept: int = LOGS_KEPT, in_use: bool = False) -> None:
    """Move a log that has grown beyond `limit` bytes aside, to NAME.log.1 … NAME.log.KEPT.

    in_use: True if a program appends to it, so that it is copied and emptied. A line that is written in between is
    lost.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    if not log.exists() or log.stat().st_size <= limit:
        return
    for number in range(kept - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    newest = log.with_name(f"{log.name}.1")
    if in_use:
        shutil.copy2(log, newest)
        os.truncate(log, 0)
    else:
        log.replace(newest)
