"""The outbox of webhooks: a row for each change that an endpoint wants, made from the feed by the endpoint's cursor.

The row and the cursor move in one transaction, so each change comes into the outbox once, whatever dies. What a memory
says is not in it: that is read when a row is sent, so forgotten words do not leave.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from slowwave.changes import Change, CursorExpired, places_of
from slowwave_server.services.changes.feed import read_changes

log = logging.getLogger(__name__)

KEPT_DAYS = 30
PAGE = 500
BATCH = 5000

_ENDPOINTS = text("SELECT e.id FROM slowwave.webhook_endpoints e WHERE e.disabled_at IS NULL ORDER BY e.id")
_LOCK = text(
    "SELECT e.id, e.tenant, e.cursor, e.agents, e.scopes, e.types FROM slowwave.webhook_endpoints e"
    " WHERE e.id = :id AND e.disabled_at IS NULL FOR UPDATE SKIP LOCKED"
)
_PUT = text(
    "INSERT INTO slowwave.webhook_deliveries (endpoint_id, change_id, change_type, memory_id, next_attempt_at)"
    " SELECT :endpoint, c.id, c.type, c.memory, :now"
    " FROM jsonb_to_recordset(:changes) AS c (id text, type text, memory uuid, place bigint)"
    " ORDER BY c.place ON CONFLICT (endpoint_id, change_id) DO NOTHING"
).bindparams(bindparam("changes", type_=JSONB))
_MOVE = text("UPDATE slowwave.webhook_endpoints SET cursor = :cursor WHERE id = :id")
_OLD = text(
    "DELETE FROM slowwave.webhook_deliveries d WHERE d.number IN (SELECT x.number FROM slowwave.webhook_deliveries x"
    " WHERE x.finished_at < :until LIMIT :most)"
)


def fill(engine: Engine, now: datetime, go_on: Callable[[], bool] = lambda: True) -> int:
    """Add the new changes to the outboxes of all endpoints; return the number of rows."""
    with engine.connect() as connection:
        endpoints = list(connection.execute(_ENDPOINTS).scalars())
    put = 0
    for endpoint in endpoints:
        more = True
        while more and go_on():
            rows, more = _fill_one(engine, endpoint, now)
            put += rows
    return put


def _fill_one(engine: Engine, endpoint: UUID, now: datetime) -> tuple[int, bool]:
    # Whatever the engine is used for otherwise: rows and cursor move together.
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        row = connection.execute(_LOCK, {"id": endpoint}).first()
        if row is None:
            return 0, False
        places = places_of(row.agents, row.scopes)
        try:
            page = read_changes(connection, row.tenant, row.cursor, places, PAGE)
        except CursorExpired as error:
            log.warning("webhook %s goes on with the changes from now on: %s", endpoint, error)
            page = read_changes(connection, row.tenant, None, places, PAGE)
        wanted = [change for change in page.changes if not row.types or change.type in row.types]
        if wanted:
            changes = [
                {"id": one.id, "type": one.type, "memory": one.memory.id, "place": place}
                for place, one in enumerate(wanted)
            ]
            connection.execute(_PUT, {"endpoint": endpoint, "changes": changes, "now": now})
        if page.cursor != row.cursor:
            connection.execute(_MOVE, {"id": endpoint, "cursor": page.cursor})
        return len(wanted), page.more


def read_change(connection: Connection, tenant: str, change_id: str) -> Change | None:
    """The change of a row as it is now; None if its memory was deleted, for which the outbox has another row."""
    xid, number = change_id.split("-")
    try:
        page = read_changes(connection, tenant, f"{xid}-{int(number) - 1}", None, 1, scan=1)
    except CursorExpired:
        return None
    return next((change for change in page.changes if change.id == change_id), None)


def remove_old_deliveries(engine: Engine, *, now: datetime, go_on: Callable[[], bool] = lambda: True) -> int:
    """Remove rows that were done with KEPT_DAYS ago; answer how many."""
    removed = 0
    while go_on():
        with engine.begin() as connection:
            values: dict[str, Any] = {"until": now - timedelta(days=KEPT_DAYS), "most": BATCH}
            gone = connection.execute(_OLD, values).rowcount
        removed += gone
        if gone < BATCH:
            break
    return removed
