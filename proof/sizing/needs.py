"""Compute the needs of a million turns per day from the costs: workers, Postgres, Valkey, disk, model calls."""

from dataclasses import dataclass

from proof.sizing.costs import Cost, Costs

DAY_SECONDS = 86_400
MILLION = 1_000_000
GB = 1e9


@dataclass(frozen=True, slots=True)
class Assumed:
    """Assumptions. turns_per_flush: the number of turns in one window. peak: the busiest load divided by the mean.
    busy: the highest load of a part at this time.

    contexts_per_turn: the number of contexts that a reply reads. model_seconds, tokens: of one call, if a model is
    used. queued: the highest number of waiting messages.
    """

    turns_per_flush: float = 4.0
    peak: float = 4.0
    busy: float = 0.6
    contexts_per_turn: float = 1.0
    model_seconds: float = 3.0
    tokens: float = 1500.0
    queued: int = 1000


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs per million turns per day. Cores and slots are for the busiest time; commits and writes are per second at
    this time.
    """

    worker_processes: float
    model_slots: float
    postgres_cores: float
    postgres_cores_reads: float
    commits_per_second: float
    disk_writes_per_second: float
    log_gb_per_day: float
    gb_per_year: float
    valkey_cores: float
    valkey_mb: float
    calls_per_day: float
    tokens_per_day: float


def needs(costs: Costs, assumed: Assumed) -> Needs:
    """Compute the needs. Reads of contexts are separate, because a replica can serve them."""
    turn = _per_turn(costs, assumed.turns_per_flush)
    rate = MILLION / DAY_SECONDS * assumed.peak
    flushes = rate / assumed.turns_per_flush
    commits = rate + 3 * flushes
    day_bytes = MILLION * (costs.turn_bytes + costs.memories_per_turn * costs.memory_bytes)
    day_bytes += MILLION / assumed.turns_per_flush / 2 * costs.session_bytes
    return Needs(
        worker_processes=rate * turn.caller / assumed.busy,
        model_slots=flushes * (assumed.model_seconds + costs.flush.caller + costs.flush.postgres) / assumed.busy,
        postgres_cores=rate * turn.postgres / assumed.busy,
        postgres_cores_reads=rate * assumed.contexts_per_turn * costs.context.postgres / assumed.busy,
        commits_per_second=commits,
        disk_writes_per_second=min(commits, 1 / costs.wal_flush_seconds if costs.wal_flush_seconds else commits),
        log_gb_per_day=MILLION * costs.wal_bytes_per_turn / GB,
        gb_per_year=365 * day_bytes / GB,
        valkey_cores=rate * turn.valkey / assumed.busy,
        valkey_mb=assumed.queued * costs.message_bytes / 1e6,
        calls_per_day=MILLION / assumed.turns_per_flush,
        tokens_per_day=MILLION / assumed.turns_per_flush * assumed.tokens,
    )


def _per_turn(costs: Costs, turns: float) -> Cost:
    """Return the cost of a turn from its capture to its memories, without the client's."""
    further = (turns - 1) / turns
    each = 1 / turns
    shared = (costs.flush, costs.side, costs.sweep)
    return Cost(
        sum(cost.caller for cost in shared) * each + costs.flush_turn.caller * further,
        sum(cost.postgres for cost in shared) * each + costs.flush_turn.postgres * further + costs.capture.postgres,
        sum(cost.valkey for cost in shared) * each + costs.offer.valkey,
    )
