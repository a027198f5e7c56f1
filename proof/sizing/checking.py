"""The model beside the machine: real workers get an open load, the model the very same turns at the measured costs.

Must not know: how either works inside.
"""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from proof.sizing.costs import Costs
from proof.sizing.outcome import Outcome, at_quantile
from proof.sizing.pipeline import ALL, Pipeline, Plan
from proof.sizing.queues import Pool
from proof.sizing.site import Site
from proof.sizing.traffic import Traffic, Turn, schedule
from slowwave import Memory
from slowwave.settings import AutoFlush

RULES = {"turn_threshold": 2, "idle_seconds": 2, "max_dirty_age_seconds": 20, "flush_interval_seconds": 1}
LOADS = (0.35, 0.7, 1.5)
SEED = 11
AGENTS = 200
PRODUCERS = 4
FIRST_OFFERED = 15.0
BEHIND = 0.75
"""Of what came in meanwhile; a little is always on its way."""
NARROW, WIDE = 0.7, 1.4
_LAGS = """
    SELECT extract(epoch FROM f.committed_at - e.recorded_at),
           extract(epoch FROM f.committed_at)::float8, extract(epoch FROM e.recorded_at)::float8
    FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id
    JOIN slowwave.flushes f ON f.session_id = s.id AND e.seq BETWEEN f.from_seq AND f.to_seq
    WHERE e.role = 'user' AND a.tenant = 'default' AND a.name LIKE %s
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of one run. load: of the capacity that the model reckons; offered: turns a second."""

    processes: int
    load: float
    offered: float
    what: str
    unit: str
    measured: float
    modelled: float

    @property
    def ratio(self) -> float:
        """Model over measurement."""
        return self.modelled / self.measured if self.measured else float("inf")

    @property
    def near(self) -> bool:
        """Whether the simulation is within the accepted band."""
        return NARROW <= self.ratio <= WIDE

    def to_json(self) -> dict[str, object]:
        """As the report keeps it."""
        return asdict(self) | {"ratio": self.ratio, "near": self.near}


def check(costs: Costs, seconds: float) -> Iterator[Compared]:
    """Run both, for each number of processes and each load, so long each."""
    changed: dict[str, object] = {f"memory.auto_flush.{name}": value for name, value in RULES.items()}
    for processes in (1, 2):
        capacity = saturated(costs, processes, seconds)
        with Site(**changed) as site:
            site.start_beat()
            site.start_worker(processes)
            for load in LOADS:
                offered = load * capacity
                yield from _compare(site, costs, processes, load, offered, seconds)


def saturated(costs: Costs, processes: int, seconds: float) -> float:
    """Turns a second that the model's workers read at most, when more come in than they can bear."""
    offered, window = FIRST_OFFERED, min(20.0, seconds)
    while True:
        traffic = Traffic(offered, AGENTS)
        outcome = Pipeline(_plan(processes), costs, SEED).run(schedule(traffic, window, SEED), window)
        came = sum(turn.at >= window / 2 for turn in schedule(traffic, window, SEED)) / (window / 2)
        read = _read(outcome, window)
        if read < BEHIND * came:
            return read
        offered *= 1.4


def _plan(processes: int) -> Plan:
    return Plan((Pool(processes, ALL),), shared_cores=os.cpu_count() or 1, rules=AutoFlush.model_validate(RULES))


def _simulated(costs: Costs, processes: int, traffic: Traffic, seconds: float) -> Outcome:
    return Pipeline(_plan(processes), costs, SEED).run(schedule(traffic, seconds, SEED), seconds * 2)


def _read(outcome: Outcome, seconds: float) -> float:
    """Turns a second that were read between half time and the end of the arrivals."""
    half = seconds / 2
    return sum(half <= at + lag < seconds for at, lag in outcome.lags) / half


def _compare(
    site: Site, costs: Costs, processes: int, load: float, offered: float, seconds: float
) -> Iterator[Compared]:
    traffic = Traffic(offered, AGENTS)
    name = f"c{processes}-{round(load * 100)}"
    began = time.time()
    _play(site, list(schedule(traffic, seconds, SEED)), name)
    if load < 1:
        site.until_read()
    rows = [(float(lag), float(done) - began, float(at) - began) for lag, done, at in _lags(site, name)]
    model = _simulated(costs, processes, traffic, seconds)
    half = seconds / 2
    read = sum(half <= done < seconds for _, done, _ in rows) / half

    def compared(what: str, unit: str, measured: float, modelled: float) -> Compared:
        return Compared(processes, load, offered, what, unit, measured, modelled)

    yield compared("turns read" if load < 1 else "turns read when full", "/s", read, _read(model, seconds))
    if load < 1:
        for quantile, what in ((0.5, "lag, median"), (0.95, "lag, p95")):
            measured = at_quantile([lag for lag, _, at in rows if at >= seconds / 6], quantile)
            yield compared(what, "s", measured, model.lag(quantile, seconds / 6))
    else:
        site.until_read()


def _lags(site: Site, name: str) -> list[tuple[float, float, float]]:
    return [(row[0], row[1], row[2]) for row in site.connection.execute(_LAGS.encode(), (f"{name}-%",))]


def _play(site: Site, turns: list[Turn], name: str) -> None:
    """Record all turns, each at its scheduled time or as soon as possible after it, without waiting for workers."""
    began = time.monotonic()

    def speak(part: list[Turn]) -> None:
        pause = threading.Event()
        for turn in part:
            pause.wait(max(0.0, began + turn.at - time.monotonic()))
            line = f"I have put thing number {turn.session} at {turn.at:.3f} on the shelf."
            said = [{"role": "user", "content": line}, {"role": "assistant", "content": "I see."}]
            memory.turn_completed(f"{name}-{turn.agent}", f"s{turn.session}", said)

    with Memory(site.settings) as memory:
        parts = [[turn for turn in turns if turn.session % PRODUCERS == part] for part in range(PRODUCERS)]
        threads = [threading.Thread(target=speak, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
