"""How much CPU processes have taken, by what they are: read from /proc, for everything that this process started.

Must not know: what they do.
"""

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
        """What was spent after `other`."""
        return Spent(self.postgres - other.postgres, self.workers - other.workers, self.here - other.here)


def spent() -> Spent:
    """As of now. What ended is counted with its parent, which has waited for it."""
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
    """The memory that a process holds for itself, with its part of what is shared; 0 for one that is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def descendants(pid: int) -> Iterator[int]:
    """Its children, theirs, and so on."""
    for child in children_of(pid):
        yield child
        yield from descendants(child)


def _words(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    return []


def _seconds(pid: int) -> float:
    """User and system time of a process and of those of its children that have ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return sum(int(fields[place]) for place in (11, 12, 13, 14)) / _TICK
    return 0.0
