"""List the agents of a tenant, and the sessions of an agent, each with its name and progress."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from slowwave_server.models import Agent, Memory, ReviewItem, Scope, Session, WorkingItem
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.lookup import find_agent

SESSIONS_COUNTED = 1_000
"""The largest number of sessions that are counted for an agent."""


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """One agent. sessions: the number of its sessions; dirty: the number of those with unread events; both at most
    SESSIONS_COUNTED.
    """

    name: str
    timezone: str
    cutoff_hour: int
    created_at: datetime
    sessions: int
    dirty: int
    oldest_dirty_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session. number: its position, for `before`. events: the number of events; processed: the number of events
    that a flush read.
    """

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
    """List agents by name after `after`, without forgotten ones. reach: the reach of the caller's key; None for all."""
    query = _agents(Agent.tenant == tenant, Agent.deleted_at.is_(None)).order_by(Agent.name).limit(limit)
    if reach is not None:
        query = query.where(reach.agents_condition(Agent.name))
    if after is not None:
        query = query.where(Agent.name > after)
    return [ListedAgent(*row) for row in connection.execute(query)]


def _agents(*wanted: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    some = select(Session.id).where(Session.agent_id == Agent.id).limit(SESSIONS_COUNTED).correlate(Agent).subquery()
    waiting = (
        select(Session.dirty_since)
        .where(Session.agent_id == Agent.id, Session.dirty_since.is_not(None))
        .order_by(Session.dirty_since)
        .limit(SESSIONS_COUNTED)
        .correlate(Agent)
    )
    dirty = waiting.subquery()
    return select(
        Agent.name,
        Agent.time_zone,
        Agent.cutoff_hour,
        Agent.created_at,
        select(func.count()).select_from(some).scalar_subquery().label("sessions"),
        select(func.count()).select_from(dirty).scalar_subquery().label("dirty"),
        waiting.limit(1).scalar_subquery().label("oldest"),
    ).where(*wanted)


def agent_names(connection: Connection, tenant: str, *, limit: int = 200) -> list[str]:
    """Return the first names of agents, without forgotten ones, for a list of choices."""
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
    """List the sessions of an agent, newest first, after the one with number `before`. Raises UnknownName.

    dirty: True for only those with events that no flush has read.
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


@dataclass(frozen=True, slots=True)
class AgentOverview:
    """An agent with counts of its own scope. memories: the number by status; notes: the number of notes in working
    memory; questions: the number of open questions.
    """

    agent: ListedAgent
    memories: dict[str, int]
    notes: int
    questions: int


def read_agent(connection: Connection, tenant: str, agent: str) -> AgentOverview:
    """Return one agent and the counts of its own scope. Raises UnknownName."""
    agent_id = find_agent(connection, tenant, agent)
    listed = ListedAgent(*connection.execute(_agents(Agent.id == agent_id)).one())
    own = select(Scope.id).where(Scope.tenant == tenant, Scope.kind == "agent", Scope.name == agent).scalar_subquery()
    statuses = select(Memory.status, func.count()).where(Memory.scope_id == own).group_by(Memory.status)
    notes = select(func.count()).where(WorkingItem.scope_id == own, WorkingItem.outcome.is_(None))
    questions = select(func.count()).where(ReviewItem.scope_id == own, ReviewItem.state == "open")
    return AgentOverview(
        listed,
        {row[0]: row[1] for row in connection.execute(statuses)},
        connection.execute(notes).scalar_one(),
        connection.execute(questions).scalar_one(),
    )
