"""A day in Postgres: the reads before a summary, and the one statement that commits it.

Every transaction that writes something about a day first locks the agent's row in share mode and compares its epoch, so
that forgotten data is not written again (I10). A summary commits by compare-and-swap on the day's version. It counts
only the events that were read: later events stay pending.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from slowwave_server.domain.failures import backoff
from slowwave_server.domain.summaries import DaySummary
from slowwave_server.services.days.book import DayRef, DayStatus

_AGENT = text("""
SELECT a.epoch, a.time_zone, CAST(:day AS date) < slowwave.local_day(:now, a.time_zone, a.cutoff_hour) AS over
FROM slowwave.agents a WHERE a.id = :agent_id
""")
_DAY = text("""
SELECT y.version, y.status, y.last_summarized_total FROM slowwave.days y
WHERE (y.agent_id, y.scope_id, y.day) = (:agent_id, :scope_id, :day)
""")
_SESSIONS = text("""
SELECT d.session_id, s.name, d.total_messages AS total, d.summarized, d.removed, d.from_seq, d.to_seq
FROM slowwave.session_days d JOIN slowwave.sessions s ON s.id = d.session_id
WHERE d.agent_id = :agent_id AND d.day = :day AND d.scope_id = :scope_id
ORDER BY s.name COLLATE "C"
""")
_FENCE = text("SELECT a.epoch FROM slowwave.agents a WHERE a.id = :agent_id FOR SHARE")
_BEGIN = text("""
INSERT INTO slowwave.days AS y (agent_id, scope_id, day, attempts) VALUES (:agent_id, :scope_id, :day, 1)
ON CONFLICT (agent_id, scope_id, day) DO UPDATE SET attempts = least(y.attempts + 1, 1000), not_before = :again_at
WHERE y.version = :version
""")
_END = text("""
UPDATE slowwave.days y SET attempts = 0, not_before = NULL
WHERE (y.agent_id, y.scope_id, y.day) = (:agent_id, :scope_id, :day) AND y.version = :version
""")
_ATTEMPTS = text("""
SELECT y.attempts FROM slowwave.days y
WHERE (y.agent_id, y.scope_id, y.day) = (:agent_id, :scope_id, :day) FOR UPDATE
""")
_COMMIT = text("""
SELECT c.outcome, c.status, c.version FROM slowwave.commit_day(
    :agent_id, :scope_id, :day, :epoch, :version, :over, :final, CAST(:sessions AS bigint[]),
    CAST(:totals AS integer[]), :segments, :text, CAST(:lines AS jsonb), :summarizer, :now) AS c
""")
_SETTLE_EMPTY = text("""
UPDATE slowwave.days y SET
    status = 'final', last_summarized_total = 0, finalized_at = :now, attempts = 0, not_before = NULL, last_error = NULL
WHERE (y.agent_id, y.scope_id, y.day) = (:agent_id, :scope_id, :day) AND y.version = :version AND NOT EXISTS (
    SELECT FROM slowwave.session_days d
    WHERE d.agent_id = y.agent_id AND d.day = y.day AND d.scope_id = y.scope_id)
