"""Maintain partitions of events: create those of future sessions, release the disk space of empty ones."""

from dataclasses import dataclass

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

WIDTH = 1_000_000
"""The number of sessions in one partition: about ten million events, whose index fits into a small server's memory."""

_EXTEND = text("SELECT slowwave.add_event_partitions(:width)")
_EMPTY = text("SELECT slowwave.truncate_empty_partitions()")
_ANALYZE = text("SELECT slowwave.analyze_events()")
_IN_USE = frozenset({"55P03", "40P01"})
"""Postgres: lock_not_available, deadlock_detected: a capture holds one partition and waits for another."""


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """Created and emptied partitions. busy: the table was in use; the next call continues."""

    made: int = 0
    emptied: int = 0
    busy: bool = False


def keep_partitions(engine: Engine, *, width: int = WIDTH) -> PartitionCounts:
    """Create partitions for future sessions, truncate partitions without remaining rows, and update the planner's
    statistics.

    If this never runs, no data is lost, because the last partition has no upper bound. A second call changes nothing
    more.
    """
    made = emptied = 0
    try:
        with engine.begin() as connection:
            made = connection.execute(_EXTEND, {"width": width}).scalar_one()
        with engine.begin() as connection:
            emptied = connection.execute(_EMPTY).scalar_one()
        with engine.begin() as connection:
            connection.execute(_ANALYZE)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in _IN_USE:
            raise
        return PartitionCounts(made, emptied, busy=True)
    return PartitionCounts(made, emptied)
