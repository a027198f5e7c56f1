"""Links from one memory to another, each standing once.

Must not know: why memories are linked.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import insert

from models import MemoryLink
from services.memory_changes import Author


def add_link(
    connection: Connection,
    source: UUID,
    target: UUID,
    predicate: str,
    *,
    author: Author,
    now: datetime,
    confidence: float = 1.0,
) -> bool:
    """Link two memories of one scope. False: the link stands already."""
    statement = (
        insert(MemoryLink)
        .values(
            source_id=source,
            target_id=target,
            predicate=predicate,
            confidence=confidence,
            run_id=author.run_id,
            created_at=now,
        )
        .on_conflict_do_nothing()
    )
    return connection.execute(statement).rowcount == 1
