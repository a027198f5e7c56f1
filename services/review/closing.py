"""Close a conflict or a question once, and store its former state so that an undo can reopen it."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select, update

from slowwave_server.domain.review import ConflictStatus, ItemState
from slowwave_server.models import MemoryConflict, ReviewItem
from slowwave_server.services.memories.changes import Ledger, as_json, note_change


def close_conflict(
    ledger: Ledger,
    scope_id: int,
    conflict: int,
    *,
    status: ConflictStatus,
    resolution: str,
    memory: UUID,
    was: ConflictStatus = "open",
) -> bool:
    """Decide a conflict, as a change of `memory`, one of its sides. False: it is not `was`."""
    after = {"status": status, "resolution": resolution, "decided_at": ledger.now, "decided_by": ledger.author.by}
    mine = (MemoryConflict.scope_id == scope_id) & (MemoryConflict.id == conflict) & (MemoryConflict.status == was)
    return _close(ledger, MemoryConflict, mine, after, {"conflict": conflict}, resolution, memory)


def close_item(ledger: Ledger, scope_id: int, item: int, *, state: ItemState, reason: str, memory: UUID) -> bool:
    """Decide an open question, as a change of `memory`, one of its memories. False: it is not open."""
    after = {"state": state, "decided_at": ledger.now, "decided_by": ledger.author.by}
    mine = (ReviewItem.scope_id == scope_id) & (ReviewItem.id == item) & (ReviewItem.state == "open")
    return _close(ledger, ReviewItem, mine, after, {"review_item": item}, reason, memory)


def _close(
    ledger: Ledger,
    table: type[MemoryConflict | ReviewItem],
    mine: ColumnElement[bool],
    after: dict[str, Any],
    which: dict[str, int],
    reason: str,
    memory: UUID,
) -> bool:
    """Set one row to `after`, and store the former values. Return False if the row does not exist."""
    columns = [getattr(table, name) for name in after]
    row = ledger.connection.execute(select(*columns).where(mine).with_for_update()).mappings().first()
    if row is None:
        return False
    ledger.connection.execute(update(table).where(mine).values(**after))
    note_change(
        ledger, memory, action="decided", before=as_json(which | dict(row)), after=as_json(which | after), reason=reason
    )
    return True
