"""The results of recording calls and of `Memory.status`."""

from dataclasses import dataclass
from typing import NamedTuple

from slowwave.store import Stored


class Receipt(NamedTuple):
    """The result of a recording call.

    Attributes:
        added: the number of new events.
        repeated: the number of events whose key the session already had; they changed nothing.
        ignored: the number of messages that Slowwave does not record: system messages, empty ones, and tool messages if
            `memory.tools.record` is off.
        last_seq: the sequence number of the session's last event; None unless `stored` is "postgres".
        due: True if the call made a flush of the session due.
        reason: the reason why the flush is due: "turns", "idle", "compaction" or "reset"; else None.
        stored: "postgres" (committed), "queued" (in this process) or "spool" (in a file on this host). For the last two
            `added` is the number of accepted events; the other fields are unknown.
    """

    added: int
    repeated: int
    ignored: int
    last_seq: int | None
    due: bool
    reason: str | None
    stored: Stored


@dataclass(frozen=True, slots=True)
class Status:
    """The backlog of a tenant.

    Attributes:
        dirty_sessions: the number of sessions with events that no flush has processed.
        oldest_dirty_seconds: the age of the oldest such session in seconds, or None.
        queues: the number of messages in each queue.
        spool_files: the number of files in this host's spool that wait for Postgres.
        spool_bytes: their size in bytes.
        rejected_files: the number of spooled files that Postgres refused.
    """

    dirty_sessions: int
    oldest_dirty_seconds: float | None
    queues: dict[str, int]
    spool_files: int
    spool_bytes: int
    rejected_files: int
