"""Scopes whose memories no pass has compared with each other yet: a value that replaces another one settles soon.

Must not know: Celery, how a pass is asked for.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.batches import DUE, OLD_ENOUGH
from slowwave_server.services.working_store import DueScope

RETRY = timedelta(hours=12)
"""A scope whose last light pass failed in part or was stopped waits for so long, or for the light job."""

_UNCHECKED = text(
    "SELECT s.tenant, s.kind, s.name FROM ("
    f"  SELECT m.scope_id, min(m.recorded_at) AS oldest FROM slowwave.memories m WHERE {DUE['light']} AND {OLD_ENOUGH}"
    "   GROUP BY m.scope_id) u JOIN slowwave.scopes s ON s.id = u.scope_id"
    " LEFT JOIN LATERAL (SELECT r.status, r.stats, r.started_at FROM slowwave.maintenance_runs r"
    "   WHERE r.scope_id = s.id AND r.kind = 'light' ORDER BY r.id DESC LIMIT 1) last ON true"
    " WHERE last.started_at IS NULL OR last.started_at <= :retry"
    "  OR last.status NOT IN ('failed', 'stopped') AND coalesce((last.stats ->> 'failed')::int, 0) = 0"
    " ORDER BY u.oldest, s.id LIMIT :most"
)


def unchecked_scopes(connection: Connection, settings: Consolidation, *, limit: int, now: datetime) -> list[DueScope]:
    """Scopes of all tenants with memories that a light pass is due for, the longest waiting first, at most `limit`."""
    values = {"until": now - timedelta(days=settings.min_age_days), "retry": now - RETRY, "most": limit}
    return [DueScope(**row) for row in connection.execute(_UNCHECKED, values).mappings()]
