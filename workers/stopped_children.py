"""A worker replaces the processes of its pool that somebody stopped (SIGSTOP): they look alive, and work no more.

A stopped process gets jobs and begins none, and no time limit counts before a job begins. The worker's main process
still answers `slowwave doctor`, so the fault would stay hidden. If a process is stopped at two looks in a row, the main
process kills it, and Celery starts another and gives its job back. It leaves a process alone that a debugger holds.
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
    """Whether a process is stopped; False without /proc, and for an ended process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    # PID (NAME) STATE …, and a name may hold anything.
    return told.rpartition(b")")[2].split()[:1] == [b"T"]


class StoppedChildren:
    """Looks again and again at the processes of a pool; remembers which were stopped at the look before."""

    def __init__(self) -> None:
        self._before: frozenset[int] = frozenset()

    def look(self, pids: Iterable[int]) -> frozenset[int]:
        """Kill children that were stopped at this check and at the one before; return them."""
        stopped = frozenset(filter(is_stopped, pids))
        killed = stopped & self._before
        self._before = stopped - killed
        for pid in killed:
            log.error("the pool's process %d was stopped for more than %g s: it is replaced", pid, LOOK_SECONDS)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return killed


class ReplacesStopped(bootsteps.StartStopStep):
    """Part of a worker's consumer, for pools of processes."""

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
    """The processes of a prefork pool; of others none."""
    processes = getattr(getattr(pool, "_pool", None), "_pool", ())
    return [process.pid for process in processes if isinstance(getattr(process, "pid", None), int)]
