"""Convert memories to the form that mem0 gets, with the scope that owns them."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import Connection, select, text

from slowwave.mem0_backend import Copy, Owner
from slowwave_server.models import Scope

_COPIES = text(
    "SELECT m.id, m.content, m.type, m.status, m.confidence, m.importance, m.trust, m.valid_from, m.valid_to,"
    " m.recorded_at, m.superseded_by, coalesce((SELECT jsonb_agg(jsonb_build_array(s.name, x.seq) ORDER BY s.id, x.seq)"
    "  FROM slowwave.memory_sources x JOIN slowwave.sessions s ON s.id = x.session_id WHERE x.memory_id = m.id), '[]')"
    "  AS sources"
    " FROM slowwave.memories m"
    " WHERE m.scope_id = :scope AND m.id = ANY(:ids) AND m.status <> 'archived' ORDER BY m.id"
)


def owner_of(connection: Connection, scope_id: int) -> Owner | None:
    """Return a scope by its names, or None if it does not exist."""
    row = connection.execute(select(Scope.tenant, Scope.kind, Scope.name).where(Scope.id == scope_id)).first()
    return None if row is None else Owner(row.tenant, row.kind, row.name)


def copies_of(connection: Connection, scope_id: int, ids: Collection[UUID]) -> list[Copy]:
    """Return the given memories of the scope, without archived and deleted ones, which must have no copy in mem0."""
    return [
        Copy(**{**row, "sources": tuple((name, seq) for name, seq in row["sources"])})
        for row in connection.execute(_COPIES, {"scope": scope_id, "ids": list(ids)}).mappings()
    ]
