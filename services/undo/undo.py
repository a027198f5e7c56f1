"""Undo a run: restore the state before it, in one transaction that is itself a run, or change nothing (I6).

Undo restores contents, links, statuses, sources, conflicts, questions and notes of working memory. Counters (revisions,
the time of the last check) and history (changes, runs) are not reset. An undo saves the rows that it deletes, so that
an undo of the undo restores them, too.

A run that started other runs (a job's run, with a run for each scope) is undone by undoing each of the started runs,
the newest first, each in its own transaction; runs that can't be undone stay and are named.

Later passes may repeat an undone decision: light passes after a restored memory gets new evidence, others at their next
run. With `no_repeat`, no pass repeats it.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import IntegrityError

from slowwave_server.models import MaintenanceRun, Scope
from slowwave_server.services.runs.store import Run, finish_run, start_run
from slowwave_server.services.undo.checks import CannotUndo, Target, lock_run, meant_run
from slowwave_server.services.undo.report import UndoReport, add_up
from slowwave_server.services.undo.rows import is_empty
from slowwave_server.services.undo.run import Undoing, mark_undone, undo_run

_LEASE = timedelta(hours=1)
"""The undo of a job's run works through its runs without renewing its lease."""


def undo(engine: Engine, tenant: str, run_id: int, *, by: str, now: datetime, no_repeat: bool = False) -> UndoReport:
    """Undo run `run_id` of `tenant`; of a job's run over all tenants, only the runs of this tenant's scopes.

    The undo of an undo brings the first run into effect again, and so on. no_repeat: keep later passes from the same
    decision about these memories. Raises UnknownName, and CannotUndo with the reason if later changes depend on the run
    or it changed nothing; nothing was then changed.
    """
    with engine.connect() as connection:
        run_id = meant_run(connection, run_id)
        parts = _parts(connection, tenant, run_id)
        empty = {part for part in parts if is_empty(connection, part)}
        parts = [part for part in parts if part not in empty]
    asked = _Asked(engine, tenant, run_id, by, now, no_repeat)
    return _undo_parts(asked, parts, empty) if parts else _undo_one(asked, run_id)


class _Asked(NamedTuple):
    engine: Engine
    tenant: str
    run: int
    by: str
    now: datetime
    no_repeat: bool


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    """Open one transaction, even if the engine is in autocommit."""
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        yield connection


def _parts(connection: Connection, tenant: str, run_id: int) -> list[int]:
    """Return the runs that this run started in the tenant's scopes and that are in effect, newest first."""
    query = (
        select(MaintenanceRun.id)
        .join(Scope, Scope.id == MaintenanceRun.scope_id)
        .where(
            MaintenanceRun.part_of == run_id,
            Scope.tenant == tenant,
            MaintenanceRun.status.not_in(("undone", "running")),
        )
        .order_by(MaintenanceRun.id.desc())
    )
    return list(connection.execute(query).scalars())


def _undo_one(asked: _Asked, run_id: int, part_of: int | None = None) -> UndoReport:
    with _transaction(asked.engine) as connection:
        try:
            undoing = Undoing(connection, asked.tenant, by=asked.by, now=asked.now, no_repeat=asked.no_repeat)
            return undo_run(undoing, run_id, part_of=part_of)
        except IntegrityError as error:
            constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
            raise CannotUndo(f"run {run_id} can't be undone: it conflicts with a later change ({constraint})") from None


def _undo_parts(asked: _Asked, parts: Sequence[int], empty: Collection[int]) -> UndoReport:
    with _transaction(asked.engine) as connection:
        target = lock_run(connection, asked.tenant, asked.run)
        own = start_run(
            connection,
            kind="undo",
            now=asked.now,
            lease_seconds=_LEASE.total_seconds(),
            by=asked.by,
            undoes=asked.run,
            no_repeat=asked.no_repeat,
        )
    done: list[UndoReport] = []
    refused: list[str] = []
    for part in parts:
        try:
            done.append(_undo_one(asked, part, own.id))
        except CannotUndo as reason:
            refused.append(str(reason))
    report = add_up(own.id, asked.run, done, refused, again=target.undoes is not None)
    with _transaction(asked.engine) as connection:
        _finish(connection, target, own, report, empty, asked.now)
    if not done:
        raise CannotUndo(refused[0])
    return report


def _finish(
    connection: Connection, target: Target, own: Run, report: UndoReport, empty: Collection[int], now: datetime
) -> None:
    """End the undo of a job's run. Mark the job's run as undone, unless a run that it started is still in effect."""
    stats = {**report.counts, "runs": len(report.parts), "refused": len(report.refused), "was": target.status}
    none = f"run {target.id} is not undone: none of the runs that it started can be undone"
    finish_run(
        connection,
        own,
        status="completed" if report.parts else "failed",
        summary=report.summary if report.parts else none,
        stats=stats,
        now=now,
    )
    standing = select(MaintenanceRun.id).where(
        MaintenanceRun.part_of == target.id, MaintenanceRun.status != "undone", MaintenanceRun.id.not_in(empty)
    )
    if report.parts and connection.execute(standing.limit(1)).first() is None:
        mark_undone(connection, target, own.id)
