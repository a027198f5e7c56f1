"""Time an operation at both sizes in turn, and count the buffers that it touches.

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

    The result of prepare is run's third argument. rounds: the number of timed runs at each size.
    """

    name: str
    run: Callable[[Place, int, Any], Any]
    prepare: Step = lambda _place, _number: None
    undo: Step = lambda _place, _number: None
    rounds: int = 60


@dataclass(frozen=True, slots=True)
class Timing:
    """The milliseconds of each round, and the CPU milliseconds (backends and this process; a busy machine lengthens the
    former, hardly the latter); for the rounds in which they were counted, the buffers.
    """

    milliseconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    buffers: list[int] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Return the median of the rounds, in ms."""
        return statistics.median(self.milliseconds)

    @property
    def on_cpu(self) -> float:
        """Return the median of the CPU milliseconds."""
        return statistics.median(self.cpu)

    @property
    def p95(self) -> float:
        """Return the 95th percentile, in ms."""
        return statistics.quantiles(self.milliseconds, n=20)[-1]

    @property
    def touched(self) -> float:
        """Return the median of the buffers in the counted rounds."""
        return statistics.median(self.buffers)


def measure(operation: Operation, places: Sequence[Place]) -> list[Timing]:
    """Time an operation in each of these databases."""
    found = [Timing() for _ in places]
    # A database in use has its hot pages cached; the smaller one is completely cached after a few rounds.
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
    """Count the buffers that all backends touched, without those of the count itself."""
    given = operation.prepare(place, number)
    before = _read_counter(place)
    operation.run(place, number, given)
    touched = _read_counter(place) - before
    operation.undo(place, number)
    return touched


def _read_counter(place: Place) -> int:
    """Read the counter after every backend has reported its figures; idle ones report within a second on request."""
    place.settle()
    place.run(_SETTLE)
    return int(place.run(_BUFFERS)[0][0])
