"""Measure each process of a deployment: cores and open files by psutil, memory by /proc (Linux).

Groups: worker-main, worker-fast (parents with their pools' children), beat, flower, postgres, valkey, producers.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)

Roots = Callable[[], Mapping[str, Sequence[int]]]
"""Answers the process ids at the head of each group, as they are now."""


@dataclass(frozen=True, slots=True)
class Cores:
    """CPU use in a stretch of time: cores used by group and by worker child; shares (0..1) of the whole machine's time.

    busy, waiting: shares of all cores, by all processes of the machine; others: cores used by processes outside the
    load.
    """

    groups: dict[str, float]
    children: dict[str, float]
    busy: float
    waiting: float
    others: float


class Meter:
    """Measures CPU time between two calls of `read`."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._before: dict[int, float] = {}
        self._machine: Any = psutil.cpu_times()
        self.read()

    def read(self) -> Cores:
        """Return the use since the last call."""
        machine = psutil.cpu_times()
        spent = {name: getattr(machine, name) - getattr(self._machine, name) for name in machine._fields}
        self._machine = machine
        # The time of guests is already part of the user time.
        total = sum(value for name, value in spent.items() if not name.startswith("guest")) or 1.0
        cores = psutil.cpu_count() or 1
        seconds = total / cores
        after: dict[int, float] = {}
        groups: dict[str, float] = {}
        children: dict[str, float] = {}
        for group, role, process in members(self._roots()):
            with suppress(*_GONE):
                times = process.cpu_times()
                after[process.pid] = times.user + times.system
                # A new process started in this stretch, or the meter did.
                used = (after[process.pid] - self._before.get(process.pid, after[process.pid])) / seconds
                groups[group] = groups.get(group, 0.0) + used
                if group.startswith("worker") and role == "child":
                    children[f"{group}/{process.pid}"] = used
        self._before = after
        waiting = spent.get("iowait", 0.0)
        busy = total - spent["idle"] - waiting
        others = max(0.0, busy / seconds - sum(groups.values()))
        return Cores(groups, children, busy / total, waiting / total, others)


def members(roots: Mapping[str, Sequence[int]]) -> list[tuple[str, str, psutil.Process]]:
    """Return every process of every group: (group, "head" or "child", process)."""
    found = []
    for group, pids in roots.items():
        for pid in pids:
            with suppress(*_GONE):
                head = psutil.Process(pid)
                found.append((group, "head", head))
                found += [(group, "child", process) for process in head.children(recursive=True)]
    return found


def footprint(process: psutil.Process) -> dict[str, float] | None:
    """Return {"rss", "pss", "own", "files"} of a process, in MB and as a number; None if it has ended.

    own: memory that grows in a leak: memory outside files (PSS, so a page that a pool's parent and children share
    counts proportionally for each). Postgres' shared buffers, which fill by design, are excluded.
    """
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
        files = process.num_fds()
    except (*_GONE, OSError):
        return None
    held = {name: float(value.split()[0]) / 1024 for name, value in (line.split(":", 1) for line in lines)}
    return {"rss": held["Rss"], "pss": held["Pss"], "own": held["Pss_Anon"], "files": float(files)}
