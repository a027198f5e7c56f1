"""Find sessions with events that no flush has read, and check later whether flushes have read these events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Text, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY

from slowwave.identity import SessionRef
from slowwave_server.models import Agent, Session
from slowwave_server.services.lookup import find_agent

AT_ONCE = 2000
"""The largest number of sessions in one query."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A session and the watermark that it should reach."""

    session_id: int
    ref: SessionRef
    until: int


def dirty_sessions(connection: Connection, tenant: str, agent: str, limit: int = 10_000) -> list[str]:
    """Return the names of the agent's dirty sessions, the oldest events first. Raises UnknownName."""
    agent_id = find_agent(connection, tenant, agent)
    query = (
        select(Session.name)
        .where(Session.agent_id == agent_id, Session.dirty_since.is_not(None))
        .order_by(Session.dirty_since)
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def goals_of(connection: Connection, refs: Sequence[SessionRef]) -> list[Goal]:
    """Return the current last event of each of `refs`, as a goal; clean or unknown sessions have none."""
    return [goal for part in _parts(refs) for goal in _goals(connection, part)]


def unmet(connection: Connection, goals: Sequence[Goal]) -> list[Goal]:
    """Return the goals that are not reached yet; of more than AT_ONCE, the rest is not checked."""
    first = goals[:AT_ONCE]
    query = select(Session.id, Session.processed_until).where(Session.id.in_([goal.session_id for goal in first]))
    reached: dict[int, int] = {row.id: row.processed_until for row in connection.execute(query.limit(AT_ONCE))}
    # If a session was forgotten, it has no event left to wait for.
    left = [goal for goal in first if reached.get(goal.session_id, goal.until) < goal.until]
    return [*left, *goals[AT_ONCE:]]


def _goals(connection: Connection, refs: Sequence[SessionRef]) -> Iterator[Goal]:
    # A join, because `IN` with a list of names would compare every session with every name.
    names = ([ref.tenant for ref in refs], [ref.agent for ref in refs], [ref.session for ref in refs])
    wanted = (
        func.unnest(*(literal(column, ARRAY(Text)) for column in names))
        .table_valued("tenant", "agent", "session", name="wanted")
        .render_derived()
    )
    rows = connection.execute(
        select(Session.id, wanted.c.tenant, wanted.c.agent, wanted.c.session, Session.last_seq)
        .select_from(wanted)
        .join(Agent, (Agent.tenant == wanted.c.tenant) & (Agent.name == wanted.c.agent))
        .join(Session, (Session.agent_id == Agent.id) & (Session.name == wanted.c.session))
        .where(Session.dirty_since.is_not(None))
        .order_by(Session.dirty_since)
        .limit(AT_ONCE)
    )
    for row in rows:
        yield Goal(row.id, SessionRef(row.tenant, row.agent, row.session), row.last_seq)


def _parts(refs: Sequence[SessionRef]) -> Iterator[Sequence[SessionRef]]:
    for start in range(0, len(refs), AT_ONCE):
        yield refs[start : start + AT_ONCE]
