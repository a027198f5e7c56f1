"""The partitions of events: create partitions ahead of new sessions, and empty ones give their disk space back."""

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
    """How many partitions were made and emptied. busy: the table was in use, the next call does the rest."""

    made: int = 0
    emptied: int = 0
    busy: bool = False


def keep_partitions(engine: Engine, *, width: int = WIDTH) -> PartitionCounts:
    """Make partitions ahead of the sessions to come, empty those of which all was removed, and tell the planner.

    If it never runs, nothing is lost: the last partition has no upper bound. Doing it twice changes nothing more.
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
