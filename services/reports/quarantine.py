"""List events in quarantine, which no flush could process, each with the error of its last flush."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from slowwave_server.models import Agent, Event, Flush, Session
from slowwave_server.services.memories.masking import masked


@dataclass(frozen=True, slots=True)
class QuarantinedEvent:
    """One event in quarantine, in full, with the error. window: the number of its window, which orders the list."""

    window: int
    agent: str
    session: str
    seq: int
    role: str
    name: str | None
    content: str
    happened_at: datetime
    quarantined_at: datetime
    error: str | None


def list_quarantined(
    connection: Connection,
    tenant: str,
    *,
    agent: str | None = None,
    session: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> list[QuarantinedEvent]:
    """List the newest `limit` events of `tenant` in quarantine. If an agent or a session is given, only its events.

    before: only events of windows with a smaller number. A quarantined window holds one event.
    """
    query = _of_tenant(
        select(
            Flush.id.label("window"),
            Agent.name.label("agent"),
            Session.name.label("session"),
            Event.seq,
            Event.role,
            Event.name,
            Event.content,
            Event.happened_at,
            Event.quarantined_at,
            Flush.error,
        ),
        tenant,
    )
    if agent is not None:
        query = query.where(Agent.name == agent)
    if session is not None:
        query = query.where(Session.name == session)
    if before is not None:
        query = query.where(Flush.id < before)
    rows = connection.execute(query.order_by(Flush.id.desc(), Event.seq).limit(limit)).mappings()
    return [QuarantinedEvent(**(dict(row) | {"content": masked(row["content"])})) for row in rows]


def count_quarantined(connection: Connection, tenant: str) -> int:
    """Count the events of `tenant` in quarantine."""
    count: int = connection.execute(_of_tenant(select(func.count()), tenant)).scalar_one()
    return count


def _of_tenant(query: Select[*tuple[Any, ...]], tenant: str) -> Select[*tuple[Any, ...]]:
    # Start from the flush ledger: its quarantined windows are few and indexed, events are many.
    return (
        query.select_from(Flush)
        .join(Event, (Event.session_id == Flush.session_id) & Event.seq.between(Flush.from_seq, Flush.to_seq))
        .join(Session, Session.id == Flush.session_id)
        .join(Agent, Agent.id == Session.agent_id)
        .where(Agent.tenant == tenant, Flush.outcome == "quarantined", Event.quarantined_at.is_not(None))
    )
