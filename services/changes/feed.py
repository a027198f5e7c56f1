"""Read the feed of changes over an engine's connection, and remove old tombstones."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, text

from slowwave.changes import PAGE, ChangePage, check_cursor, page_of

TOMBSTONE_DAYS = 30
"""A reader that was away for longer reads all memories again."""
BATCH = 5000
SCAN = 5000

_READ = text("SELECT slowwave.read_changes(:tenant, :after, :places, :limit, :scan)")
# Keep the newest old tombstone without its memory: it marks the position up to which tombstones are missing.
_OLD = (
    "SELECT t.id FROM slowwave.memory_tombstones t WHERE t.made_at < :until"
    " AND (t.xid, t.id) < (SELECT x.xid, x.id FROM slowwave.memory_tombstones x WHERE x.made_at < :until"
    "  ORDER BY x.xid DESC, x.id DESC LIMIT 1)"
)
_COUNT = text(f"SELECT count(*) FROM ({_OLD}) AS o")
_REMOVE = text(f"DELETE FROM slowwave.memory_tombstones d WHERE d.id IN ({_OLD} LIMIT :most)")
_MARK = text(
    "UPDATE slowwave.memory_tombstones t SET memory_id = NULL WHERE t.made_at < :until AND t.memory_id IS NOT NULL"
    " AND NOT EXISTS (SELECT FROM slowwave.memory_tombstones o WHERE (o.xid, o.id) > (t.xid, t.id)"
    "  AND o.made_at < :until)"
)


def read_changes(
    connection: Connection,
    tenant: str,
    after: str | None,
    places: Sequence[str] | None = None,
    limit: int = PAGE,
    *,
    scan: int = SCAN,
) -> ChangePage:
    """Return the changes of a tenant's memories after a cursor; with None, only the end of the feed. Raises
    CursorExpired, InvalidQuery.

    places: the result of slowwave.changes.places_of; None for all scopes. scan: the number of ledger rows to read.
    """
    if after is not None:
        check_cursor(after)
    values: dict[str, Any] = {"tenant": tenant, "after": after, "places": None if places is None else list(places)}
    values |= {"limit": limit, "scan": scan}
    told: dict[str, Any] = connection.execute(_READ, values).scalar_one()
    return page_of(told, after)


def remove_old_tombstones(
    engine: Engine, *, now: datetime, dry_run: bool = False, go_on: Callable[[], bool] = lambda: True
) -> int:
    """Remove tombstones of all tenants older than TOMBSTONE_DAYS; return their number, in a dry run too."""
    until, removed = now - timedelta(days=TOMBSTONE_DAYS), 0
    if dry_run:
        with engine.connect() as connection:
            return int(connection.execute(_COUNT, {"until": until}).scalar_one())
    with engine.begin() as connection:
        # Do this first: from now on, nobody can read from a position before the removed tombstones.
        connection.execute(_MARK, {"until": until})
    while go_on():
        with engine.begin() as connection:
            gone = connection.execute(_REMOVE, {"until": until, "most": BATCH}).rowcount
        removed += gone
        if gone < BATCH:
            break
    return removed
