"""Merge one memory (the part) into another (the survivor), or revert a merge. The part keeps its row, text and sources.

The data that a survivor gets from its parts (copied sources, notes and lines of files, `via` the part) follows from
`merged_into` alone. So all code that sets this field calls `sync_copies`, and no copy is forgotten.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, select, text

from slowwave_server.models import Memory
from slowwave_server.services.memories.changes import Ledger, change_memory, note_change, weigh
from slowwave_server.services.memories.links import add_link, end_links

_OWN = {
    "memory_sources": "session_id, seq, confidence, importance, trust, holds_from",
    "memory_notes": "working_id, confidence, importance, trust, holds_from",
    "memory_imports": "digest, file, sources, confidence, importance, trust, holds_from, reaffirmed_at, run_id",
}
EVIDENCE = tuple(_OWN)
"""The tables of what a memory rests on. A row whose `via` is NULL is the memory's own, any other a copy."""

# Memories with copies of a part that is no longer merged into them, and the memory that has to have copies.
_TOUCHED = text(
    "SELECT p.merged_into AS memory_id FROM slowwave.memories p WHERE p.id = :part AND p.merged_into IS NOT NULL"
    + "".join(
        f" UNION SELECT x.memory_id FROM slowwave.{table} x JOIN slowwave.memories p ON p.id = x.via"
        " WHERE x.via = :part AND x.memory_id IS DISTINCT FROM p.merged_into"
        for table in EVIDENCE
    )
)
# All parts, so that the copies depend on the present merges and not on their order.
_DROP_COPIES = text(
    "WITH "
    + ", ".join(
        f"of_{table} AS (DELETE FROM slowwave.{table} WHERE memory_id = :survivor AND via IS NOT NULL)"
        for table in EVIDENCE
    )
    + " SELECT"
)
# All parts of a survivor: if two of them have the same event, one copy is enough for both.
_COPY = text(
    "WITH "
    + ", ".join(
        f"of_{table} AS (INSERT INTO slowwave.{table} (memory_id, via, {columns})"
        f" SELECT p.merged_into, p.id, {', '.join(f'x.{name}' for name in columns.split(', '))}"
        f" FROM slowwave.memories p JOIN slowwave.{table} x ON x.memory_id = p.id AND x.via IS NULL"
        " WHERE p.merged_into = :survivor ORDER BY p.content_hash, p.id ON CONFLICT DO NOTHING)"
        for table, columns in _OWN.items()
    )
    + " SELECT"
)


def merge_into(
    ledger: Ledger, part: UUID, revision: int, survivor: UUID, *, reason: str, confidence: float = 1.0
) -> list[UUID]:
    """Merge `part` (at `revision`), and the memories merged into it earlier, into `survivor`. Return these memories.

    confidence: their similarity. Raises Stale.
    """
    fields = {"status": "archived", "archive_reason": "merged", "merged_into": survivor}
    change_memory(ledger, part, revision, fields, action="merged", reason=reason)
    _relink(ledger, part, survivor, confidence=confidence)
    moved = ledger.connection.execute(select(Memory.id, Memory.revision).where(Memory.merged_into == part)).all()
    for row in moved:
        fields = {"merged_into": survivor}
        change_memory(ledger, row.id, row.revision, fields, action="merged", reason=reason)
        _relink(ledger, row.id, survivor, confidence=confidence)
    for memory in (part, *(row.id for row in moved)):
        sync_copies(ledger.connection, memory, ledger.now)
    after = {"from": str(part), "parts": [str(row.id) for row in moved]}
    note_change(ledger, survivor, action="sourced", before=None, after=after, reason=reason)
    return [row.id for row in moved]


def part_again(ledger: Ledger, part: UUID, revision: int, status: str, *, reason: str) -> None:
    """Revert a merge: the part becomes independent again. Raises Stale."""
    fields = {"status": status, "archive_reason": None, "merged_into": None}
    change_memory(ledger, part, revision, fields, action="unmerged", reason=reason)
    end_links(ledger, "merged_into", sources=[part])
    sync_copies(ledger.connection, part, ledger.now)


def sync_copies(connection: Connection, part: UUID, now: datetime) -> None:
    """Copy the sources of `part` to the memory that `merged_into` names; score the memories that changed."""
    # Use a fixed order everywhere, so that two transactions that score the same memories never deadlock.
    for memory in sorted(connection.execute(_TOUCHED, {"part": part}).scalars()):
        for statement in (_DROP_COPIES, _COPY):
            connection.execute(statement, {"survivor": memory})
        weigh(connection, memory, now)


def _relink(ledger: Ledger, part: UUID, survivor: UUID, *, confidence: float) -> None:
    end_links(ledger, "merged_into", sources=[part])
    add_link(ledger, part, survivor, "merged_into", confidence=confidence)
