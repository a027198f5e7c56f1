"""Read and write the rows of an import: memories with their ids, and their evidence."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.languages import detect
from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.memories.changes import Ledger, as_json, note_change, weigh
from slowwave_server.services.memories.merging import sync_copies
from slowwave_server.services.memory_files.folder_reading import FileStatement

CHUNK = 1000

_BY_ID = text(
    "SELECT m.id, m.scope_id = :scope AS here, CASE WHEN m.scope_id = :scope THEN m.content_hash END AS hash"
    " FROM slowwave.memories m WHERE m.id = ANY(:ids)"
)
_BY_DIGEST = text(
    "SELECT i.digest, i.memory_id FROM slowwave.memory_imports i JOIN slowwave.memories m ON m.id = i.memory_id"
    " WHERE m.scope_id = :scope AND i.via IS NULL AND i.digest = ANY(:digests)"
)
_BY_CONTENT = text(
    "SELECT m.type, m.content_hash AS hash, m.id, m.archive_reason FROM slowwave.memories m"
    " WHERE m.scope_id = :scope AND m.content_hash = ANY(:hashes)"
    " AND (m.status <> 'archived' OR m.merged_into IS NOT NULL OR m.archive_reason = 'rejected')"
    " ORDER BY m.status = 'archived', m.id"
)
_NEW_IDS = text("SELECT uuidv7() FROM generate_series(1, :count)")
_ADD = text(
    "INSERT INTO slowwave.memories (id, scope_id, type, content, content_hash, status, confidence, importance, trust,"
    " entities, valid_from, reaffirmed_at, valid_to, recorded_at, archive_reason, language, profile,"
    " search)"
    " VALUES (:id, :scope, :type, :content, :hash, :status, :confidence, :importance, :trust, :entities, :valid_from,"
    " :reaffirmed_at, :valid_to, :now, :archive_reason, :language, CAST(:profile AS jsonb),"
    " slowwave.memory_search_vector(:scope, :content, :valid_from, :entities, :language))"
)
_REST = text(
    "INSERT INTO slowwave.memory_imports (memory_id, digest, file, sources, confidence, importance, trust, holds_from,"
    " reaffirmed_at, run_id)"
    " VALUES (:id, :digest, :file, CAST(:sources AS jsonb), :confidence, :importance, :trust, :valid_from,"
    " :reaffirmed_at, :run) ON CONFLICT DO NOTHING"
)
_CREATED = text(
    "INSERT INTO slowwave.memory_changes (memory_id, run_id, made_by, action, after, reason, made_at)"
    " VALUES (:id, :run, :by, 'created', CAST(:after AS jsonb), :reason, :now)"
)
_SUPERSEDE = text("UPDATE slowwave.memories SET superseded_by = :by WHERE id = :id AND scope_id = :scope")
_WORTH = text("SELECT confidence, importance, valid_from FROM slowwave.memories WHERE id = :id AND scope_id = :scope")


@dataclass(frozen=True, slots=True)
class KnownIds:
    """Ids of lines that some scope has: this scope's with the hash of each text, and other scopes'."""

    here: dict[UUID, bytes]
    elsewhere: frozenset[UUID]


def known_ids(connection: Connection, scope_id: int, ids: Collection[UUID]) -> KnownIds:
    """Return which of these ids exist. For other scopes the result says only that the id exists."""
    rows = [row for part in _chunks(ids) for row in connection.execute(_BY_ID, {"scope": scope_id, "ids": part})]
    return KnownIds({row.id: row.hash for row in rows if row.here}, frozenset(row.id for row in rows if not row.here))


def known_digests(connection: Connection, scope_id: int, digests: Collection[bytes]) -> dict[bytes, UUID]:
    """Return lines that the scope has read before, with the memories whose evidence they are."""
    values = ({"scope": scope_id, "digests": part} for part in _chunks(digests))
    return {row.digest: row.memory_id for value in values for row in connection.execute(_BY_DIGEST, value)}


def known_contents(
    connection: Connection, scope_id: int, hashes: Collection[bytes]
) -> dict[tuple[str, bytes], tuple[UUID, bool]]:
    """Return, by type and hash, a memory, live before merged or rejected; True if a person rejected it."""
    found: dict[tuple[str, bytes], tuple[UUID, bool]] = {}
    for part in _chunks(hashes):
        for row in connection.execute(_BY_CONTENT, {"scope": scope_id, "hashes": part}):
            found.setdefault((row.type, row.hash), (row.id, row.archive_reason == "rejected"))
    return found


def new_ids(connection: Connection) -> Iterator[UUID]:
    """Return ids for memories, in ascending order and later than existing ones."""
    while True:
        yield from connection.execute(_NEW_IDS, {"count": CHUNK}).scalars().all()


def add_memories(ledger: Ledger, scope_id: int, new: Sequence[tuple[UUID, FileStatement]], *, reason: str) -> None:
    """Insert new memories, each with its line as source."""
    if not new:
        return
    rows = [
        _row(memory, said) | {"scope": scope_id, "now": ledger.now, "run": ledger.author.run_id} for memory, said in new
    ]
    made = [
        {
            "id": row["id"],
            "run": ledger.author.run_id,
            "by": ledger.author.by,
            "reason": reason,
            "now": ledger.now,
            "after": _after(row),
        }
        for row in rows
    ]
    ledger.connection.execute(_ADD, rows)
    ledger.connection.execute(_REST, rows)
    ledger.connection.execute(_CREATED, made)


def add_evidence(ledger: Ledger, scope_id: int, memory: UUID, said: FileStatement, *, reason: str) -> bool:
    """Add one line as evidence of a memory. Return False if the line already is evidence."""
    key = {"id": memory, "scope": scope_id}
    before = ledger.connection.execute(_WORTH, key).mappings().one()
    if not ledger.connection.execute(_REST, _row(memory, said) | {"run": ledger.author.run_id}).rowcount:
        return False
    weigh(ledger.connection, memory, ledger.now)
    sync_copies(ledger.connection, memory, ledger.now)
    after = as_json({**ledger.connection.execute(_WORTH, key).mappings().one()}) | {"file": said.path}
    note_change(ledger, memory, action="repeated", before=as_json({**before}), after=after, reason=reason)
    return True


def supersede(connection: Connection, scope_id: int, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Store for memories of this import which memory replaced each."""
    if pairs:
        connection.execute(_SUPERSEDE, [{"id": memory, "by": by, "scope": scope_id} for memory, by in pairs])


def _row(memory: UUID, said: FileStatement) -> dict[str, Any]:
    m = said.memory
    return {
        "id": memory,
        "type": m.type,
        "content": m.content,
        "language": detect(m.content),
        "profile": profile_json(m.content, m.type),
        "hash": content_hash(m.content),
        "status": m.status,
        "confidence": m.confidence,
        "importance": m.importance,
        "trust": m.trust,
        "entities": list(m.entities),
        "valid_from": m.valid_from,
        "reaffirmed_at": m.reaffirmed_at,
        "valid_to": m.valid_to,
        "archive_reason": "import" if m.status == "archived" else None,
        "digest": said.digest,
        "file": said.path,
        "sources": json.dumps([list(source) for source in m.sources]),
    }


def _after(row: dict[str, Any]) -> str:
    fields = {name: row[name] for name in ("status", "confidence", "importance", "file")}
    return json.dumps(fields | {"valid_from": row["valid_from"].isoformat(), "line_of": row["file"]})


def _chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    every = sorted(set(values))
    return (every[at : at + CHUNK] for at in range(0, len(every), CHUNK))
