"""Store the relations that a memory states, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.triples import Relation

RULES = "rules 1"
"""The name and version of the extractor of relations. Each relation stores it."""

# The statement that writes also checks the memory's scope, so a relation never gets into another scope (I8).
_STORE = text(
    "INSERT INTO slowwave.triples (scope_id, memory_id, subject, subject_type, predicate, object, object_type,"
    " confidence, extractor, run_id, created_at)"
    " SELECT m.scope_id, m.id, t.subject, t.subject_type, t.predicate, t.object, t.object_type, t.confidence,"
    " :extractor, :run_id, :now"
    " FROM unnest(CAST(:memory_id AS uuid[]), CAST(:subject AS text[]), CAST(:subject_type AS text[]),"
    " CAST(:predicate AS text[]), CAST(:object AS text[]), CAST(:object_type AS text[]),"
    " CAST(:confidence AS double precision[]))"
    " AS t (memory_id, subject, subject_type, predicate, object, object_type, confidence)"
    " JOIN slowwave.memories m ON m.id = t.memory_id AND m.scope_id = :scope_id"
    " ON CONFLICT (memory_id, subject, predicate, object) DO NOTHING"
)


def store_triples(
    connection: Connection,
    scope_id: int,
    by_memory: Mapping[UUID, Sequence[Relation]],
    *,
    run_id: int,
    now: datetime,
    extractor: str = RULES,
) -> int:
    """Store the relations of these memories of the scope, in one statement. Return the number of new ones.

    A repeated call changes nothing. Memories outside the scope are ignored.
    """
    rows = [{"memory_id": memory} | asdict(one) for memory, relations in by_memory.items() for one in relations]
    if not rows:
        return 0
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    names = {"scope_id": scope_id, "run_id": run_id, "now": now, "extractor": extractor}
    return connection.execute(_STORE, columns | names).rowcount
