"""Plan the faults of a run with their times and durations, from a seed: the same seed gives the same plan.

    lane        its faults, one after the other
    valkey      FLUSHALL, stop, kill, pause of the server; messages copied, delayed, lost
    postgres    immediate stop, pause, connections cut; a stop while the spools' disk is full
    processes   kill -9 of a worker's child, of its parent, of a parent whose children live on, of beat, of a talker
    around      the domain's clock ahead and behind; a model that is slow, refuses, or hangs up

Lanes run at the same time: faults of different kinds overlap, and those of one server never do.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

Lane = Literal["valkey", "postgres", "processes", "around"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault. seconds: the bounds of its duration, (0, 0) for an instant fault; weight: its relative
    frequency.
    """

    name: str
    lane: Lane
    seconds: tuple[float, float]
    weight: int
    says: str


KINDS: tuple[Kind, ...] = (
    Kind("flushall", "valkey", (0, 0), 3, "everything in Valkey is deleted"),
    Kind("valkey-stop", "valkey", (1, 6), 2, "Valkey is stopped (TERM) and started again"),
    Kind("valkey-kill", "valkey", (0.5, 4), 2, "Valkey is killed and started again"),
    Kind("valkey-pause", "valkey", (11, 15), 1, "Valkey is suspended for longer than timeouts and leases"),
    Kind("messages-copied", "valkey", (0, 0), 3, "every message in the queues is duplicated"),
    Kind("messages-held", "valkey", (2, 12), 3, "messages are removed and put back later"),
    Kind("messages-lost", "valkey", (0, 0), 2, "messages are removed permanently"),
    Kind("postgres-stop", "postgres", (0.5, 5), 3, "Postgres is stopped at once (QUIT) and started again"),
    Kind("postgres-pause", "postgres", (11, 14), 1, "Postgres is suspended for longer than a statement may take"),
    Kind("postgres-cut", "postgres", (0, 0), 4, "every connection to Postgres is ended"),
    Kind("spool-full", "postgres", (2, 5), 2, "Postgres is stopped and the disk of the spools is full"),
    Kind("worker-child", "processes", (0, 0), 4, "a child of a worker is killed"),
    Kind("worker-parent", "processes", (0, 0), 3, "a worker is killed, its children with it"),
    Kind("worker-orphans", "processes", (1, 6), 2, "a worker is killed, its children live a while longer"),
    Kind("beat", "processes", (0, 0), 2, "beat is killed"),
    Kind("talker", "processes", (0, 0), 4, "a process of agents is killed in the middle of a call"),
    Kind("clock-ahead", "around", (2, 10), 2, "the workers' clock is ahead, by minutes or hours"),
    Kind("clock-behind", "around", (2, 10), 2, "the workers' clock is behind, by minutes or hours"),
    Kind("model-slow", "around", (5, 12), 1, "the model takes 6 s for each answer"),
    Kind("model-limited", "around", (3, 8), 1, "the model answers 429"),
    Kind("model-broken", "around", (3, 8), 1, "the model answers 503"),
    Kind("model-cut", "around", (3, 8), 1, "the model hangs up in the middle of its answer"),
)
LONG_POSTGRES_PAUSE = 33.0
"""One pause of a long run lasts longer than a worker's statement may take (30 s)."""
_ROOM_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. at: its start in seconds after the plan's; seconds: its duration; pick: a number from 0 to 1 that
    selects its target.
    """

    number: int
    kind: Kind
    at: float
    seconds: float
    pick: float

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.number:3d}  +{self.at:6.1f} s  {self.kind.name}{lasting}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Faults in the order of their start, and the total duration."""

    seed: int
    faults: tuple[Fault, ...]
    seconds: float

    def of(self, lane: Lane) -> list[Fault]:
        """Return the faults of one lane, in order."""
        return [fault for fault in self.faults if fault.kind.lane == lane]


def draw(seed: int, count: int, seconds: float, *, without: Sequence[str] = (), short: bool = False) -> Plan:
    """Draw `count` faults over `seconds`, longer if needed; each kind at least once if there is room.

    without: kinds that are impossible here. short: True for the shortest durations, and no pause of half a minute.
    """
    chance = Random(seed)
    kinds = [kind for kind in KINDS if kind.name not in without]
    chosen = chance.sample(kinds, min(count, len(kinds)))
    chosen += chance.choices(kinds, [kind.weight for kind in kinds], k=count - len(chosen))
    chance.shuffle(chosen)
    lasting = [_lasting(chance, kind, short=short) for kind in chosen]
    if not short and "postgres-pause" in (names := [kind.name for kind in chosen]):
        lasting[names.index("postgres-pause")] = LONG_POSTGRES_PAUSE
    whole = max([seconds, *(_needed(chosen, lasting, lane) for lane in Counter(kind.lane for kind in chosen))])
    placed: list[tuple[float, Kind, float]] = []
    for lane in ("valkey", "postgres", "processes", "around"):
        own = [(kind, length) for kind, length in zip(chosen, lasting, strict=True) if kind.lane == lane]
        placed += _spread(chance, own, whole)
    placed.sort(key=lambda one: one[0])
    faults = tuple(Fault(n, kind, at, length, chance.random()) for n, (at, kind, length) in enumerate(placed, start=1))
    return Plan(seed, faults, whole)


def _lasting(chance: Random, kind: Kind, *, short: bool) -> float:
    least, most = kind.seconds
    return round(least if short else chance.uniform(least, most), 1)


def _needed(kinds: Sequence[Kind], lasting: Sequence[float], lane: Lane) -> float:
    return sum(length + _ROOM_SECONDS for kind, length in zip(kinds, lasting, strict=True) if kind.lane == lane)


def _spread(chance: Random, own: Sequence[tuple[Kind, float]], whole: float) -> list[tuple[float, Kind, float]]:
    """Return start times of a lane: its free time is distributed at random, with some room after each fault."""
    free = whole - sum(length + _ROOM_SECONDS for _, length in own)
    cuts = sorted(chance.uniform(0, free) for _ in own)
    begun, placed = 0.0, []
    for cut, (kind, length) in zip(cuts, own, strict=True):
        placed.append((round(cut + begun, 1), kind, length))
        begun += length + _ROOM_SECONDS
    return placed
