"""The known facts about a session that may be waiting, and the shape of the answer."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slowwave.coordination.outcomes import Sighting


class Reason(StrEnum):
    """The reason why a session is not flushed now; exactly one reason is the main one."""

    CLEAN = "clean"
    SOURCE = "source"
    FORGOTTEN = "forgotten"
    RUNNING = "running"
    BACKING_OFF = "backing off"
    NO_BROKER = "no broker"
    PARKED = "parked"
    NO_WORKER = "no worker"
    QUEUED = "queued"
    SWITCHED_OFF = "switched off"
    NO_SWEEP = "no sweep"
    DUE = "due"
    LOOK_AGAIN = "look again"
    TIMER = "timer"
    STRANDED = "stranded"


@dataclass(frozen=True, slots=True)
class Facts:
    """All known facts about a session at `now`. Fields with the name of a column of `sessions` have the column's
    meaning.

    quarantined: the number of its events in quarantine. flushed_at: the time of its last committed flush. sighting: the
    state of its message in the queue; None if the broker is unreachable. depths: the number of messages in each queue,
    empty if unknown. listening: the queues that some worker consumes; None if no worker could be asked. swept_ago: the
    seconds since the last sweep; None if unknown. source_runs: the number of runs that a hook named and that a worker
    must still read from the program with the conversation (memory.source); source_due_at: the time of the next read of
    the first such run;
    source_error: the error of the last read. closes_at: the time at which the session counts as over
    (memory.sessions.session_ttl_minutes); None: never, or it is over already.
    """

    now: datetime
    last_seq: int
    processed_until: int
    last_turn: int
    processed_turn: int
    last_seen_at: datetime
    dirty_since: datetime | None = None
    invalidated_at: int | None = None
    invalidated_by: str | None = None
    flush_due_at: datetime | None = None
    not_before: datetime | None = None
    attempts: int = 0
    failures: int = 0
    window_limit: int | None = None
    last_error: str | None = None
    deleted_at: datetime | None = None
    quarantined: int = 0
    flushed_at: datetime | None = None
    sighting: Sighting | None = None
    depths: tuple[tuple[str, int], ...] = ()
    listening: frozenset[str] | None = None
    swept_ago: float | None = None
    source_runs: int = 0
    source_due_at: datetime | None = None
    source_error: str | None = None
    closes_at: datetime | None = None

    @property
    def dirty(self) -> bool:
        return self.last_seq > self.processed_until


@dataclass(frozen=True, slots=True)
class Waiting:
    """The answer. until: the time at which the wait ends, if known; cure: an action for a person, if any."""

    reason: Reason
    sentence: str
    until: datetime | None = None
    also: tuple[str, ...] = ()
    cure: str | None = None
