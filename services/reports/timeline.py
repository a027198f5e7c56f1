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

_FROM = (
    " FROM slowwave.triples t"
    " JOIN slowwave.memories m ON m.id = t.memory_id AND m.scope_id = t.scope_id"
    " JOIN slowwave.scopes s ON s.id = t.scope_id AND s.tenant = :tenant"
    " WHERE t.scope_id = :scope AND m.status IN ('inbox', 'episode', 'active')"
)
_VALUES = text(
    "SELECT DISTINCT ON (m.id) t.subject, t.object AS value, m.id AS memory, m.content, m.status, m.valid_from,"
    f" m.valid_to, m.superseded_by{_FROM} AND lower(t.subject) = lower(:subject) AND t.predicate = :predicate"
    " ORDER BY m.id, t.confidence DESC, t.id"
)
_NEWEST = text(f"SELECT * FROM ({_VALUES.text}) AS v ORDER BY v.valid_from DESC, v.memory DESC LIMIT :most")
# Start from superseded memories, which are few, and join relations, which are many.
_CHANGED = text(
    "SELECT min(t.subject) AS subject, t.predicate, count(DISTINCT m.id) AS ended, max(m.valid_to) AS changed_at"
    f"{_FROM} AND m.superseded_by IS NOT NULL GROUP BY lower(t.subject), t.predicate"
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
