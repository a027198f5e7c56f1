"""List the agents of a tenant, and the sessions of an agent, each with its name and progress."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import find_agent

if TYPE_CHECKING:
    from slowwave_server.services.access.reach import Reach

SESSIONS_COUNTED = 1_000
"""The largest number of sessions that are counted for an agent."""
MEMORIES_COUNTED = 10_000
"""The largest number of memories, and of archived ones, that are counted for an agent."""

_WAITING = (
    "SELECT s.dirty_since FROM slowwave.sessions s WHERE s.agent_id = a.id AND s.dirty_since IS NOT NULL"
    " ORDER BY s.dirty_since LIMIT"
)
_AGENTS = (
    "SELECT a.name, a.time_zone AS timezone, a.cutoff_hour, a.created_at, (SELECT count(*) FROM"
    " (SELECT FROM slowwave.sessions s WHERE s.agent_id = a.id LIMIT %(most)s) AS counted) AS sessions,"
    f" (SELECT count(*) FROM ({_WAITING} %(most)s) AS waiting) AS dirty, ({_WAITING} 1) AS oldest_dirty_at"
    " FROM slowwave.agents a WHERE {} ORDER BY a.name LIMIT %(limit)s"
)
_NAMES = (
    "SELECT name FROM slowwave.agents WHERE tenant = %(tenant)s AND deleted_at IS NULL ORDER BY name LIMIT %(limit)s"
)
_SESSIONS = (
    "SELECT s.id AS number, s.name, k.kind || ':' || k.name AS scope, s.last_seq AS events,"
    " s.processed_until AS processed, s.failures, s.created_at, s.last_seen_at, s.dirty_since"
    " FROM slowwave.sessions s JOIN slowwave.scopes k ON k.id = s.scope_id"
    " WHERE s.agent_id = %(agent)s AND k.tenant = %(tenant)s AND {} ORDER BY s.id DESC LIMIT %(limit)s"
)
_OWN = "(SELECT id FROM slowwave.scopes WHERE tenant = %(tenant)s AND kind = 'agent' AND name = %(agent)s)"
_STATUSES = (
    "SELECT status, count(*) AS number FROM ("
    f"(SELECT status FROM slowwave.memories WHERE scope_id = {_OWN} AND status <> 'archived'"
    " ORDER BY valid_from DESC LIMIT %(most)s) UNION ALL"
    f" (SELECT status FROM slowwave.memories WHERE scope_id = {_OWN} AND status = 'archived' LIMIT %(most)s)"
    ") AS counted GROUP BY status"
)
_COUNTS = (
    f"SELECT (SELECT count(*) FROM slowwave.working_memory WHERE scope_id = {_OWN} AND outcome IS NULL) AS notes,"
    f" (SELECT count(*) FROM slowwave.review_items WHERE scope_id = {_OWN} AND state = 'open') AS questions"
)


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """One agent. dirty: its sessions with unread events; like `sessions` at most SESSIONS_COUNTED."""

    name: str
    timezone: str
    cutoff_hour: int
    created_at: datetime
    sessions: int
    dirty: int
    oldest_dirty_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session. number: its position, for `before`; processed: the events that a flush read."""

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
    connection: Reads, tenant: str, *, reach: "Reach | None" = None, after: str | None = None, limit: int = 50
) -> list[ListedAgent]:
    """List agents by name after `after`, without forgotten ones. reach: the reach of the caller's key; None for all."""
    wanted = ["a.tenant = %(tenant)s AND a.deleted_at IS NULL"]
    values: dict[str, Any] = {"tenant": tenant, "after": after, "limit": limit}
    if reach is not None:
        within, more = reach.agents_text("a.name")
        wanted.append(within)
        values |= more
    if after is not None:
        wanted.append("a.name > %(after)s")
    return _agents(connection, " AND ".join(wanted), values)


def _agents(connection: Reads, wanted: str, values: dict[str, Any]) -> list[ListedAgent]:
    rows = read_rows(connection, _AGENTS.format(wanted), {**values, "most": SESSIONS_COUNTED})
    return [ListedAgent(**row) for row in rows]


def agent_names(connection: Reads, tenant: str, *, limit: int = 200) -> list[str]:
    """Return the first names of agents, without forgotten ones, for a list of choices."""
    return [row["name"] for row in read_rows(connection, _NAMES, {"tenant": tenant, "limit": limit})]


def list_sessions(
    connection: Reads,
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
    wanted = ["true"]
    if dirty:
        wanted.append("s.dirty_since IS NOT NULL")
    if before is not None:
        wanted.append("s.id < %(before)s")
    values = {"agent": agent_id, "tenant": tenant, "before": before, "limit": limit}
    return [ListedSession(**row) for row in read_rows(connection, _SESSIONS.format(" AND ".join(wanted)), values)]


@dataclass(frozen=True, slots=True)
class AgentOverview:
    """An agent with counts of its own scope: memories by status, notes in working memory, open questions.

    more_memories: True if counting stopped at a limit: only the newest memories were counted, or some archived ones.
    """

    agent: ListedAgent
    memories: dict[str, int]
    more_memories: bool
    notes: int
    questions: int


def read_agent(connection: Reads, tenant: str, agent: str, *, most: int = MEMORIES_COUNTED) -> AgentOverview:
    """Return one agent and the counts of its own scope. most: the limit of counted memories. Raises UnknownName."""
    agent_id = find_agent(connection, tenant, agent)
    (listed,) = _agents(connection, "a.id = %(id)s", {"id": agent_id, "limit": 1})
    own = {"tenant": tenant, "agent": agent}
    rows = read_rows(connection, _STATUSES, {**own, "most": most})
    memories = {row["status"]: row["number"] for row in rows}
    archived = memories.get("archived", 0)
    more = most in {archived, sum(memories.values()) - archived}
    (counts,) = read_rows(connection, _COUNTS, own)
    return AgentOverview(listed, memories, more, counts["notes"], counts["questions"])
