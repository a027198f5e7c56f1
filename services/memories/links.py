"""Add and end links from one memory to another; each active link exists once."""

from uuid import UUID

from sqlalchemy import bindparam, update
from sqlalchemy.dialects.postgresql import insert

from slowwave_server.models import MemoryLink
from slowwave_server.services.memories.changes import Ledger

_ADD = insert(MemoryLink).on_conflict_do_nothing()
_END_FROM, _END_TO = (
    update(MemoryLink)
    .where(end == bindparam("memory"), MemoryLink.predicate == bindparam("of"), MemoryLink.ended_by.is_(None))
    .values(ended_by=bindparam("by"))
    for end in (MemoryLink.source_id, MemoryLink.target_id)
)


def add_link(ledger: Ledger, source: UUID, target: UUID, predicate: str, *, confidence: float = 1.0) -> bool:
    """Link two memories of one scope. Return False if the link already exists."""
    values = {
        "source_id": source,
        "target_id": target,
        "predicate": predicate,
        "confidence": confidence,
        "run_id": ledger.author.run_id,
        "created_at": ledger.now,
    }
    return ledger.connection.execute(_ADD, values).rowcount == 1


def end_links(ledger: Ledger, predicate: str, *, source: UUID | None = None, target: UUID | None = None) -> None:
    """End the active links of one predicate from `source`, or to `target`. Their rows stay, marked with the run.

    Raises ValueError unless one of the two is given.
    """
    if (source is None) == (target is None):
        raise ValueError("give a source or a target, one of the two")
    end, memory = (_END_FROM, source) if source is not None else (_END_TO, target)
    ledger.connection.execute(end, {"memory": memory, "of": predicate, "by": ledger.author.run_id})