""")
_FAIL = text("""
UPDATE slowwave.days y SET not_before = :again_at, last_error = :error
WHERE (y.agent_id, y.scope_id, y.day) = (:agent_id, :scope_id, :day)
""")


class Forgotten(Exception):
    """The agent, or a session of the day, was forgotten after the day was read: nothing may be written."""


@dataclass(frozen=True, slots=True)
class SessionCount:
    """Counts of a session's events of the day when the day was read. total: the number of all events; removed: the
    number that retention removed; from_seq, to_seq: the range of the other events.
    """

    session_id: int
    name: str
    total: int
    summarized: int
    removed: int
    from_seq: int
    to_seq: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A day as it was read. epoch, time_zone: values of its agent; over: True if its local day has ended; status: the
    stored status, None without a row; version: the version of the newest summary, 0 without a summary.
    """

    epoch: int
    time_zone: str
    over: bool
    status: DayStatus | None
    version: int
    last_summarized_total: int
    sessions: tuple[SessionCount, ...]

    @property
    def total(self) -> int:
        return sum(session.total for session in self.sessions)

    def has_all(self) -> bool:
        """Return True if the newest summary was made from all events of the day."""
        counted = all(session.summarized == session.total for session in self.sessions)
        return self.version > 0 and counted and self.last_summarized_total == self.total


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a commit for a day."""

    status: DayStatus
    version: int


def read_day(engine: Engine, day: DayRef, now: datetime) -> Reading | None:
    """Read a day. Return None if its agent was deleted."""
    with engine.connect() as connection:
        agent = connection.execute(_AGENT, key_of(day) | {"now": now}).first()
        # Read the version first: if the counts are newer than the version, a swap fails, and no swap can reduce the
        # counts.
        row = connection.execute(_DAY, key_of(day)).first()
        sessions = tuple(SessionCount(**r) for r in connection.execute(_SESSIONS, key_of(day)).mappings())
    if agent is None:
        return None
    version, status, total = row or (0, None, 0)
    return Reading(agent.epoch, agent.time_zone, agent.over, status, version, total, sessions)


@contextmanager
def fenced(engine: Engine, day: DayRef, epoch: int) -> Iterator[Connection]:
    """Open a transaction about a day. Raises Forgotten if its agent has another epoch or is deleted."""
    with engine.begin() as connection:
        if connection.execute(_FENCE, key_of(day)).scalar() != epoch:
            raise Forgotten
        yield connection


def begin_attempt(engine: Engine, day: DayRef, reading: Reading, now: datetime) -> bool:
    """Increment the day's attempt counter before the work starts, so that an attempt that kills its worker counts.

    From the second attempt on, the next attempt waits for a back-off, as after any failure.

    Returns:
        False if another worker has written a summary since `reading`. In this case the counter is not changed: it would
        never be reset on a final day, and retention skips days with a counted attempt.

    Raises:
        Forgotten: the agent's data was forgotten since `reading`.
    """
    with fenced(engine, day, reading.epoch) as connection:
        before = _attempts(connection, day)
        again_at = now + _delay(day, before) if before else None
        values = key_of(day) | {"version": reading.version, "again_at": again_at}
        return connection.execute(_BEGIN, values).rowcount > 0


def end_attempt(engine: Engine, day: DayRef, reading: Reading) -> None:
    """Reset the attempt counter after an attempt that had nothing to write. Raises Forgotten."""
    with fenced(engine, day, reading.epoch) as connection:
        connection.execute(_END, key_of(day) | {"version": reading.version})


def commit_summary(
    engine: Engine,
    day: DayRef,
    reading: Reading,
    summary: DaySummary,
    *,
    final: bool,
    segments: int,
    summarizer: str,
    now: datetime,
) -> Written | None:
    """Write a summary as the next version. Return None if another worker was faster.

    The day becomes final if it has ended and no event arrived after it was read. Raises Forgotten.
    """
    values = key_of(day) | {
        "epoch": reading.epoch,
        "version": reading.version,
        "over": reading.over,
        "final": final,
        "sessions": [session.session_id for session in reading.sessions],
        "totals": [session.total for session in reading.sessions],
        "segments": segments,
        "text": summary.text,
        "lines": json.dumps([line.to_json() for line in summary.lines]),
        "summarizer": summarizer,
        "now": now,
    }
    # One statement that commits itself: a worker that is stopped here holds no lock for which a capture waits.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        answer = connection.execute(_COMMIT, values).one()
    if answer.outcome == "forgotten":
        raise Forgotten
    return Written(answer.status, answer.version) if answer.outcome == "written" else None


def settle_empty(engine: Engine, day: DayRef, reading: Reading, now: datetime) -> None:
    """Make a day without events final, so that no later job reads it. Raises Forgotten."""
    with fenced(engine, day, reading.epoch) as connection:
        connection.execute(_SETTLE_EMPTY, key_of(day) | {"version": reading.version, "now": now})


def note_failure(engine: Engine, day: DayRef, error: Exception, now: datetime) -> str:
    """Store a failed attempt and the day's next due time. Return the stored error text."""
    said = describe(error)
    with engine.begin() as connection:
        again_at = now + _delay(day, max(_attempts(connection, day), 1))
        connection.execute(_FAIL, key_of(day) | {"again_at": again_at, "error": said})
    return said


def describe(error: Exception) -> str:
    """Return an error's class and the database's code, without its text, which may quote a conversation."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    code = getattr(cause, "sqlstate", None)
    return type(cause).__name__ + (f" ({code})" if code else "")


def _attempts(connection: Connection, day: DayRef) -> int:
    return int(connection.execute(_ATTEMPTS, key_of(day)).scalar() or 0)


def _delay(day: DayRef, attempts: int) -> timedelta:
    # The day itself determines the jitter, so that days that failed together are not retried together.
    jitter = (day.agent_id * 31 + day.scope_id * 17 + day.day.toordinal()) % 100 / 100
    return timedelta(seconds=backoff(attempts, jitter))


def key_of(day: DayRef) -> dict[str, Any]:
    """Return the key of a day's row, as bound values."""
    return {"agent_id": day.agent_id, "scope_id": day.scope_id, "day": day.day}
