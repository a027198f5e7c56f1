"""`slowwave memory consolidate`: a consolidation pass now, in this process."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Agent, DryRun, Json, Scope, scope_of
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND, UNAVAILABLE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.consolidation.scope_pass import PassReport
    from slowwave_server.services.working.consolidate import CycleReport


class Mode(StrEnum):
    """The pass to run."""

    WORKING = "working"
    LIGHT = "light"
    DEEP = "deep"
    ALL = "all"


def consolidate(
    context: typer.Context,
    agent: Agent,
    *,
    scope: Scope = None,
    mode: Annotated[
        Mode, typer.Option(help="Process working memory, run a light or a deep pass over memories, or all three.")
    ] = Mode.WORKING,
    any_age: Annotated[
        bool, typer.Option("--any-age", help="Passes also consider memories younger than min_age_days.")
    ] = False,
    allow_archive: Annotated[
        bool, typer.Option("--allow-archive", help="Passes may archive more memories than the circuit breaker allows.")
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Consolidate a scope now, in this process. Exit 1 if a note or memory failed, 3 if another pass is running."""
    from slowwave_server.services.lookup import find_agent, find_scope

    shell = shell_of(context)
    place = scope_of(agent, scope)
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        scope_id = find_scope(connection, shell.tenant, *place)
    modes = [mode] if mode is not Mode.ALL else [Mode.WORKING, Mode.LIGHT, Mode.DEEP]
    how = _How(dry_run, any_age, allow_archive)
    reports = []
    for one in modes if scope_id is not None else ():
        for report in _reports(shell, scope_id or 0, one, how):
            reports.append((one, report))
            if not as_json:
                _show(one, report, dry_run=dry_run)
    if as_json:
        print_json([{"mode": str(one), "dry_run": dry_run, **_fields(report)} for one, report in reports])
    elif scope_id is None:
        console().print("This scope does not exist yet.")
    if any(report.failed for _, report in reports):
        raise typer.Exit(FOUND)
    if any(report.state == "busy" for _, report in reports):
        raise typer.Exit(UNAVAILABLE)


class _How(NamedTuple):
    dry_run: bool
    any_age: bool
    allow_archive: bool


def _reports(shell: Shell, scope_id: int, mode: Mode, how: _How) -> "Iterator[CycleReport | PassReport]":
    """Run passes until none stops at a cap; a dry run stops after the first, because the second would be the same."""
    from slowwave_server.services.consolidation.asking import ModelUse
    from slowwave_server.services.consolidation.scope_pass import Order
    from slowwave_server.services.consolidation.whole import consolidate_whole
    from slowwave_server.services.working.consolidate import consolidate_working

    rules, by = shell.settings.memory.consolidation, operator()
    if how.any_age:
        rules = rules.model_copy(update={"min_age_days": 0.0})
    model = None if how.dry_run or mode is Mode.WORKING else shell.build_model(shell.settings)
    use, more = ModelUse.of(model, shell.settings.memory.llm), True
    while more:
        report: CycleReport | PassReport
        with progress(f"consolidating ({mode})", partial(_how_far, shell, scope_id, shell.now())):
            if mode is Mode.WORKING:
                report = consolidate_working(
                    shell.engine, scope_id, settings=rules, clock=shell.now, by=by, dry_run=how.dry_run
                )
            else:
                kind: Literal["light", "deep"] = "light" if mode is Mode.LIGHT else "deep"
                order = Order(scope_id, kind, by, dry_run=how.dry_run, allow_archive=how.allow_archive, model=use)
                report = consolidate_whole(shell.engine, order, settings=rules, clock=shell.now)
        yield report
        more = report.more and not how.dry_run


def _how_far(shell: Shell, scope_id: int, began: datetime) -> str:
    """Count the memories of the scope that were checked so far; none in a dry run, which commits nothing."""
    from sqlalchemy import func, select

    from slowwave_server.models import Memory

    query = select(func.count()).where(Memory.scope_id == scope_id, Memory.checked_at >= began)
    with shell.engine.connect() as connection:
        looked_at = connection.execute(query).scalar_one()
    return f"{pluralize(looked_at, 'memory', 'memories')} checked" if looked_at else ""


def _fields(report: "CycleReport | PassReport") -> dict[str, Any]:
    from slowwave_server.workers.shared.json_document import document

    fields: dict[str, Any] = document(report)
    return fields | {"summary": report.summary}


def _show(mode: Mode, report: "CycleReport | PassReport", *, dry_run: bool) -> None:
    from slowwave_server.services.working.consolidate import CycleReport
    from slowwave_server.workers.cli.diff import print_diff

    out = console()
    told = "" if report.run is None else f" (run {report.run})"
    would = "would be: " if dry_run and report.state == "completed" else ""
    out.print(f"{mode}{told}: {would}{report.summary}", soft_wrap=True)
    if isinstance(report, CycleReport):
        for one in report.outcomes:
            print_rows(out, [(one.outcome, styled(one_line(one.content or str(one.note), 300), "bold"))], indent=2)
            out.print(styled(f"    {one_line(one.why, 300)}", "dim"), soft_wrap=True)
    else:
        print_diff(report.changes)
