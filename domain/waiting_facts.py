"""What is known of a session that may be waiting, and the shape of the answer.

Must not know: the rules that lead from one to the other, where the facts were read.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slowwave.coordination.outcomes import Sighting


class Reason(StrEnum):
    """Why a session is not flushed at this moment; one of them comes first."""

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
    """All that is known of a session at `now`; the columns have the meaning that the table `sessions` gives them.

    quarantined: its events that were set aside. flushed_at: its last committed flush.
    sighting: what the queue knows of it; None when the broker can't be reached.
    depths: messages in each queue, empty when unknown. listening: the queues that some worker takes from; None when
    nobody could be asked. swept_ago: seconds since the last sweep; None when there is no trace of one.
    source_runs: runs that a hook named and that are still to be read from the program which keeps them
    (memory.source); source_due_at: when the first of them is looked at next; source_error: what the last look found.
    closes_at: when the session counts as over (memory.sessions.session_ttl_minutes); None: never, or it did already.
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
    """The answer. `until`: the moment that ends the wait, where one is known; `cure`: what a person can do, if any."""

    reason: Reason
    sentence: str
    until: datetime | None = None
    also: tuple[str, ...] = ()
    cure: str | None = None
