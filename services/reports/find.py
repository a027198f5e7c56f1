"""Quick search for people: agents by a part of their name, memories by their words, in all scopes of a tenant."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.services.reports.text_filter import quick_query

AGENTS, MEMORIES = 6, 8
SCOPES = 50
"""The scopes with the most flushed events are searched; of a tenant with more scopes the rest is left out."""
MATCHES = 500
"""The largest number of matches that are read; the newest are shown. It bounds the cost of a common word."""

_AGENTS = text(
    "SELECT a.name FROM slowwave.agents a WHERE a.tenant = :tenant AND a.deleted_at IS NULL"
    " AND strpos(lower(a.name), lower(:words)) > 0"
    " ORDER BY strpos(lower(a.name), lower(:words)), a.name LIMIT :most"
)
_SCOPES = text(
    "SELECT k.id FROM slowwave.scopes k WHERE k.tenant = :tenant ORDER BY k.flushed_events DESC, k.id DESC LIMIT :most"
)
_MEMORIES = text(
    "SELECT m.id, m.content, m.status, k.kind || ':' || k.name AS scope FROM ("
    " SELECT id, content, status, scope_id, valid_from FROM slowwave.memories"
    " WHERE search @@ CAST(:query AS tsquery) AND scope_id = ANY(:scopes) AND status <> 'archived' LIMIT :matches) m"
    " JOIN slowwave.scopes k ON k.id = m.scope_id ORDER BY m.valid_from DESC, m.id LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """One memory that contains the words."""

    id: UUID
    content: str
    status: str
    scope: str


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a quick search, best first."""

    agents: tuple[str, ...]
    memories: tuple[FoundMemory, ...]


def find_anything(connection: Connection, tenant: str, words: str) -> Found:
    """Find agents and memories of one tenant; nothing for a blank query. Archived memories are excluded."""
    words = words.replace("\0", "").strip()
    if not words:
        return Found((), ())
    agents = connection.execute(_AGENTS, {"tenant": tenant, "words": words, "most": AGENTS}).scalars().all()
    scopes = list(connection.execute(_SCOPES, {"tenant": tenant, "most": SCOPES}).scalars())
    query = quick_query(connection, scopes, words)
    if query is None:
        return Found(tuple(agents), ())
    values = {"query": query, "scopes": scopes, "matches": MATCHES, "most": MEMORIES}
    return Found(tuple(agents), tuple(FoundMemory(*row) for row in connection.execute(_MEMORIES, values)))
