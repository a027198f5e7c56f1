"""Store a line that a person typed into a memory file: as a new memory, or as evidence of an existing one."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, func, select, text
from sqlalchemy.dialects.postgresql import insert

from slowwave_server.domain.candidates import first_status
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.languages import detect
from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.statements import content_hash
from slowwave_server.models import Memory, MemoryImport
from slowwave_server.services.memories.changes import Author, Ledger, change_memory, note_change, weigh

HAND_CONFIDENCE = 0.95
"""The confidence of a line that a person typed: the highest of all sources, and below 1, because people make errors."""
HAND_IMPORTANCE = 0.7
"""The importance of a new line that a person typed. An edited line keeps the importance of its memory."""
TRUST = "hand"

_STORE = text(
    "INSERT INTO slowwave.memories AS m (scope_id, type, content, content_hash, status, confidence, importance, trust,"
    " entities, valid_from, reaffirmed_at, recorded_at, language, profile, search)"
    " VALUES (:scope, :type, :content, :hash, :status, :confidence, :importance, 'hand', :entities, :at, :at, :now,"
    " :language, CAST(:profile AS jsonb), slowwave.memory_search_vector(:scope, :content, :at, :entities, :language))"
    " ON CONFLICT (scope_id, type, content_hash) WHERE status <> 'archived' DO NOTHING RETURNING m.id"
)


@dataclass(frozen=True, slots=True)
class Handwritten:
    """A statement that a person wrote into `file`.

    holds_from: the time from which it is valid. active: True if a new memory is active at once. names: possible
    entities; those that occur in the text become the memory's entities.
    """

    text: str
    type: str
    file: str
    holds_from: datetime
    importance: float = HAND_IMPORTANCE
    active: bool = False
    names: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The stored text, without secrets."""
        return redact(self.text).text


def keep_handwritten(ledger: Ledger, scope_id: int, written: Handwritten, *, reason: str) -> tuple[UUID, bool]:
    """Store a statement. Return the live memory that says it now, and True if the memory is new. Idempotent.

    A memory with the same statement in another form (capitals, a full stop) gets the person's form.
    """
    status = "active" if written.active else first_status(written.type)
    content = written.content
    found = ledger.connection.execute(
        _STORE,
        {
            "scope": scope_id,
            "type": written.type,
            "content": content,
            "hash": content_hash(content),
            "status": status,
            "confidence": HAND_CONFIDENCE,
            "importance": written.importance,
            "entities": list(entities(content, written.names)),
            "at": written.holds_from,
            "now": ledger.now,
            "language": detect(content),
            "profile": profile_json(content, written.type),
        },
    ).scalar()
    if found is None:
        return _hear_again(ledger, scope_id, written, reason=reason), False
    memory: UUID = found
    _add_evidence(ledger.connection, memory, written, ledger.author)
    after = {
        "status": status,
        "confidence": HAND_CONFIDENCE,
        "importance": written.importance,
        "valid_from": written.holds_from.isoformat(),
        "file": written.file,
    }
    note_change(ledger, memory, action="created", before=None, after=after, reason=reason)
    return memory, True


def _hear_again(ledger: Ledger, scope_id: int, written: Handwritten, *, reason: str) -> UUID:
    row = ledger.connection.execute(
        select(Memory.id, Memory.content, Memory.status, Memory.revision, Memory.confidence, Memory.importance)
        .where(
            Memory.scope_id == scope_id,
            Memory.type == written.type,
            Memory.content_hash == content_hash(written.content),
            Memory.status != "archived",
        )
        .with_for_update()
    ).one()
    fields: dict[str, Any] = {}
    if row.content != written.content:
        fields["content"] = written.content
    if written.active and row.status in {"inbox", "episode"}:
        fields["status"] = "active"
    if fields:
        change_memory(ledger, row.id, row.revision, fields, action="by hand", reason=reason)
    if _add_evidence(ledger.connection, row.id, written, ledger.author):
        weigh(ledger.connection, row.id, ledger.now)
        before = {"confidence": row.confidence, "importance": row.importance}
        new = ledger.connection.execute(
            select(Memory.confidence, Memory.importance).where(Memory.id == row.id)
        ).mappings()
        after = dict(new.one()) | {"file": written.file}
        note_change(ledger, row.id, action="repeated", before=before, after=after, reason=reason)
    memory: UUID = row.id
    return memory


def _add_evidence(connection: Connection, memory: UUID, written: Handwritten, author: Author) -> bool:
    """Add a line as evidence. Return False if exactly this line already is evidence for the memory."""
    digest = blake2b(f"{written.type} {written.content}".encode(), digest_size=16).digest()
    statement = insert(MemoryImport).values(
        memory_id=memory,
        digest=digest,
        file=written.file,
        confidence=HAND_CONFIDENCE,
        importance=written.importance,
        trust=TRUST,
        holds_from=written.holds_from,
        run_id=author.run_id,
    )
    added = statement.on_conflict_do_nothing().returning(MemoryImport.memory_id)
    return connection.execute(added).first() is not None


def existing(connection: Connection, scope_id: int, memories: list[UUID]) -> set[UUID]:
    """Return the memories among these that the scope has, including archived ones."""
    query = select(Memory.id).where(Memory.scope_id == scope_id, Memory.id == func.any(memories))
    return set(connection.execute(query).scalars())
