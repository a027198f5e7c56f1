"""List the aliases of a scope: names with the same meaning, with the source events or the person who added them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from slowwave_server.domain.aliases import key_of
from slowwave_server.services.lookup import require_scope
from slowwave_server.services.memories.masking import masked

SOURCES_SHOWN = 5
"""The largest number of listed events of one pair of names; `source_count` is the number of all."""

_SCOPE = "JOIN slowwave.scopes k ON k.id = p.scope_id AND k.tenant = :tenant WHERE p.scope_id = :scope"
# All names that a chain of pairs connects with one name.
_CONNECTED = (
    "WITH RECURSIVE near (key) AS (SELECT CAST(:key AS text) UNION"
    " SELECT CASE WHEN p.name_key = n.key THEN p.alias_key ELSE p.name_key END FROM near n"
    "  JOIN slowwave.aliases p ON p.scope_id = :scope AND n.key IN (p.name_key, p.alias_key) AND p.status <> 'removed')"
)
_PAIRS = (
    "SELECT p.id, p.name, p.alias, p.status, p.created_at AS since, p.decided_by, p.decided_at,"
    " (SELECT count(*) FROM slowwave.alias_sources s WHERE s.alias_id = p.id) AS source_count"
    f" FROM slowwave.aliases p {_SCOPE} AND (p.status <> 'removed' OR :removed)"
)
_ORDER = " ORDER BY p.name_key, p.alias_key LIMIT :limit"
_SOURCES = text(
    "SELECT x.alias_id, a.name AS agent, s.name AS session, x.seq, coalesce(g.redacted, e.content) AS content,"
    " e.happened_at FROM (SELECT y.*, row_number() OVER (PARTITION BY y.alias_id ORDER BY y.session_id, y.seq) AS place"
    "  FROM slowwave.alias_sources y WHERE y.alias_id = ANY(:ids)) AS x"
    " JOIN slowwave.sessions s ON s.id = x.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " LEFT JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq"
    " LEFT JOIN slowwave.passages g ON g.session_id = x.session_id AND g.seq = x.seq"
    " WHERE x.place <= :most ORDER BY x.alias_id, x.place"
)


@dataclass(frozen=True, slots=True)
class AliasEvidence:
    """An event that says that two names mean the same. content: None if retention removed the event."""

    agent: str
    session: str
    seq: int
    content: str | None
    happened_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedAlias:
    """A name with one alias. status: "learned", "added" or "removed"; decided_by: the person who added or removed it.

    sources: the source events by session and seq, at most SOURCES_SHOWN of `source_count`.
    """

    name: str
    alias: str
    status: str
    since: datetime
    decided_by: str | None
    decided_at: datetime | None
    source_count: int
    sources: tuple[AliasEvidence, ...]


def list_aliases(
    connection: Connection,
    tenant: str,
    scope: tuple[str, str],
    *,
    name: str | None = None,
    removed: bool = False,
    limit: int = 100,
) -> list[ListedAlias]:
    """List the pairs of names of a scope, ("agent", "room" or "team", name), by name. Raises UnknownName.

    name: only pairs that are connected with this name. removed: also pairs that a person removed.
    """
    values: dict[str, Any] = {
        "tenant": tenant,
        "scope": require_scope(connection, tenant, scope),
        "removed": removed,
        "limit": limit,
    }
    query = _PAIRS + _ORDER
    if name is not None:
        values["key"] = key_of(name)
        connected = " AND (p.name_key IN (SELECT key FROM near) OR p.alias_key IN (SELECT key FROM near))"
        query = f"{_CONNECTED} {_PAIRS}{connected}{_ORDER}"
    rows = connection.execute(text(query), values).mappings().all()
    sources = _sources(connection, [row["id"] for row in rows])
    plain = ({name: value for name, value in row.items() if name != "id"} for row in rows)
    return [ListedAlias(**one, sources=tuple(sources[row["id"]])) for one, row in zip(plain, rows, strict=True)]


def _sources(connection: Connection, ids: Sequence[int]) -> dict[int, list[AliasEvidence]]:
    found: dict[int, list[AliasEvidence]] = defaultdict(list)
    if ids:
        for row in connection.execute(_SOURCES, {"ids": list(ids), "most": SOURCES_SHOWN}):
            content = None if row.content is None else masked(row.content)
            found[row.alias_id].append(AliasEvidence(row.agent, row.session, row.seq, content, row.happened_at))
    return found
