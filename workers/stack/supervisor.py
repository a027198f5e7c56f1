"""The supervisor: keeps a set of programs running, and stops them in stages.

Must not know: what the programs are.
"""

import time
from itertools import groupby
from pathlib import Path

from slowwave_server.workers.stack.child import Child, Program, Say

STOP_SECONDS = 8.0
# Beyond a program's own grace: its guardian has to kill and collect what is left.
_CLEARING_SECONDS = 1.0
_POLL_SECONDS = 0.2


class Supervisor:
    """Starts programs, says when one died and is started again, and leaves none behind.

    logs: folder of the log files, NAME.log each. held: a descriptor that stays open until the last process is gone.
    """

    def __init__(self, logs: Path, say: Say, *, held: int = -1) -> None:
        self._logs = logs
        self._say = say
        self._held = held
        self._children: dict[str, Child] = {}
        self._hurry = False

    def start(self, program: Program) -> Child:
        """Start a program and answer its child. Raises ValueError for a name that is already there."""
        if program.name in self._children:
            raise ValueError(f"{program.name} is already running")
        child = Child(program, self._logs / f"{program.name}.log", self._say, held=self._held)
        self._children[program.name] = child
        child.start()
        return child

    @property
    def children(self) -> dict[str, Child]:
        """The children by name."""
        return dict(self._children)

    def stop(self, within: float = STOP_SECONDS) -> None:
        """Stop everything, the highest stage first; returns when no process is left.

        within: seconds after which whoever is still there is killed, however long its own grace.
        """
        limit = time.monotonic() + within
        children = sorted(self._children.values(), key=lambda child: -child.program.stage)
        for _, stage in groupby(children, key=lambda child: child.program.stage):
            self._stop_stage(list(stage), limit)
        self._children.clear()

    def hurry(self) -> None:
        """Kill instead of waiting: what a second Ctrl-C asks for. May be called from a signal handler."""
        self._hurry = True
        for child in list(self._children.values()):
            child.kill()

    def _stop_stage(self, stage: list[Child], limit: float) -> None:
        asked = time.monotonic()
        for child in stage:
            if self._hurry:
                child.kill()
            else:
                child.stop()
        for child in stage:
            deadline = min(limit, asked + child.program.grace_seconds + _CLEARING_SECONDS)
            while not child.wait(_POLL_SECONDS):
                if time.monotonic() > deadline:
                    self._say(child.program.name, "did not stop in time and is killed")
                    child.kill()
                    deadline = time.monotonic() + _CLEARING_SECONDS
