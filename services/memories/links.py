"""Add and end links from one memory to another; each active link exists once."""

from uuid import UUID

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert

from slowwave_server.models import MemoryLink
from slowwave_server.services.memories.changes import Ledger


def add_link(ledger: Ledger, source: UUID, target: UUID, predicate: str, *, confidence: float = 1.0) -> bool:
    """Link two memories of one scope. Return False if the link already exists."""
    statement = (
        insert(MemoryLink)
        .values(
            source_id=source,
            target_id=target,
            predicate=predicate,
            confidence=confidence,
            run_id=ledger.author.run_id,
            created_at=ledger.now,
        )
        .on_conflict_do_nothing()
    )
    return ledger.connection.execute(statement).rowcount == 1


def end_links(ledger: Ledger, predicate: str, *, source: UUID | None = None, target: UUID | None = None) -> None:
    """End the active links of one predicate from `source`, or to `target`. Their rows stay, marked with the run.

    Raises ValueError unless one of the two is given.
    """
    if (source is None) == (target is None):
        raise ValueError("give a source or a target, one of the two")
    end = MemoryLink.source_id == source if source is not None else MemoryLink.target_id == target
    ledger.connection.execute(
        update(MemoryLink)
        .where(end, MemoryLink.predicate == predicate, MemoryLink.ended_by.is_(None))
        .values(ended_by=ledger.author.run_id)
    )
