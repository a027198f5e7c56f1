"""Unit costs of operations: CPU seconds by process, seconds of waiting, stored bytes."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of one operation. caller: the client or the worker's child and parent together."""

    caller: float = 0.0
    postgres: float = 0.0
    valkey: float = 0.0


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs that the report shows and computes needs from.

    flush: a window of one turn, including its message; flush_taken: a window of a batch, without a message of its own;
    flush_turn: each further turn of either. side: follow-up tasks of a flush (the day's summary and others). spread:
    the standard deviation of a flush's time divided by its mean. wal_flush_seconds: the seconds of one write of
    Postgres' log to the disk, which waiting commits share. sweep: the cost of each session that a sweep enqueues.
    *_bytes: the bytes stored in Postgres (with indexes), in its log, or in Valkey, and the memory of a worker with one
    process. machine: the measured machine.
    """

    machine: str = "nominal"
    capture: Cost = Cost(150e-6, 400e-6)
    offer: Cost = Cost(40e-6, 0.0, 20e-6)
    flush: Cost = Cost(4e-3, 3e-3, 150e-6)
    flush_turn: Cost = Cost(0.5e-3, 0.4e-3)
    side: Cost = Cost(1e-3, 0.5e-3, 50e-6)
    sweep: Cost = Cost(50e-6, 100e-6, 20e-6)
    context: Cost = Cost(300e-6, 2e-3)
    search: Cost = Cost(300e-6, 2e-3)
    flush_taken: Cost = Cost(2e-3, 2.5e-3, 100e-6)
    spread: float = 0.5
    wal_flush_seconds: float = 2e-3
    turn_bytes: float = 1500.0
    memory_bytes: float = 2500.0
    session_bytes: float = 1000.0
    memories_per_turn: float = 0.5
    wal_bytes_per_turn: float = 20_000.0
    message_bytes: float = 1200.0
    worker_bytes: float = 120e6

    def save(self, file: Path) -> None:
        """Write the costs as JSON."""
        file.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


def load_costs(file: Path) -> Costs:
    """Read the output of `save`. Raises OSError and ValueError."""
    tree = json.loads(file.read_text(encoding="utf-8"))
    kinds = {each.name: each.type for each in fields(Costs)}
    values: dict[str, Any] = {name: Cost(**value) if kinds[name] is Cost else value for name, value in tree.items()}
    return Costs(**values)
