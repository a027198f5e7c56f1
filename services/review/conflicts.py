"""Register conflicts: if two memories can't both be true, both stay readable, and a person is asked."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from slowwave_server.domain.review import Tier, expires
from slowwave_server.models import MaintenanceRun, Memory, MemoryChange, MemoryConflict, ReviewItem
from slowwave_server.services.memories.changes import Ledger, note_change
from slowwave_server.services.memories.links import add_link
from slowwave_server.services.review.closing import close_conflict, close_item


def register_conflict(
    ledger: Ledger,
    scope_id: int,
    newer: UUID,
    older: UUID,
    *,
    reason: str,
    evidence: Mapping[str, Any],
    resolution: str | None = None,
) -> int | None:
    """Register that `newer` contradicts `older`, both of this scope. Return the number of the conflict.

    resolution: if given, the conflict is resolved at once (for example by a supersession), even if it was open before;
    a conflict that a pass resolved in another way gets the new resolution. Idempotent by pair, in either order. Returns
    None if nothing is new, because the pair is already registered in this way or a person decided it; the caller must
    then leave both memories unchanged. Raises ValueError for one memory twice, and for memories outside the scope (I8).
    """
    pair = _pair(ledger.connection, scope_id, newer, older)
    conflict: int | None = ledger.connection.execute(
        insert(MemoryConflict)
        .values(
            scope_id=scope_id,
            memory_id=pair[0],
            conflicting_memory_id=pair[1],
            reason=reason,
            evidence=dict(evidence),
            run_id=ledger.author.run_id,
            created_at=ledger.now,
            **_decided(ledger, resolution),
        )
        .on_conflict_do_nothing()
        .returning(MemoryConflict.id)
    ).scalar()
    if conflict is None:
        return _known(ledger, scope_id, pair, newer, resolution)
    add_link(ledger, newer, older, "contradicts")
    after = {"conflict": conflict, "status": "open" if resolution is None else "resolved"}
    after |= {} if resolution is None else {"resolution": resolution}
    for memory, other in ((newer, older), (older, newer)):
        noted = after | {"with": str(other)}
        note_change(ledger, memory, action="conflict", before=None, after=noted, reason=reason)
    return conflict


def _decided(ledger: Ledger, resolution: str | None) -> dict[str, Any]:
    if resolution is None:
        return {"status": "open"}
    return {"status": "resolved", "resolution": resolution, "decided_at": ledger.now, "decided_by": ledger.author.by}


def open_review(
    ledger: Ledger, scope_id: int, *, memory: UUID | None = None, conflict: int | None = None, why: str, tier: Tier
) -> int | None:
    """Ask about a memory or about a conflict of this scope. Return the number of the question.

    Idempotent: for an open question its number is returned again. None: this conflict was asked about before, and the
    answer, or the expiry, stays. Raises ValueError unless exactly one of the two is given and in the scope.
    """
    _require(ledger.connection, scope_id, memory, conflict)
    mine = (
        ReviewItem.scope_id == scope_id,
        (ReviewItem.memory_id == memory if conflict is None else ReviewItem.conflict_id == conflict),
    )
    if conflict is not None:
        state = ledger.connection.execute(select(ReviewItem.state).where(*mine).order_by(ReviewItem.id.desc())).scalar()
        if state not in {None, "open"}:
            return None
    item: int | None = ledger.connection.execute(
        insert(ReviewItem)
        .values(
            scope_id=scope_id,
            memory_id=memory,
            conflict_id=conflict,
            why=why,
            tier=tier,
            expires_at=expires(tier, ledger.now),
            run_id=ledger.author.run_id,
            created_at=ledger.now,
        )
        .on_conflict_do_nothing()
        .returning(ReviewItem.id)
    ).scalar()
    known = select(ReviewItem.id).where(*mine, ReviewItem.state == "open")
    return ledger.connection.execute(known).scalar() if item is None else item


def _pair(connection: Connection, scope_id: int, newer: UUID, older: UUID) -> tuple[UUID, UUID]:
    if newer == older:
        raise ValueError(f"memory {newer} can't contradict itself")
    query = select(Memory.id).where(Memory.scope_id == scope_id, Memory.id.in_([newer, older]))
    if missing := {newer, older} - set(connection.execute(query).scalars()):
        raise ValueError(f"not of this scope: memory {', '.join(sorted(str(memory) for memory in missing))}")
    return (newer, older) if newer < older else (older, newer)


def _require(connection: Connection, scope_id: int, memory: UUID | None, conflict: int | None) -> None:
    if (memory is None) == (conflict is None):
        raise ValueError("give a memory or a conflict, one of the two")
    found = (
        select(Memory.id).where(Memory.scope_id == scope_id, Memory.id == memory)
        if memory is not None
        else select(MemoryConflict.id).where(MemoryConflict.scope_id == scope_id, MemoryConflict.id == conflict)
    )
    if connection.execute(found).first() is None:
        raise ValueError(f"not of this scope: {f'memory {memory}' if memory is not None else f'conflict {conflict}'}")


def _known(ledger: Ledger, scope_id: int, pair: tuple[UUID, UUID], newer: UUID, resolution: str | None) -> int | None:
    mine = (MemoryConflict.memory_id == pair[0], MemoryConflict.conflicting_memory_id == pair[1])
    query = select(MemoryConflict.id, MemoryConflict.status, MemoryConflict.resolution)
    row = ledger.connection.execute(query.where(MemoryConflict.scope_id == scope_id, *mine).with_for_update()).one()
    if resolution in {None, row.resolution} or row.status == "dismissed":
        return None
    if row.status == "resolved" and _by_a_person(ledger.connection, pair, row.id):
        return None
    close_conflict(ledger, scope_id, row.id, status="resolved", resolution=resolution, memory=newer, was=row.status)
    asked = select(ReviewItem.id).where(
        ReviewItem.scope_id == scope_id, ReviewItem.conflict_id == row.id, ReviewItem.state == "open"
    )
    for item in ledger.connection.execute(asked).scalars().all():
        close_item(ledger, scope_id, item, state="accepted", reason=resolution, memory=newer)
    return int(row.id)


def _by_a_person(connection: Connection, pair: tuple[UUID, UUID], conflict: int) -> bool:
    """Return True if the last decision on it was made in a review."""
    kind = connection.execute(
        select(MaintenanceRun.kind)
        .join(MemoryChange, MemoryChange.run_id == MaintenanceRun.id)
        .where(
            MemoryChange.memory_id.in_(pair),
            MemoryChange.action == "decided",
            MemoryChange.after["conflict"].as_integer() == conflict,
            MaintenanceRun.status != "undone",
        )
        .order_by(MemoryChange.id.desc())
        .limit(1)
    ).scalar()
    return kind == "review"
