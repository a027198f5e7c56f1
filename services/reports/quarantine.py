"""List events in quarantine, which no flush could process, each with the error of its last flush."""

from dataclasses import dataclass
from datetime import datetime

from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.memories.masking import masked

# Start from the flush ledger: its quarantined windows are few and indexed, events are many.
_OF_TENANT = (
    "FROM slowwave.flushes f JOIN slowwave.events e ON e.session_id = f.session_id AND e.seq BETWEEN f.from_seq AND"
    " f.to_seq JOIN slowwave.sessions s ON s.id = f.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = %(tenant)s AND f.outcome = 'quarantined' AND e.quarantined_at IS NOT NULL"
)
_EVENTS = (
    "SELECT f.id AS window, a.name AS agent, s.name AS session, e.seq, e.role, e.name, e.content, e.happened_at,"
    f" e.quarantined_at, f.error {_OF_TENANT} AND {{}} ORDER BY f.id DESC, e.seq LIMIT %(limit)s"
)
_COUNT = f"SELECT count(*) AS number {_OF_TENANT}"


@dataclass(frozen=True, slots=True)
class QuarantinedEvent:
    """One event in quarantine, in full, with the error. window: the number of its window, which orders the list."""

    window: int
    agent: str
    session: str
    seq: int
    role: str
    name: str | None
    content: str
    happened_at: datetime
    quarantined_at: datetime
    error: str | None


def list_quarantined(
    connection: Reads,
    tenant: str,
    *,
    agent: str | None = None,
    session: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> list[QuarantinedEvent]:
    """List the newest `limit` events of `tenant` in quarantine. If an agent or a session is given, only its events.

    before: only events of windows with a smaller number. A quarantined window holds one event.
    """
    values = {"agent": agent, "session": session, "before": before}
    tests = {"agent": "a.name = %(agent)s", "session": "s.name = %(session)s", "before": "f.id < %(before)s"}
    wanted = " AND ".join(["true", *(test for name, test in tests.items() if values[name] is not None)])
    rows = read_rows(connection, _EVENTS.format(wanted), {**values, "tenant": tenant, "limit": limit})
    return [QuarantinedEvent(**row | {"content": masked(row["content"])}) for row in rows]


def count_quarantined(connection: Reads, tenant: str) -> int:
    """Count the events of `tenant` in quarantine."""
    (row,) = read_rows(connection, _COUNT, {"tenant": tenant})
    return int(row["number"])
