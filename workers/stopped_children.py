"""Replace stopped (SIGSTOP) processes in a worker's pool: they look alive but do no work.

A stopped process gets jobs but begins none, and time limits count only after a job has begun. The worker's main process
still answers `slowwave doctor`, so the fault would stay hidden. If a process is stopped at two consecutive checks, the
main process kills it, and Celery starts another one and returns its job. A process under a debugger is not killed.
"""

import logging
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery import bootsteps

LOOK_SECONDS = 5.0

log = logging.getLogger(__name__)


def is_stopped(pid: int) -> bool:
    """Return True if a process is stopped; False without /proc, and for an ended process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    # PID (NAME) STATE …, where a name may contain any character.
    return told.rpartition(b")")[2].split()[:1] == [b"T"]


class StoppedChildren:
    """Checks the processes of a pool repeatedly, and remembers which were stopped at the last check."""

    def __init__(self) -> None:
        self._before: frozenset[int] = frozenset()

    def look(self, pids: Iterable[int]) -> frozenset[int]:
        """Kill children that were stopped at this check and at the one before. Return them."""
        stopped = frozenset(filter(is_stopped, pids))
        killed = stopped & self._before
        self._before = stopped - killed
        for pid in killed:
            log.error("the pool's process %d was stopped for more than %g s: it is replaced", pid, LOOK_SECONDS)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return killed


class ReplacesStopped(bootsteps.StartStopStep):
    """A part of a worker's consumer, for pools of processes."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        children = StoppedChildren()
        self._timer = consumer.timer.call_repeatedly(LOOK_SECONDS, lambda: children.look(_pids(consumer.pool)))

    def stop(self, _consumer: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _pids(pool: Any) -> list[int]:
    """Return the processes of a prefork pool; none for other pools."""
    processes = getattr(getattr(pool, "_pool", None), "_pool", ())
    return [process.pid for process in processes if isinstance(getattr(process, "pid", None), int)]
