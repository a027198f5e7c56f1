"""CPU time of processes by kind: read from /proc, for all descendants of this process."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proof.servers import children_of

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds so far of Postgres, of workers, and of this process."""

    postgres: float
    workers: float
    here: float

    def since(self, other: "Spent") -> "Spent":
        """Return the use since `other`."""
        return Spent(self.postgres - other.postgres, self.workers - other.workers, self.here - other.here)


def spent() -> Spent:
    """Return the current values. An ended process counts with its parent, which has waited for the process."""
    postgres = workers = 0.0
    for pid in descendants(os.getpid()):
        words = _words(pid)
        if words and ("postgres" in Path(words[0]).name or words[0].startswith("postgres:")):
            postgres += _seconds(pid)
        elif "worker" in words:
            workers += _seconds(pid)
    times = os.times()
    return Spent(postgres, workers, times.user + times.system)


def resident_bytes(pid: int) -> int:
    """Return the memory of a process with its share of shared pages; 0 if the process has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def descendants(pid: int) -> Iterator[int]:
    """Return the children of a process, recursively."""
    for child in children_of(pid):
        yield child
        yield from descendants(child)


def _words(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    return []


def _seconds(pid: int) -> float:
    """Return user and system time of a process and of its ended children."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return sum(int(fields[place]) for place in (11, 12, 13, 14)) / _TICK
    return 0.0
