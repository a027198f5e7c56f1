"""Read one item of a LangGraph store: a note by the key that the agent chose, or a memory by its id."""

from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection

from slowwave.identity import scope_of
from slowwave.recall.masking import mask

_MEMORY = """
SELECT m.content, m.type, m.valid_from
FROM slowwave.memories m
JOIN slowwave.scopes k ON k.id = m.scope_id
WHERE k.tenant = %(tenant)s AND k.kind = %(kind)s AND k.name = %(name)s
  AND m.id = %(id)s AND m.status IN ('inbox', 'episode', 'active')
  AND NOT EXISTS (
    SELECT FROM slowwave.agents a
    WHERE k.kind = 'agent' AND a.tenant = k.tenant AND a.name = k.name AND a.deleted_at IS NOT NULL)
"""
_NOTE = """
SELECT w.content, w.type, w.said_at
FROM slowwave.working_memory w
JOIN slowwave.agents a ON a.id = w.agent_id
JOIN slowwave.scopes k ON k.id = w.scope_id
WHERE a.tenant = %(tenant)s AND a.name = %(agent)s AND a.deleted_at IS NULL
  AND k.tenant = %(tenant)s AND k.kind = %(kind)s AND k.name = %(name)s
  AND starts_with(w.key, %(note)s)
ORDER BY w.said_at DESC, w.id DESC
LIMIT 1
"""


class Stored(NamedTuple):
    """An item. content: without detected secrets; type: fact, preference …; at: the aware time of its validity."""

    content: str
    type: str
    at: datetime


def read_item(
    connection: Connection[Any], *, tenant: str, agent: str, scope: str | None, key: str, note: str
) -> Stored | None:
    """Read the newest note of `agent` whose key begins with `note`, else the memory with the id `key`, in one scope.

    scope: None for the agent's own, "room:NAME" or "team:NAME". Raises InvalidName and psycopg's errors.
    """
    kind, name = scope_of(agent, scope)
    place = {"tenant": tenant, "agent": agent, "kind": kind, "name": name, "note": note}
    row = connection.execute(_NOTE, place).fetchone()
    if row is None:
        with suppress(ValueError):
            row = connection.execute(_MEMORY, place | {"id": UUID(key)}).fetchone()
    return None if row is None else Stored(mask(row[0]), row[1], row[2])
