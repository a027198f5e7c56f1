"""Which agents a tenant has, and which sessions an agent: names, and how far each is processed.

Must not know: what was said, what a session waits for.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from slowwave_server.models import Agent, Scope, Session
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.lookup import find_agent

SESSIONS_COUNTED = 1_000
"""Of an agent with more sessions, so many are counted."""


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """One agent. sessions: at most SESSIONS_COUNTED; dirty: those with events that no flush has read, likewise."""

    name: str
    timezone: str
    cutoff_hour: int
    created_at: datetime
    sessions: int
    dirty: int
    oldest_dirty_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session. number: to read on from. events: how many came; processed: how many of these were read."""

    number: int
    name: str
    scope: str
    events: int
    processed: int
    failures: int
    created_at: datetime
    last_seen_at: datetime
    dirty_since: datetime | None


def list_agents(
    connection: Connection, tenant: str, *, reach: Reach | None = None, after: str | None = None, limit: int = 50
) -> list[ListedAgent]:
    """Agents by name, beginning after `after`; without those that were forgotten. reach: None for all."""
    some = select(Session.id).where(Session.agent_id == Agent.id).limit(SESSIONS_COUNTED).correlate(Agent).subquery()
    waiting = (
        select(Session.dirty_since)
        .where(Session.agent_id == Agent.id, Session.dirty_since.is_not(None))
        .order_by(Session.dirty_since)
        .limit(SESSIONS_COUNTED)
        .correlate(Agent)
    )
    dirty = waiting.subquery()
    query = (
        select(
            Agent.name,
            Agent.time_zone,
            Agent.cutoff_hour,
            Agent.created_at,
            select(func.count()).select_from(some).scalar_subquery().label("sessions"),
            select(func.count()).select_from(dirty).scalar_subquery().label("dirty"),
            waiting.limit(1).scalar_subquery().label("oldest"),
        )
        .where(Agent.tenant == tenant, Agent.deleted_at.is_(None))
        .order_by(Agent.name)
        .limit(limit)
    )
    if reach is not None:
        query = query.where(reach.agents_condition(Agent.name))
    if after is not None:
        query = query.where(Agent.name > after)
    return [ListedAgent(*row) for row in connection.execute(query)]


def agent_names(connection: Connection, tenant: str, *, limit: int = 200) -> list[str]:
    """The first names of agents, without those that were forgotten: to choose from."""
    query = select(Agent.name).where(Agent.tenant == tenant, Agent.deleted_at.is_(None)).order_by(Agent.name)
    return list(connection.execute(query.limit(limit)).scalars())


def list_sessions(
    connection: Connection,
    tenant: str,
    agent: str,
    *,
    dirty: bool = False,
    before: int | None = None,
    limit: int = 50,
) -> list[ListedSession]:
    """Sessions of an agent, the newest first, beginning before the one of number `before`. Raises UnknownName.

    dirty: only those with events that no flush has read.
    """
    agent_id = find_agent(connection, tenant, agent)
    query = (
        select(
            Session.id,
            Session.name,
            func.concat(Scope.kind, ":", Scope.name).label("scope"),
            Session.last_seq,
            Session.processed_until,
            Session.failures,
            Session.created_at,
            Session.last_seen_at,
            Session.dirty_since,
        )
        .join(Scope, Scope.id == Session.scope_id)
        .where(Session.agent_id == agent_id, Scope.tenant == tenant)
        .order_by(Session.id.desc())
        .limit(limit)
    )
    if dirty:
        query = query.where(Session.dirty_since.is_not(None))
    if before is not None:
        query = query.where(Session.id < before)
    return [ListedSession(*row) for row in connection.execute(query)]
