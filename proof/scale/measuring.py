"""Times an operation at both sizes in turn, and counts the buffers that it touches.

The two databases are in one server and alternate within each round, in changing order, so a disturbance affects both.
Buffers are counted in separate rounds, because reading the counters costs time.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proof.scale.place import Place

BUFFER_ROUNDS = 5
_BUFFERS = (
    "SELECT coalesce(sum(coalesce(hits, 0) + coalesce(reads, 0)), 0)::bigint FROM pg_stat_io"
    " WHERE backend_type = 'client backend' AND object = 'relation'"
)
_SETTLE = "SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()"

Step = Callable[[Place, int], Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the product. prepare: untimed setup; undo: untimed restore.

    The result of prepare is run's third argument. rounds: how often it is timed at each size. plan_as: the same over a
    connection that can be traced, if run uses one that can't.
    """

    name: str
    run: Callable[[Place, int, Any], Any]
    prepare: Step = lambda _place, _number: None
    undo: Step = lambda _place, _number: None
    rounds: int = 60
    plan_as: Callable[[Place, int, Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Of each round the milliseconds, and those on a processor (backends and this process; a busy machine makes the
    former longer, hardly the latter); of the rounds in which they were counted, the buffers.
    """

    milliseconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    buffers: list[int] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle of the rounds, in ms."""
        return statistics.median(self.milliseconds)

    @property
    def on_cpu(self) -> float:
        """The middle of the milliseconds on a processor."""
        return statistics.median(self.cpu)

    @property
    def p95(self) -> float:
        """The 95th percentile, in ms."""
        return statistics.quantiles(self.milliseconds, n=20)[-1]

    @property
    def touched(self) -> float:
        """The middle of the counted rounds."""
        return statistics.median(self.buffers)


def measure(operation: Operation, places: Sequence[Place]) -> list[Timing]:
    """Time an operation in each of these databases."""
    found = [Timing() for _ in places]
    # What a database that is in use reads again and again is in its caches; the smaller one's all is after a few.
    number, warm = 0, operation.rounds // 2
    for number in range(warm + operation.rounds):
        order = list(zip(places, found, strict=True))
        for place, timing in order if number % 2 else reversed(order):
            given = operation.prepare(place, number)
            spent, begun = place.cpu_ms(), time.perf_counter()
            operation.run(place, number, given)
            taken, spent = (time.perf_counter() - begun) * 1000, place.cpu_ms() - spent
            operation.undo(place, number)
            if number >= warm:
                timing.milliseconds.append(taken)
                timing.cpu.append(spent)
    for more in range(1, BUFFER_ROUNDS + 1):
        for place, timing in zip(places, found, strict=True):
            timing.buffers.append(_count_buffers(operation, place, number + more))
    return found


def _count_buffers(operation: Operation, place: Place, number: int) -> int:
    """Buffers that all backends touched meanwhile, less those of asking."""
    given = operation.prepare(place, number)
    before = _read_counter(place)
    operation.run(place, number, given)
    touched = _read_counter(place) - before
    operation.undo(place, number)
    return touched


def _read_counter(place: Place) -> int:
    """After every backend has handed in its figures: idle ones do that within a second when told to."""
    place.settle()
    place.run(_SETTLE)
    return int(place.run(_BUFFERS)[0][0])
