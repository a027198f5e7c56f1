"""Read timelines: the successive values of an entity's relation, such as all homes of a person, by event time (I9).

Every query is limited to the tenant and the scope (I8), and reads live memories, including those that are no longer
valid.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.services.lookup import find_agent, find_scope

READ = 200
"""The largest number of values of one relation; the newest are kept."""

# Both queries look up each joined row by its index (OFFSET 0): for thousands of rows the planner reads whole tables.
_VALUES = (
    "SELECT DISTINCT ON (m.id) t.subject, t.object AS value, m.id AS memory, m.content, m.status, m.valid_from,"
    " m.valid_to, m.superseded_by FROM slowwave.triples t"
    " JOIN slowwave.scopes s ON s.id = t.scope_id AND s.tenant = :tenant"
    " CROSS JOIN LATERAL (SELECT m.* FROM slowwave.memories m WHERE m.id = t.memory_id AND m.scope_id = t.scope_id"
    "  AND m.status IN ('inbox', 'episode', 'active') OFFSET 0) AS m"
    " WHERE t.scope_id = :scope AND lower(t.subject) = lower(:subject) AND t.predicate = :predicate"
    " ORDER BY m.id, t.confidence DESC, t.id"
)
_NEWEST = text(f"SELECT * FROM ({_VALUES}) AS v ORDER BY v.valid_from DESC, v.memory DESC LIMIT :most")
_CHANGED = text(
    "SELECT min(t.subject) AS subject, t.predicate, count(DISTINCT m.id) AS ended, max(m.valid_to) AS changed_at"
    " FROM slowwave.memories m JOIN slowwave.scopes s ON s.id = m.scope_id AND s.tenant = :tenant"
    " CROSS JOIN LATERAL (SELECT t.subject, t.predicate FROM slowwave.triples t"
    "  WHERE t.memory_id = m.id AND t.scope_id = m.scope_id OFFSET 0) AS t"
    " WHERE m.scope_id = :scope AND m.status IN ('inbox', 'episode', 'active') AND m.superseded_by IS NOT NULL"
    " GROUP BY lower(t.subject), t.predicate"
    " ORDER BY ended DESC, changed_at DESC NULLS LAST, lower(t.subject), t.predicate LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a relation, from one memory. valid_to: None while it is valid; superseded_by: the later memory."""

    subject: str
    value: str
    memory: UUID
    content: str
    status: str
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None


@dataclass(frozen=True, slots=True)
class Changed:
    """A relation whose value changed: the superseded memories about it, and the time of the last change."""

    subject: str
    predicate: str
    ended: int
    changed_at: datetime | None


def values_of(
    connection: Connection,
    tenant: str,
    agent: str,
    subject: str,
    predicate: str,
    *,
    scope: tuple[str, str] | None = None,
    limit: int = READ,
) -> list[Value]:
    """Return the values of an entity's `predicate`, oldest first, at most the newest `limit`.

    scope: ("room" or "team", name), or None for the agent's own scope. Raises UnknownName for the agent.
    """
    values = {"subject": subject.strip(), "predicate": predicate, "most": limit}
    rows = connection.execute(_NEWEST, values | _place(connection, tenant, agent, scope)).mappings()
    return [Value(**row) for row in rows][::-1]


def changed_relations(
    connection: Connection, tenant: str, agent: str, *, scope: tuple[str, str] | None = None, limit: int = 20
) -> list[Changed]:
    """Return the relations that changed most often. Raises UnknownName for the agent."""
    rows = connection.execute(_CHANGED, {"most": limit} | _place(connection, tenant, agent, scope)).mappings()
    return [Changed(**row) for row in rows]


def _place(connection: Connection, tenant: str, agent: str, scope: tuple[str, str] | None) -> dict[str, str | int]:
    find_agent(connection, tenant, agent)
    return {"tenant": tenant, "scope": find_scope(connection, tenant, *(scope or ("agent", agent))) or 0}
