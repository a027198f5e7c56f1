"""Closing what is open: a conflict or a question, each once, with a note of what it was so that it can be reopened.

Must not know: who decides, and what follows for memories.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select, update

from domain.review import ConflictStatus, ItemState
from models import MemoryConflict, ReviewItem
from services.memory_changes import Author, note_change

_CONFLICT = ("status", "resolution", "decided_at", "decided_by")
_ITEM = ("state", "decided_at", "decided_by")


def close_conflict(
    connection: Connection,
    scope_id: int,
    conflict: int,
    *,
    status: ConflictStatus,
    resolution: str,
    memory: UUID,
    author: Author,
    now: datetime,
    was: ConflictStatus = "open",
) -> bool:
    """Decide a conflict of this scope, noted as a change of `memory`, one of its two. False: it is not `was`."""
    after = {"status": status, "resolution": resolution, "decided_at": now, "decided_by": author.by}
    mine = (MemoryConflict.scope_id == scope_id) & (MemoryConflict.id == conflict) & (MemoryConflict.status == was)
    columns = [getattr(MemoryConflict, name) for name in _CONFLICT]
    row = connection.execute(select(*columns).where(mine).with_for_update()).mappings().first()
    if row is None:
        return False
    connection.execute(update(MemoryConflict).where(mine).values(**after))
    before = {"conflict": conflict, **row}
    _note(connection, memory, before, {"conflict": conflict, **after}, resolution, author, now)
    return True


def close_item(
    connection: Connection,
    scope_id: int,
    item: int,
    *,
    state: ItemState,
    reason: str,
    memory: UUID,
    author: Author,
    now: datetime,
) -> bool:
    """Decide an open question of this scope, noted as a change of `memory`, one that it is about. False: not open."""
    after = {"state": state, "decided_at": now, "decided_by": author.by}
    mine = (ReviewItem.scope_id == scope_id) & (ReviewItem.id == item) & (ReviewItem.state == "open")
    columns = [getattr(ReviewItem, name) for name in _ITEM]
    row = connection.execute(select(*columns).where(mine).with_for_update()).mappings().first()
    if row is None:
        return False
    connection.execute(update(ReviewItem).where(mine).values(**after))
    before = {"review_item": item, **row}
    _note(connection, memory, before, {"review_item": item, **after}, reason, author, now)
    return True


def _note(
    connection: Connection,
    memory: UUID,
    before: dict[str, Any],
    after: dict[str, Any],
    reason: str,
    author: Author,
    now: datetime,
) -> None:
    note_change(
        connection,
        memory,
        author=author,
        action="decided",
        before=_plain(before),
        after=_plain(after),
        reason=reason,
        now=now,
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}
