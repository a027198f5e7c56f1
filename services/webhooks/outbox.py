"""The outbox of webhooks: a row for each change that an endpoint wants, made from the feed by the endpoint's cursor.

The row is written and the cursor moved in one transaction, so each change is added once, whatever process dies. A row
does not contain the memory's text, which is read when the row is sent, so forgotten text is never sent.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from slowwave.changes import Change, CursorExpired, places_of, position
from slowwave_server.services.changes.feed import read_changes

log = logging.getLogger(__name__)

KEPT_DAYS = 30
BATCH = 5000

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


def fill(connection: Connection, endpoint: Row[Any], now: datetime, most: int) -> tuple[dict[str, Change], bool]:
    """Add the next changes of the feed to an endpoint's outbox, and move its cursor, in the caller's transaction.

    Returns the changes by their ids, and whether the feed has more.
    """
    places = places_of(endpoint.agents, endpoint.scopes)
    try:
        page = read_changes(connection, endpoint.tenant, endpoint.cursor, places, most)
    except CursorExpired as error:
        log.warning("webhook %s goes on with the changes from now on: %s", endpoint.id, error)
        page = read_changes(connection, endpoint.tenant, None, places, most)
    wanted = [change for change in page.changes if not endpoint.types or change.type in endpoint.types]
    if wanted:
        changes = [
            {"id": one.id, "type": one.type, "memory": one.memory.id, "place": place}
            for place, one in enumerate(wanted)
        ]
        connection.execute(_PUT, {"endpoint": endpoint.id, "changes": changes, "now": now})
    if page.cursor != endpoint.cursor:
        connection.execute(_MOVE, {"id": endpoint.id, "cursor": page.cursor})
    return {change.id: change for change in wanted}, page.more


def read_each(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, Change]:
    """Read changes in their present state. A change whose memory was deleted is missing; the outbox has another row for
    it.

    Consecutive changes in the feed are read at once.
    """
    found: dict[str, Change] = {}
    left = sorted(ids, key=position)
    while left:
        xid, number = position(left[0])
        try:
            page = read_changes(connection, tenant, f"{xid}-{number - 1}", None, len(left), scan=len(left))
        except CursorExpired:
            return found
        found |= {change.id: change for change in page.changes}
        end = max(position(page.cursor), (xid, number))
        left = [one for one in left if position(one) > end]
    return found


def remove_old_deliveries(engine: Engine, *, now: datetime, go_on: Callable[[], bool] = lambda: True) -> int:
    """Remove rows that were completed more than KEPT_DAYS ago. Return their number."""
    removed = 0
    while go_on():
        with engine.begin() as connection:
            values: dict[str, Any] = {"until": now - timedelta(days=KEPT_DAYS), "most": BATCH}
            gone = connection.execute(_OLD, values).rowcount
        removed += gone
        if gone < BATCH:
            break
    return removed
