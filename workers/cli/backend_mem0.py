"""The copies of `memory.backend: mem0`: their status, and a sync."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.backend_scopes import BackendReport, behind, deliver_all, scopes_to_sync, tell_failure
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.shared.failures import UNAVAILABLE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave.mem0_backend import CopyStore
    from slowwave_server.services.mem0_backend.delivery import Mem0Report
    from slowwave_server.services.reports.copies import ScopeCopies

SCOPES_READ = 1000


def read_status(shell: Shell, limit: int) -> BackendReport:
    """Return the scopes with copies in mem0, and their backlog."""
    from slowwave_server.services.reports.copies import report_copies

    backend = shell.settings.memory.backend
    with shell.connection() as connection:
        report = report_copies(connection, shell.tenant, backend, limit=limit)
    wrong = (backend == "mem0" and report.problem is not None) or any(one.last_error for one in report.scopes)

    def show() -> None:
        out = console()
        made = f"; its vectors come from {report.identity}" if report.identity else ""
        fed = f"changes are queued for mem0{made}" if report.fed else "no changes are queued for mem0"
        out.print(styled(f"mem0: memory.backend is {report.backend}, and {fed}."), soft_wrap=True)
        if report.problem is not None and backend == "mem0":
            out.print(styled(report.problem, "red"), soft_wrap=True)
        for one in report.scopes:
            _show(one)

    return BackendReport(report, show, wrong)


def _show(one: "ScopeCopies") -> None:
    out = console()
    print_rows(out, [(styled(one.scope, "bold"), f"{pluralize(one.copies, 'memory', 'memories')}{behind(one)}")])
    tell_failure(out, one)


def sync(shell: Shell, agent: str | None, scope: str | None, *, again: bool, as_json: bool) -> None:
    """Write waiting copies. again: write all copies. Exits with 3 if a scope failed or is busy."""
    scopes = scopes_to_sync(shell, agent, scope, backend="mem0", synced="mem0")
    store = _begin(shell, again=again)
    with progress("writing copies to mem0", partial(_how_far, shell)):
        reports = {name: _deliver(shell, scope_id, store) for name, scope_id in scopes.items()}
    if as_json:
        print_json(reports)
    else:
        for name, report in reports.items():
            _tell(name, report)
    if any(report.state in {"busy", "failed"} for report in reports.values()):
        raise typer.Exit(UNAVAILABLE)


def _how_far(shell: Shell) -> str:
    """Count the tenant's memories that wait for mem0."""
    from slowwave_server.services.reports.copies import report_copies

    with shell.engine.connect() as connection:
        found = report_copies(connection, shell.tenant, shell.settings.memory.backend, limit=SCOPES_READ)
    waiting = sum(one.waiting for one in found.scopes)
    return pluralize(waiting, "memory waits", "memories wait")


def _begin(shell: Shell, *, again: bool) -> "CopyStore":
    from slowwave.mem0_backend import connect
    from slowwave_server.services.mem0_backend.choosing import feed_chosen
    from slowwave_server.services.memory_files.backends import MEM0, queue_all

    store = connect(shell.settings)
    feed_chosen(shell.engine, shell.settings, shell.now())
    if again:
        with shell.engine.begin() as connection:
            queue_all(connection, MEM0, shell.now())
    return store


def _deliver(shell: Shell, scope_id: int, store: "CopyStore") -> "Mem0Report":
    """Deliver until nothing waits. Return the sums."""
    from slowwave_server.services.mem0_backend.delivery import deliver_to_mem0

    return deliver_all(lambda: deliver_to_mem0(shell.engine, scope_id, store, now=shell.now()))


def _tell(name: str, report: "Mem0Report") -> None:
    out = console()
    if report.state == "busy":
        out.print(styled(f"{name}: another process is writing these copies; try again", "yellow"), soft_wrap=True)
    elif report.state == "failed":
        out.print(styled(f"{name}: {report.error}", "red"), soft_wrap=True)
    else:
        written = pluralize(report.written, "memory", "memories")
        removed = f", {report.removed:,} removed" if report.removed else ""
        out.print(styled(f"{name}: {written} written{removed}"), soft_wrap=True)
