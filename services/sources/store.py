"""Read and update the rows of runs that hooks have named: due runs, and the outcome of each."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Engine, text

from slowwave.identity import SessionRef

RETAKE_SECONDS = 30.0
"""After so long a session that was taken is due again: what was sent for it is lost, or still at work."""

MAX_LOOKS = 1000

Outcome = Literal["taken", "private", "gone", "failed"]

# The due time moves on with this statement, so that a lost message costs one wait and two ticks never take the same
# session.
_TAKE = text(
    "WITH due AS (SELECT r.session_id, min(r.due_at) AS since FROM slowwave.source_runs r WHERE r.due_at <= :now"
    " GROUP BY r.session_id ORDER BY since LIMIT :limit),"
    " moved AS (UPDATE slowwave.source_runs r SET due_at = :later FROM due"
    " WHERE r.session_id = due.session_id AND r.due_at <= :now RETURNING r.session_id)"
    " SELECT DISTINCT a.tenant, a.name AS agent, s.name AS session FROM moved"
    " JOIN slowwave.sessions s ON s.id = moved.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.deleted_at IS NULL"
)
_NAMED = text(
    "SELECT r.session_id, r.run_id, r.asked_at, r.due_at, r.looks, r.missing_since, r.taken"
    " FROM slowwave.source_runs r JOIN slowwave.sessions s ON s.id = r.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = :tenant AND a.name = :agent AND s.name = :session AND a.deleted_at IS NULL"
    " AND r.due_at IS NOT NULL ORDER BY r.asked_at, r.run_id"
)
# Compare-and-swap: if a run was named again in the meantime, it is read again.
_SETTLE = text(
    "UPDATE slowwave.source_runs r SET due_at = NULL, outcome = :outcome, taken = :taken, looks = 0,"
    " missing_since = NULL, last_error = :error"
    " WHERE r.session_id = :session_id AND r.run_id = :run_id AND r.asked_at = :asked_at"
)
_POSTPONE = text(
    "UPDATE slowwave.source_runs r SET due_at = :due_at, looks = :looks, missing_since = :missing_since,"
    " last_error = :error"
    " WHERE r.session_id = :session_id AND r.run_id = :run_id AND r.asked_at = :asked_at"
)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run that must still be read; for its fields see models.sources.SourceRun."""

    session_id: int
    run_id: str
    asked_at: datetime
    due_at: datetime
    looks: int
    missing_since: datetime | None
    taken: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A completed run. taken: the keys of all its messages that were recorded."""

    run: NamedRun
    outcome: Outcome
    taken: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Postponed:
    """A run to read again later. missing_since: when the store first lacked it; None if the store has it."""

    run: NamedRun
    due_at: datetime
    missing_since: datetime | None
    error: str | None = None


def take_due(engine: Engine, *, limit: int, now: datetime) -> list[SessionRef]:
    """Return sessions with due runs, the longest waiting first; each becomes due again after some time."""
    values = {"now": now, "limit": limit, "later": now + timedelta(seconds=RETAKE_SECONDS)}
    with engine.begin() as connection:
        rows = connection.execute(_TAKE, values).all()
    return [SessionRef(row.tenant, row.agent, row.session) for row in rows]


def named_runs(engine: Engine, ref: SessionRef) -> list[NamedRun]:
    """Return the unread runs of a session, including those that are not due yet."""
    names = {"tenant": ref.tenant, "agent": ref.agent, "session": ref.session}
    with engine.connect() as connection:
        rows = connection.execute(_NAMED, names).mappings().all()
    return [NamedRun(**{**row, "taken": tuple(row["taken"])}) for row in rows]


def note_outcomes(engine: Engine, outcomes: Iterable[Settled | Postponed]) -> None:
    """Store the outcomes of runs, all or none."""
    with engine.begin() as connection:
        for outcome in outcomes:
            connection.execute(_SETTLE if isinstance(outcome, Settled) else _POSTPONE, _values(outcome))


def _values(outcome: Settled | Postponed) -> dict[str, Any]:
    run = outcome.run
    values = {"session_id": run.session_id, "run_id": run.run_id, "asked_at": run.asked_at, "error": outcome.error}
    if isinstance(outcome, Settled):
        return values | {"outcome": outcome.outcome, "taken": sorted({*run.taken, *outcome.taken})}
    looks = min(run.looks + 1, MAX_LOOKS)
    return values | {"due_at": outcome.due_at, "looks": looks, "missing_since": outcome.missing_since}
