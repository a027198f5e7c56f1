"""The supervisor: keeps a set of programs running, and stops them in stages."""

import threading
import time
from itertools import groupby
from pathlib import Path

from slowwave_server.workers.stack.child import LOG_BYTES, Child, Program, Say, rotate

STOP_SECONDS = 8.0
LOOK_SECONDS = 10.0
"""How often the supervisor checks the size of the logs."""
# If the stop takes longer than this, the supervisor tells the user the reason.
_TELL_SECONDS = 3.0
# Added to a program's grace period: its guardian has to kill and collect the remaining processes.
_CLEARING_SECONDS = 1.0
_POLL_SECONDS = 0.2


class Supervisor:
    """Starts programs, reports when one died and is started again, and leaves no process behind.

    logs: the folder of the log files, one NAME.log for each program. held: a descriptor that stays open until the last
    process has ended. log_bytes: a larger log is rotated while its program runs. look_seconds: how often the size is
    checked.
    """

    def __init__(
        self, logs: Path, say: Say, *, held: int = -1, log_bytes: int = LOG_BYTES, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._logs = logs
        self._log_bytes = log_bytes
        self._look_seconds = look_seconds
        self._stopped = threading.Event()
        self._looker: threading.Thread | None = None
        self._say = say
        self._held = held
        self._children: dict[str, Child] = {}
        self._hurry = False

    def start(self, program: Program) -> Child:
        """Start a program and return its child. Raises ValueError for a name that is already in use."""
        if program.name in self._children:
            raise ValueError(f"{program.name} is already running")
        child = Child(program, self._logs / f"{program.name}.log", self._say, held=self._held)
        self._children[program.name] = child
        child.start()
        if self._looker is None:
            self._stopped.clear()
            self._looker = threading.Thread(target=self._look_at_logs, name="logs", daemon=True)
            self._looker.start()
        return child

    @property
    def children(self) -> dict[str, Child]:
        """The children by name."""
        return dict(self._children)

    def stop(self, within: float = STOP_SECONDS, tell_after: float = _TELL_SECONDS) -> None:
        """Stop all programs, the highest stage first; return when no process is left.

        within: the seconds after which the supervisor kills the programs that still run, even if their own grace period
        is longer. A program with `closing` gets its whole grace period; if it needs more than `tell_after` seconds, the
        supervisor reports that.
        """
        limit = time.monotonic() + within
        children = sorted(self._children.values(), key=lambda child: -child.program.stage)
        for _, stage in groupby(children, key=lambda child: child.program.stage):
            self._stop_stage(list(stage), limit, tell_after)
        self._children.clear()
        self._stopped.set()
        if self._looker is not None:
            self._looker.join()
            self._looker = None

    def hurry(self) -> None:
        """Kill instead of waiting: the effect of a second Ctrl-C. A signal handler may call it."""
        self._hurry = True
        for child in list(self._children.values()):
            child.kill()

    def _look_at_logs(self) -> None:
        while not self._stopped.wait(self._look_seconds):
            for child in list(self._children.values()):
                try:
                    rotate(child.log, limit=self._log_bytes, in_use=True)
                except OSError as error:
                    self._say(child.program.name, f"its log can't be renamed: {error}")

    def _stop_stage(self, stage: list[Child], limit: float, tell_after: float) -> None:
        asked = time.monotonic()
        for child in stage:
            if self._hurry:
                child.kill()
            else:
                child.stop()
        for child in stage:
            program = child.program
            own = asked + program.grace_seconds + _CLEARING_SECONDS
            if program.closing is None:
                self._end(child, min(limit, own))
                continue
            if not self._ended(child, asked + tell_after):
                self._say(program.name, f"is still {program.closing}; a second Ctrl-C ends it before that")
            self._end(child, own)

    def _ended(self, child: Child, deadline: float) -> bool:
        """Wait until the child has ended or until `deadline`; return whether the child has ended."""
        while not child.wait(_POLL_SECONDS):
            if time.monotonic() > deadline:
                return False
        return True

    def _end(self, child: Child, deadline: float) -> None:
        """Wait until the child has ended; after `deadline`, kill it and report that once."""
        if self._ended(child, deadline):
            return
        closing = child.program.closing
        how = "ends without it, and recovers at its next start"
        told = "did not stop in time; its processes are ended" if closing is None else f"was still {closing}: it {how}"
        self._say(child.program.name, told)
        child.kill()
        while not self._ended(child, time.monotonic() + _CLEARING_SECONDS):
            child.kill()
