"""List the runs that a tenant may see: those over its scopes, and those of the installation, over all scopes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import UnknownName

if TYPE_CHECKING:
    from slowwave_server.services.access.reach import Reach
    from slowwave_server.services.runs.store import RunKind

_LINES = (
    "SELECT r.id, r.kind, r.status, r.job_id AS job, scopes.kind || ':' || scopes.name AS scope, r.started_at,"
    " r.completed_at, r.started_by AS by, r.summary, r.error, r.stats, r.undoes, r.undone_by, r.part_of"
    " FROM slowwave.maintenance_runs r LEFT JOIN slowwave.scopes ON scopes.id = r.scope_id"
    " WHERE {} ORDER BY r.id DESC LIMIT %(limit)s"
)
_SCOPE = "SELECT k.id FROM slowwave.scopes k WHERE (k.tenant, k.kind, k.name) = (%(tenant)s, %(place)s, %(name)s)"
# Check one run after the other until there are enough, and its changes by key, up to the first in the scope; a join
# would read all changes first.
_WORKED_ON = (
    f"(r.scope_id IN ({_SCOPE}) OR r.scope_id IS NULL AND EXISTS (SELECT FROM slowwave.memory_changes c"
    " WHERE c.run_id = r.id AND (SELECT m.scope_id FROM slowwave.memories m WHERE m.id = c.memory_id)"
    f" = ({_SCOPE}) OFFSET 0))"
)


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run. scope: `kind:name`, None for all; by: who started it; part_of: the run that started it."""

    id: int
    kind: str
    status: str
    job: str | None
    scope: str | None
    started_at: datetime
    completed_at: datetime | None
    seconds: float | None
    by: str | None
    summary: str | None
    error: str | None
    stats: dict[str, Any]
    undoes: int | None
    undone_by: int | None
    part_of: int | None


def list_runs(
    connection: Reads,
    tenant: str,
    *,
    scope: tuple[str, str] | None = None,
    kind: "RunKind | None" = None,
    reach: "Reach | None" = None,
    before: int | None = None,
    limit: int = 20,
) -> list[RunLine]:
    """List the newest runs that the tenant may see. scope: ("agent", "room" or "team", name).

    reach: only runs over scopes within it; None for all. before: only runs with a smaller number.
    """
    wanted: list[str] = []
    values: dict[str, Any] = {"kind": kind, "before": before, "limit": limit}
    if before is not None:
        wanted.append("r.id < CAST(%(before)s AS bigint)")
    if kind is not None:
        wanted.append("r.kind = %(kind)s")
    if scope is not None:
        wanted.append(_WORKED_ON)
        values |= dict(zip(("place", "name"), scope, strict=True))
    return _lines(connection, tenant, reach, wanted, values)


def find_run(connection: Reads, tenant: str, run_id: int, reach: "Reach | None" = None) -> RunLine:
    """Return one run. Raises UnknownName, also out of reach."""
    found = _lines(connection, tenant, reach, ["r.id = CAST(%(id)s AS bigint)"], {"id": run_id, "limit": 1})
    if not found:
        raise UnknownName(f"tenant {tenant!r} has no run {run_id}; `slowwave run list` lists them")
    return found[0]


def _lines(
    connection: Reads, tenant: str, reach: "Reach | None", wanted: list[str], values: Mapping[str, Any]
) -> list[RunLine]:
    """Read runs. Only callers that see the whole tenant see a run without a scope."""
    seen, more = "(scopes.tenant = %(tenant)s OR r.scope_id IS NULL)", dict[str, Any]()
    if reach is not None and not reach.is_all:
        within, more = reach.scopes_text()
        seen = f"scopes.tenant = %(tenant)s AND {within}"
    rows = read_rows(connection, _LINES.format(" AND ".join([seen, *wanted])), {**values, **more, "tenant": tenant})
    return [RunLine(**row, seconds=_seconds(row)) for row in rows]


def _seconds(row: Mapping[str, Any]) -> float | None:
    return None if row["completed_at"] is None else (row["completed_at"] - row["started_at"]).total_seconds()
