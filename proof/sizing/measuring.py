"""Measure the cost of one operation of each kind on this machine: real servers, real workers, CPU by process."""

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median, pstdev
from typing import TypedDict

from bench.due_sessions import LINES
from proof.sizing.costs import Cost, Costs
from proof.sizing.cpu import Spent, descendants, resident_bytes, spent
from proof.sizing.site import FLUSHES, Site
from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave_server.models.engine import make_engine
from slowwave_server.services.flush.sweep import request_flush, sweep

LONG = 5
WARM = 40
READS = 150
COMMITS = 200
IDLE_SECONDS = 5.0
ON_REQUEST: Mapping[str, object] = {
    "memory.auto_flush.turn_threshold": 1000,
    "memory.auto_flush.idle_seconds": 80_000,
}
"""Nothing is flushed that was not asked for."""
ALONE, LONGEST = 0.0, 10.0
"""How long a worker goes on with what waits behind its message, as `memory.auto_flush.batch_seconds`."""
_LSN = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"
_EMIT = b"SELECT pg_logical_emit_message(true, 'slowwave', 'sizing')"
_TIMES = b"""
    SELECT extract(epoch FROM committed_at - started_at) FROM slowwave.flushes ORDER BY id LIMIT %s
"""
_SIZES = b"""
    SELECT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, sum(pg_total_relation_size(c.oid))
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'slowwave' AND c.relkind = 'r' GROUP BY 1
"""
_OF_MEMORIES = {"memories", "memory_sources", "memory_changes", "memory_links", "triples", "outbox"}
_OF_SESSIONS = {"sessions", "session_days"}


class Bytes(TypedDict):
    """Stored bytes in Postgres per operation."""

    turn_bytes: float
    memory_bytes: float
    session_bytes: float
    memories_per_turn: float


@dataclass(frozen=True, slots=True)
class Tally:
    """The cost of a batch of operations: CPU by process, and Valkey's own count."""

    cpu: Spent
    valkey: float
    seconds: float

    def each(self, times: int, idle: "Tally | None" = None) -> Cost:
        """Return the cost of one operation, with workers as the caller, without the idle cost."""
        part = 0.0 if idle is None else self.seconds / idle.seconds
        rest = Spent(0.0, 0.0, 0.0) if idle is None else idle.cpu
        valkey = self.valkey - part * (0.0 if idle is None else idle.valkey)
        spent_each = (self.cpu.workers - part * rest.workers, self.cpu.postgres - part * rest.postgres, valkey)
        return Cost(*(max(0.0, seconds) / times for seconds in spent_each))


class Meter:
    """Measures between two moments."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._at = (spent(), self._valkey(), time.monotonic())

    def read(self) -> Tally:
        """Return the use since creation or the last reading."""
        before, self._at = self._at, (spent(), self._valkey(), time.monotonic())
        now = self._at
        return Tally(now[0].since(before[0]), now[1] - before[1], now[2] - before[2])

    def _valkey(self) -> float:
        told = self._site.redis.info("cpu")
        return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])


def measure(flushes: int) -> Costs:
    """Measure with this many flushes of each size; takes some minutes."""
    costs = _of_flushes_alone(flushes)
    return replace(costs, flush_taken=_taken(flushes))


def _of_flushes_alone(flushes: int) -> Costs:
    with Site(**ON_REQUEST, **{"memory.auto_flush.batch_seconds": ALONE}) as site:
        short = [SessionRef("default", f"agent{n}", f"short{n}") for n in range(flushes)]
        long = [SessionRef("default", f"agent{n}", f"long{n}") for n in range(flushes // 2)]
        began = site.value(_LSN)
        costs = replace(Costs(machine=machine()), capture=_captures(site, short, long))
        costs = _offers(site, short, costs)
        costs = replace(costs, wal_flush_seconds=_wal_flush_seconds(site))
        costs = _flushes(site, short, long, costs)
        turns = len(short) + LONG * len(long)
        wal = (site.value(_LSN) - began) / turns
        costs = replace(costs, wal_bytes_per_turn=wal, **_bytes(site, turns, len(short) + len(long)))
        return replace(costs, context=_reads(site, "context"), search=_reads(site, "search"))


def _taken(flushes: int) -> Cost:
    """Return the cost of windows with which a worker continues a batch: few messages, each with a long row of sessions
    behind it.
    """
    with Site(**ON_REQUEST, **{"memory.auto_flush.batch_seconds": LONGEST}) as site:
        refs = [SessionRef("default", f"agent{n}", f"taken{n}") for n in range(flushes)]
        _captures(site, refs, [])
        _ask(site, refs)
        site.start_worker(1)
        site.until_flushed(WARM)
        flush, _ = _drained(site, len(refs))
        return flush


def machine() -> str:
    """The measured machine."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "CPU")
    return f"{os.cpu_count()} cores ({model}), Linux {platform.release()}, Python {platform.python_version()}"


def _captures(site: Site, short: list[SessionRef], long: list[SessionRef]) -> Cost:
    calls = short + long * LONG
    with Memory(site.settings) as memory:
        memory.session_idle("warm", "up")
        meter = Meter(site)
        for number, ref in enumerate(calls):
            line = f"{LINES[number % len(LINES)]} Number {number}."
            turn = [{"role": "user", "content": line}, {"role": "assistant", "content": "I see."}]
            memory.turn_completed(ref.agent, ref.session, turn)
        tally = meter.read()
    return Cost(tally.cpu.here / len(calls), tally.cpu.postgres / len(calls))


