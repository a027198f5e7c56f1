"""The state of a tenant, as JSON."""

from slowwave_server.workers.gateway.schemas.shapes import Answer


class Lag(Answer):
    """Seconds from the arrival of an event to the commit of its memories; null without a flush in the last hour."""

    p50_seconds: float | None
    p95_seconds: float | None


class Status(Answer):
    """The backlog, the time from turn to memory, and failures. Flushes: of the last hour, by outcome."""

    tenant: str
    queues: dict[str, int] | None
    dirty_sessions: int
    more_dirty: bool
    events_waiting: int
    oldest_dirty_seconds: float | None
    backing_off: int
    overdue: int
    flushes: dict[str, int]
    left_to_rules: dict[str, int]
    lag: Lag
    quarantined: int
    dead_letters: int
    failed_notes: int
    failed_days: int
    backends: dict[str, int]
    without_rules: dict[str, int]
