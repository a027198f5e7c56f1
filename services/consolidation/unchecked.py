"""Find scopes with memories that no light pass has compared yet, so that a new value soon ends the old one."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.batches import DUE, OLD_ENOUGH
from slowwave_server.services.working.store import DueScope

FIRST_RETRY = timedelta(minutes=5)
LONGEST_RETRY = timedelta(hours=12)
"""A scope whose last light pass failed in part or was stopped is due again at once. After two such passes it waits
FIRST_RETRY, then twice as long each time, up to LONGEST_RETRY."""
COUNTED = timedelta(hours=24)
"""Failed passes count for this time. A pass that starts in the future (by a worker's wrong clock) does not count."""

_FAILED = "(r.status IN ('failed', 'stopped') OR coalesce((r.stats ->> 'failed')::int, 0) > 0)"
_UNCHECKED = text(
    "SELECT s.tenant, s.kind, s.name FROM ("
    f"  SELECT m.scope_id, min(m.recorded_at) AS oldest FROM slowwave.memories m WHERE {DUE['light']} AND {OLD_ENOUGH}"
    "   GROUP BY m.scope_id) u JOIN slowwave.scopes s ON s.id = u.scope_id"
    f" LEFT JOIN LATERAL (SELECT {_FAILED} AS failed FROM slowwave.maintenance_runs r"
    "   WHERE r.scope_id = s.id AND r.kind = 'light' ORDER BY r.id DESC LIMIT 1) last ON true"
    f" LEFT JOIN LATERAL (SELECT count(*) AS times, max(r.started_at) AS newest FROM slowwave.maintenance_runs r"
    f"   WHERE r.scope_id = s.id AND r.kind = 'light' AND {_FAILED}"
    "     AND r.started_at BETWEEN :counted AND :now) f ON last.failed"
    " WHERE f.times IS NULL OR f.times < 2"
    "  OR f.newest <= :now - least(:longest, :first * power(2, least(f.times - 2, 20)))"
    " ORDER BY u.oldest, s.id LIMIT :most"
)


def unchecked_scopes(connection: Connection, settings: Consolidation, *, limit: int, now: datetime) -> list[DueScope]:
    """Return at most `limit` scopes of all tenants with memories due for a light pass, the longest waiting first."""
    values = {
        "until": now - timedelta(days=settings.min_age_days),
        "now": now,
        "counted": now - COUNTED,
        "first": FIRST_RETRY,
        "longest": LONGEST_RETRY,
        "most": limit,
    }
    return [DueScope(**row) for row in connection.execute(_UNCHECKED, values).mappings()]
