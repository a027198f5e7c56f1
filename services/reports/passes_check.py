"""Check that consolidation passes do not have to be rolled back."""

from datetime import datetime

from sqlalchemy import Connection, text

from slowwave_server.domain.health_limits import ROLLED_BACK_SHOWN
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.reports.check import Check, fine, problem

RUNS_NAMED = 5
# A deep pass decides again about everything that was rolled back before it.
_ROLLED_BACK = text(
    "SELECT r.id FROM slowwave.maintenance_runs r WHERE r.status = 'rolled_back' AND r.started_at > :since"
    " AND NOT EXISTS (SELECT FROM slowwave.maintenance_runs d WHERE d.scope_id = r.scope_id AND d.id > r.id"
    "  AND d.kind = 'deep' AND d.status = 'completed')"
    " ORDER BY r.id DESC LIMIT :most"
)


def check_passes(connection: Connection, *, now: datetime) -> Check:
    """Check for passes of the last days that would have made search worse. Counts all tenants together."""
    values = {"since": now - ROLLED_BACK_SHOWN, "most": RUNS_NAMED + 1}
    runs = list(connection.execute(_ROLLED_BACK, values).scalars())
    if not runs:
        return fine("passes", "search finds the evidence of the memories after every pass")
    more = len(runs) > RUNS_NAMED
    named = ", ".join(f"run {run}" for run in runs[:RUNS_NAMED])
    counted = f"more than {RUNS_NAMED} passes" if more else pluralize(len(runs), "pass", "passes")
    return problem("passes", "passes-rolled-back", f"{counted}: {named}{', …' if more else ''}")
