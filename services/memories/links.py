"""Add and end links from one memory to another; each active link exists once."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import BindParameter, Uuid, any_, bindparam, update
from sqlalchemy.dialects.postgresql import ARRAY, insert

from slowwave_server.models import MemoryLink
from slowwave_server.services.memories.changes import Ledger

_ADD = insert(MemoryLink).on_conflict_do_nothing()
_MEMORIES: BindParameter[Any] = bindparam("memories", type_=ARRAY(Uuid))
_END_FROM, _END_TO = (
    update(MemoryLink)
    .where(end == any_(_MEMORIES), MemoryLink.predicate == bindparam("of"), MemoryLink.ended_by.is_(None))
    .values(ended_by=bindparam("by"))
    for end in (MemoryLink.source_id, MemoryLink.target_id)
)


def add_link(ledger: Ledger, source: UUID, target: UUID, predicate: str, *, confidence: float = 1.0) -> bool:
    """Link two memories of one scope. Return False if the link already exists."""
    return ledger.connection.execute(_ADD, _link(ledger, source, target, predicate, confidence)).rowcount == 1


def add_links(ledger: Ledger, predicate: str, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Link the source and the target of each pair, unless the link exists."""
    if pairs:
        ledger.connection.execute(_ADD, [_link(ledger, source, target, predicate, 1.0) for source, target in pairs])


def _link(ledger: Ledger, source: UUID, target: UUID, predicate: str, confidence: float) -> dict[str, object]:
    return {
        "source_id": source,
        "target_id": target,
        "predicate": predicate,
        "confidence": confidence,
        "run_id": ledger.author.run_id,
        "created_at": ledger.now,
    }


def end_links(ledger: Ledger, predicate: str, *, sources: Sequence[UUID] = (), targets: Sequence[UUID] = ()) -> None:
    """End the active links of one predicate from `sources`, and those to `targets`. Their rows stay, marked with the
    run.
    """
    for end, memories in ((_END_FROM, sources), (_END_TO, targets)):
        if memories:
            values = {"memories": list(memories), "of": predicate, "by": ledger.author.run_id}
            ledger.connection.execute(end, values)