def _offers(site: Site, refs: list[SessionRef], costs: Costs) -> Costs:
    queue = FlushQueue(site.redis)
    before = float(site.redis.info("memory")["used_memory"])
    meter = Meter(site)
    for ref in refs:
        queue.offer(ref, "normal")
    tally = meter.read()
    held = float(site.redis.info("memory")["used_memory"]) - before
    offer = Cost(tally.cpu.here / len(refs), 0.0, tally.valkey / len(refs))
    _ask(site, refs)
    return replace(costs, offer=offer, message_bytes=held / len(refs), sweep=_sweeps(site, len(refs)))


def _sweeps(site: Site, due: int) -> Cost:
    """The cost of each session that sweeps claim and enqueue. Raises RuntimeError if a session has no ticket yet.

    A sweep stops when the queue is long enough: here the queue holds all sessions.
    """
    engine, queue = make_engine(site.settings.database_url, autocommit=True), FlushQueue(site.redis)
    rules = site.settings.memory.auto_flush.model_copy(update={"max_queued": 2 * due})
    meter, taken = Meter(site), 0
    while taken < due:
        taken += (cycle := sweep(engine, queue, rules, datetime.now(UTC)).taken)
        if not cycle:
            raise RuntimeError(f"sweeps took {taken} of {due} sessions that are due: what one costs is not known")
    tally = meter.read()
    engine.dispose()
    # Valkey's cost of offers is included.
    return Cost(tally.cpu.here / taken, tally.cpu.postgres / taken)


def _ask(site: Site, refs: list[SessionRef]) -> None:
    engine = make_engine(site.settings.database_url)
    request_flush(engine, FlushQueue(site.redis), refs, by="request", priority="normal", now=datetime.now(UTC))
    engine.dispose()


def _flushes(site: Site, short: list[SessionRef], long: list[SessionRef], costs: Costs) -> Costs:
    worker = site.start_worker(1)
    site.until_flushed(WARM)
    flush, side = _drained(site, len(short))
    before = site.value(FLUSHES)
    _ask(site, long)
    site.until_flushed(before + WARM)
    of_long, _ = _drained(site, before + len(long))
    memory = sum(resident_bytes(pid) for pid in descendants(worker)) + resident_bytes(worker)
    rows = site.connection.execute(_TIMES, (len(short),))
    times = sorted(float(row[0]) for row in rows)[: int(0.99 * len(short))]  # without other work of the machine
    further = Cost(
        max(0.0, of_long.caller - flush.caller) / (LONG - 1),
        max(0.0, of_long.postgres - flush.postgres) / (LONG - 1),
    )
    spread = pstdev(times) / mean(times)
    return replace(costs, flush=flush, flush_turn=further, side=side, spread=spread, worker_bytes=memory)


def _drained(site: Site, flushes: float) -> tuple[Cost, Cost]:
    """Return the cost per flush until the ledger has this many, including follow-up tasks."""
    began = site.value(FLUSHES)
    meter = Meter(site)
    site.until_flushed(flushes)
    done = int(flushes - began)
    flushing = meter.read()
    site.until_quiet(lambda: spent().workers)
    after = meter.read()
    time.sleep(IDLE_SECONDS)
    idle = meter.read()
    return flushing.each(done, idle), after.each(done, idle)


def _wal_flush_seconds(site: Site) -> float:
    """Return how much longer a commit takes if it waits for the disk."""
    medians = []
    for mode in (b"on", b"off"):
        site.connection.execute(b"SET synchronous_commit = " + mode)
        times = []
        for _ in range(COMMITS):
            began = time.perf_counter()
            site.connection.execute(_EMIT)
            times.append(time.perf_counter() - began)
        medians.append(median(times))
    site.connection.execute(b"RESET synchronous_commit")
    return max(0.0, medians[0] - medians[1])


def _reads(site: Site, what: str) -> Cost:
    with Memory(site.settings) as memory:
        memory.context("agent0", "elsewhere")
        meter = Meter(site)
        for number in range(READS):
            if what == "context":
                memory.context(f"agent{number}", "elsewhere", "harbour")
            else:
                memory.search(f"agent{number}", "harbour")
        tally = meter.read()
    return Cost(tally.cpu.here / READS, tally.cpu.postgres / READS)


def _bytes(site: Site, turns: int, sessions: int) -> Bytes:
    site.connection.execute(b"VACUUM ANALYZE")
    sizes = {str(name).rsplit(".", 1)[-1]: float(size) for name, size in site.connection.execute(_SIZES)}
    memories = site.value("SELECT count(*) FROM slowwave.memories")
    of_memories = sum(size for name, size in sizes.items() if name in _OF_MEMORIES)
    of_sessions = sum(size for name, size in sizes.items() if name in _OF_SESSIONS)
    return {
        "turn_bytes": (sum(sizes.values()) - of_memories - of_sessions) / turns,
        "memory_bytes": of_memories / max(1.0, memories),
        "session_bytes": of_sessions / sessions,
        "memories_per_turn": memories / turns,
    }
