"""The guardian of one child process: whatever happens to the child or to the supervisor, no process is left behind.

Run by its path as `python -I -S guardian.py CONTROL HELD USER STOP_SIGNAL GRACE LINGER COMMAND…`, standard library
only, so that it starts in milliseconds and imports nothing of the program that it guards:

    CONTROL      number of an inherited socket to the supervisor
    HELD         number of an inherited descriptor that stays open until the end (the lock of the data folder), or -1
    USER         system user to run the command as, or empty
    STOP_SIGNAL  number of the signal that asks the command to stop
    GRACE        seconds between that signal and SIGKILL
    LINGER       seconds between the end of the supervisor and the stop signal: servers outlive their clients

The guardian sends `started PID` and `ended CODE` (negative: a signal); it receives `stop` and `kill`. If the socket
ends, the supervisor was killed; this works on any Unix and without polling.

On Linux it adopts orphans of its descendants (PR_SET_CHILD_SUBREAPER). After the command has ended, it kills the
remaining processes, such as the pool processes of a killed worker or the backends of a killed Postgres, and only then
ends itself. It closes HELD last: while the lock is held, a process may still be running.
"""

import ctypes
import os
import pwd
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KILL_AGAIN_SECONDS = 0.5
_ASKED_TO_STOP = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wake_on_signals() -> socket.socket:
    """Return a socket on which every signal arrives as one byte, its number."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    reader.setblocking(False)
    signal.set_wakeup_fd(writer.detach(), warn_on_full_buffer=False)
    for number in (*_ASKED_TO_STOP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return reader


def _start(command: list[str], user: str) -> int:
    """Start the command as the leader of its own process group. Return its process id."""
    pid = os.fork()
    if pid:
        with suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        for number in (*_ASKED_TO_STOP, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        if user:
            entry = pwd.getpwnam(user)
            os.initgroups(user, entry.pw_gid)
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
        # After the change of user, which would clear the setting: if this guardian is killed, its child dies with it.
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.execvp(command[0], command)  # noqa: S606  (no shell is what is wanted)
    except OSError as error:
        sys.stderr.write(f"can't run {command[0]}: {error}\n")
        sys.stderr.flush()
    os._exit(127)


def _children() -> list[int]:
    """Return the direct children of this process, including adopted ones; empty without /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            parent = stat.read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                found.append(int(stat.parent.name))
    return found


def _reap(main: int) -> int | None:
    """Collect all children that have ended. Return the exit code of `main` if it is among them."""
    code = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == main:
                code = os.waitstatus_to_exitcode(status)
    return code


def _kill(main: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(main, signal.SIGKILL)


def _clear(main: int) -> None:
    """Kill and collect all remaining processes of the command."""
    _kill(main)
    while True:
        for pid in _children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            # Each child that ends leaves its own children to this process, hence the loop.
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


class _Ending:
    """The times at which to stop and to kill the command (monotonic seconds; None: never)."""

    def __init__(self) -> None:
        self.ask_at: float | None = None
        self.kill_at: float | None = None

    def ask_in(self, seconds: float) -> None:
        at = time.monotonic() + seconds
        self.ask_at = at if self.ask_at is None else min(at, self.ask_at)

    def seconds_left(self) -> float | None:
        """Return the seconds until the next action; None: no action."""
        at = self.ask_at if self.kill_at is None else self.kill_at
        return None if at is None else max(0.0, at - time.monotonic())

    def act(self, main: int, stop_signal: int, grace: float) -> None:
        """Perform the due action."""
        now = time.monotonic()
        if self.kill_at is not None and now >= self.kill_at:
            self.kill_at = now + _KILL_AGAIN_SECONDS
            _kill(main)
        elif self.kill_at is None and self.ask_at is not None and now >= self.ask_at:
            self.kill_at = now + grace
            with suppress(ProcessLookupError):
                os.kill(main, stop_signal)


def _watch(main: int, control: socket.socket, signals: socket.socket, how: tuple[int, float, float]) -> int:
    """Wait for the end of `main`, and stop it on request. Return its exit code. how: STOP_SIGNAL, GRACE, LINGER."""
    stop_signal, grace, linger = how
    sources: list[socket.socket] = [control, signals]
    ending = _Ending()
    while True:
        ready, _, _ = select.select(sources, [], [], ending.seconds_left())
        heard = signals.recv(4096) if signals in ready else b""
        code = _reap(main)
        if code is not None:
            return code
        if control in ready:
            said = control.recv(4096)
            if not said:
                sources.remove(control)
                ending.ask_in(linger)
            if b"stop" in said:
                ending.ask_in(0)
            if b"kill" in said:
                _kill(main)
        if _ASKED_TO_STOP.intersection(heard):
            ending.ask_in(0)
        ending.act(main, stop_signal, grace)


def main(arguments: list[str]) -> int:
    """Guard the command until it and all its processes have ended. Return 0."""
    control = socket.socket(fileno=int(arguments[0]))
    for inherited in (control.fileno(), int(arguments[1])):
        if inherited >= 0:
            os.set_inheritable(inherited, False)
    signals = _wake_on_signals()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child = _start(arguments[6:], arguments[2])
    with suppress(OSError):
        control.sendall(f"started {child}\n".encode())
    code = _watch(child, control, signals, (int(arguments[3]), float(arguments[4]), float(arguments[5])))
    _clear(child)
    with suppress(OSError):
        control.sendall(f"ended {code}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
