"""Explain why a session is not flushed now: domain.waiting finds the reason in the state of Postgres and Redis."""

from datetime import datetime, timedelta
from typing import Any

from redis.exceptions import RedisError
from sqlalchemy import Connection, RowMapping, func, select

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.outcomes import Sighting
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.waiting import waiting_for
from slowwave_server.domain.waiting_facts import Facts, Waiting
from slowwave_server.models import Agent, Event, Flush, Session, SourceRun
from slowwave_server.models.base import columns_of
from slowwave_server.services.lookup import find_session

_COLUMNS = (*columns_of(Session, Facts), Agent.deleted_at)


def why_waiting(
    connection: Connection,
    queue: FlushQueue,
    ref: SessionRef,
    rules: AutoFlush,
    *,
    now: datetime,
    listening: frozenset[str] | None = None,
    swept_ago: float | None = None,
    session_ttl: timedelta | None = None,
) -> Waiting:
    """Return the reason why session `ref` waits.

    listening: queues with a worker, None if the broker does not answer; swept_ago: seconds since the last sweep, None
    if unknown; session_ttl: a session without activity for this time counts as ended. If the broker can't be reached,
    the result says so, without an error. Raises UnknownName.
    """
    session = find_session(connection, ref.tenant, ref.agent, ref.session)
    query = (
        select(*_COLUMNS)
        .join_from(Session, Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == ref.tenant, Agent.id == session.agent_id, Session.id == session.id)
    )
    columns = connection.execute(query).mappings().one()
    sighting, depths = _seen(queue, ref)
    facts = Facts(
        **columns,
        now=now,
        quarantined=_quarantined(connection, session.id),
        flushed_at=_flushed_at(connection, session.id),
        sighting=sighting,
        depths=tuple(depths.items()),
        listening=listening,
        swept_ago=swept_ago,
        closes_at=_closes_at(columns, session_ttl),
        **_source(connection, session.id),
    )
    return waiting_for(facts, rules)


def _seen(queue: FlushQueue, ref: SessionRef) -> tuple[Sighting | None, dict[str, int]]:
    try:
        return queue.inspect(ref), queue.depths()
    except RedisError:
        return None, {}


def _closes_at(session: RowMapping, ttl: timedelta | None) -> datetime | None:
    """Return the time at which the session counts as over, unless it was already flushed for this reason."""
    if not ttl or session["invalidated_by"] in {"ttl", "stale"}:
        return None
    seen: datetime = session["last_seen_at"]
    return seen + ttl


def _source(connection: Connection, session_id: int) -> dict[str, Any]:
    """Return the unread runs of a session that another program keeps."""
    waits = select(func.count(), func.min(SourceRun.due_at), func.max(SourceRun.last_error))
    row = connection.execute(waits.where(SourceRun.session_id == session_id, SourceRun.due_at.is_not(None))).one()
    return {"source_runs": row[0], "source_due_at": row[1], "source_error": row[2]}


def _quarantined(connection: Connection, session_id: int) -> int:
    """Return events of the session that are still in quarantine; the ledger names their windows."""
    query = (
        select(func.count())
        .select_from(Flush)
        .join(Event, (Event.session_id == Flush.session_id) & Event.seq.between(Flush.from_seq, Flush.to_seq))
        .where(Flush.session_id == session_id, Flush.outcome == "quarantined", Event.quarantined_at.is_not(None))
    )
    return connection.execute(query).scalar_one()


def _flushed_at(connection: Connection, session_id: int) -> datetime | None:
    newest = select(Flush.committed_at).where(Flush.session_id == session_id).order_by(Flush.from_seq.desc()).limit(1)
    return connection.execute(newest).scalar()
