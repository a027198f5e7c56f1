"""Undo any run: an import is undone by a forget, every other run by services.undo.undo.

After an import, its conversations become memories, summaries and passages, and passes merge its memories with others.
So an undo of an import forgets its sessions and the evidence of its memories. A memory with other evidence stays with
this evidence. Nothing is saved for an undo of this undo; the same import restores the data.
"""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, Engine, select, text

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import MaintenanceRun
from slowwave_server.services.forget.forget import Forgetter, Report
from slowwave_server.services.forget.target import Target
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.moving_in.runs import transaction
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.report import UndoReport
from slowwave_server.services.undo.undo import undo

_RUN = text(
    "SELECT r.status, r.scope_id, r.undone_by, r.lease_until FROM slowwave.maintenance_runs r"
    " JOIN slowwave.scopes k ON k.id = r.scope_id AND k.tenant = :tenant WHERE r.id = :run"
)
_WENT_ON = text(
    "SELECT a.name AS agent, s.name AS session, s.last_seq - s.import_seq AS events FROM slowwave.sessions s"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE s.import_run = :run AND s.last_seq > s.import_seq"
    " ORDER BY s.id LIMIT 1"
)
_UNDONE = text("UPDATE slowwave.maintenance_runs SET status = 'undone', undone_by = :undo WHERE id = :run")


def undo_any(
    engine: Engine,
    tenant: str,
    run: int,
    *,
    by: str,
    now: datetime,
    forgetting: Callable[[], Forgetter],
    no_repeat: bool = False,
) -> UndoReport:
    """Undo a run of any kind. forgetting: returns the Forgetter; called only if conversations were imported, because
    this needs the broker, too.

    Raises UnknownName, CannotUndo, CannotForget and redis' own errors.
    """
    with transaction(engine) as connection:
        moved = _moved_from(connection, run) is not None
        if moved:
            _check(connection, tenant, run, now)
    if not moved:
        return undo(engine, tenant, run, by=by, now=now, no_repeat=no_repeat)
    report = forgetting().forget(Target.of_import(tenant, run), by=by)
    if report.problems:
        raise CannotUndo(f"run {run} is not undone as a whole: {'; '.join(report.problems)}; undo it again")
    with transaction(engine) as connection:
        return _note(connection, tenant, run, report, by, now)


def _check(connection: Connection, tenant: str, run: int, now: datetime) -> None:
    row = connection.execute(_RUN, {"tenant": tenant, "run": run}).first()
    if row is None:
        raise UnknownName(f"tenant {tenant!r} has no run {run}; `slowwave run list` lists them")
    if row.status == "undone":
        raise CannotUndo(f"run {run} was undone already, by run {row.undone_by}; import again to have it back")
    if row.status == "running" and row.lease_until is not None and row.lease_until > now:
        raise CannotUndo(f"run {run} can't be undone: it is still under way")
    went_on = connection.execute(_WENT_ON, {"run": run}).first()
    if went_on is not None:
        raise CannotUndo(
            f"run {run} can't be undone: session {went_on.session!r} of agent {went_on.agent!r} went on since, with"
            f" {pluralize(went_on.events, 'event')} that the run did not bring; to delete these, too, run"
            f" `slowwave session forget {went_on.agent} {went_on.session}` first"
        )


def _note(connection: Connection, tenant: str, run: int, report: Report, by: str, now: datetime) -> UndoReport:
    """Record the undo as a run."""
    counts = report.counts
    scope_id = connection.execute(_RUN, {"tenant": tenant, "run": run}).one().scope_id
    own = start_run(connection, kind="undo", now=now, lease_seconds=LEASE_SECONDS, scope_id=scope_id, by=by, undoes=run)
    memories, sessions = counts.get("memories", 0), counts.get("sessions", 0)
    told = f"{pluralize(memories, 'memory', 'memories')} and {pluralize(sessions, 'conversation')}"
    summary = f"run {run} is undone: {told} are gone for good"
    connection.execute(_UNDONE, {"undo": own.id, "run": run})
    stats = {"undone": run, "forgotten": report.receipt, **counts}
    finish_run(connection, own, status="completed", summary=summary, stats=stats, now=now)
    return UndoReport(run=own.id, undone=run, removed=memories, summary=summary, final=True)


def _moved_from(connection: Connection, run_id: int) -> str | None:
    """Return the system from which a run imported, or None for any other run."""
    query = select(MaintenanceRun.stats["moved_from"].astext).where(
        MaintenanceRun.id == run_id, MaintenanceRun.kind == "import"
    )
    found: str | None = connection.execute(query).scalar()
    return found
