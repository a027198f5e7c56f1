"""Simulated resources: shared cores, and the log of a database for which many commits wait at once.

Must not know: the work.
"""

from collections.abc import Callable, Generator
from typing import Any

import simpy

Step = Generator[Any, Any, None]


class Cores:
    """So many cores of one machine, first come, first served. busy_seconds: their total work."""

    def __init__(self, env: Any, count: int) -> None:
        self._env = env
        self._cores: Any = simpy.Resource(env, capacity=count)
        self.count = count
        self.busy_seconds = 0.0

    def work(self, seconds: float) -> Step:
        """Take a core for so long."""
        if seconds <= 0:
            return
        with self._cores.request() as turn:
            yield turn
            yield self._env.timeout(seconds)
        self.busy_seconds += seconds

    def used(self, seconds: float) -> float:
        """The part of them that was busy over so many seconds, 0..1."""
        return self.busy_seconds / (self.count * seconds)


class Log:
    """The write-ahead log: one write to the disk at a time, and each takes along every commit that waits."""

    def __init__(self, env: Any, write_seconds: Callable[[], float]) -> None:
        self._env = env
        self._write_seconds = write_seconds
        self._waiting: list[Any] = []
        self._writing = False
        self.commits = 0
        self.busy_seconds = 0.0

    def commit(self) -> Step:
        """Wait until the log is on the disk."""
        self.commits += 1
        done = self._env.event()
        self._waiting.append(done)
        if not self._writing:
            self._writing = True
            self._env.process(self._write())
        yield done

    def _write(self) -> Step:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            seconds = self._write_seconds()
            yield self._env.timeout(seconds)
            self.busy_seconds += seconds
            for done in batch:
                done.succeed()
        self._writing = False
