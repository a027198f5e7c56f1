"""`slowwave remember | working | consolidate`: note something, see what is noted, and make memories of it at once.

Must not know: SQL, how notes and memories are compared.
"""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from slowwave.memory_types import MemoryType
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import OPERATE, REMEMBER, Agent, Json, Limit, Scope, scope_of
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import FOUND, UNAVAILABLE
from slowwave_server.workers.cli.state import Shell, operator, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.consolidation.scope_pass import PassReport
    from slowwave_server.services.reports.working import ListedNote
    from slowwave_server.services.working.consolidate import CycleReport


class Mode(StrEnum):
    """What `consolidate` may be asked for."""

    WORKING = "working"
    LIGHT = "light"
    DEEP = "deep"
    ALL = "all"


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=REMEMBER)(remember)
    app.command(rich_help_panel=REMEMBER)(working)
    app.command(rich_help_panel=OPERATE)(consolidate)


def remember(
    context: typer.Context,
    agent: Agent,
    text: Annotated[str, typer.Argument(help="What is to be remembered.", show_default=False)],
    *,
    importance: Annotated[float, typer.Option(min=0.0, max=1.0, help="From 0 to 1.")] = 0.5,
    mark: Annotated[bool, typer.Option("--mark", help="Keep it, however unimportant.")] = False,
    session: Annotated[str | None, typer.Option(help="The session in which it came up.")] = None,
    kind: Annotated[MemoryType, typer.Option("--type", help="What sort of statement it is.")] = "fact",
    scope: Scope = None,
    key: Annotated[str | None, typer.Option(help="Makes a repetition of this call harmless.")] = None,
    as_json: Json = False,
) -> None:
    """Put something into an agent's working memory; the next cycle of consolidation decides about it."""
    from slowwave import Memory

    shell = shell_of(context)
    with Memory(shell.settings) as memory:
        noted = memory.remember(agent, text, importance, session, type=kind, marked=mark, scope=scope, key=key)
    if as_json:
        print_json(noted._asdict())
    else:
        until = f"It stays in working memory until {noted.expires_at:%Y-%m-%d %H:%M} UTC at most."
        console().print(f"{'Noted' if noted.added else 'Noted before, with this key'}. {until}")


def working(
    context: typer.Context,
    agent: Agent,
    *,
    scope: Scope = None,
    settled: Annotated[bool, typer.Option("--settled", help="What became of earlier notes instead.")] = False,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List what is in an agent's working memory, and how the next cycle will treat it."""
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.services.reports.working import list_notes

    shell = shell_of(context)
    place = scope_of(agent, scope)
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        rules = shell.settings.memory.consolidation
        found = list_notes(connection, shell.tenant, *place, rules, shell.now(), settled=settled, limit=limit)
    if as_json:
        print_json(found)
        return
    for note in found:
        _list(note)
    if not found:
        console().print("Nothing was ever settled there." if settled else "Working memory is empty.")
    elif len(found) == limit:
        console(stderr=True).print(f"These are {limit}; --limit shows more.")


def _list(note: "ListedNote") -> None:
    out = console()
    marks = [note.type, f"importance {note.importance:.2f}", f"noted {note.said_at:%Y-%m-%d %H:%M} UTC"]
    if note.session is not None:
        marks.append(note.session)
    if note.outcome is None:
        marks.append(f"until {note.expires_at:%Y-%m-%d %H:%M} UTC")
    out.print(styled(one_line(note.content, 500), "bold"), soft_wrap=True)
    out.print(styled(f"  {' · '.join(marks)}", "dim"), soft_wrap=True)
    at = "" if note.memory is None else f" ({note.memory})"
    out.print(styled(f"  {note.outcome or note.treatment}: {one_line(note.why, 300)}{at}", "dim"), soft_wrap=True)


def consolidate(
    context: typer.Context,
    agent: Agent,
    *,
    scope: Scope = None,
    mode: Annotated[
        Mode, typer.Option(help="The cycle of working memory, a light or a deep pass over memories, or all three.")
    ] = Mode.WORKING,
    any_age: Annotated[
        bool, typer.Option("--any-age", help="Passes also take memories that are younger than min_age_days.")
    ] = False,
    allow_archive: Annotated[
        bool, typer.Option("--allow-archive", help="Passes may archive more than the circuit breaker allows.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Consolidate at once, in this process. Exit 1 if something could not be kept, 3 if another pass is at it."""
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
        console().print("Nothing was ever written there.")
    if any(report.failed for _, report in reports):
        raise typer.Exit(FOUND)
    if any(report.state == "busy" for _, report in reports):
        raise typer.Exit(UNAVAILABLE)


class _How(NamedTuple):
    dry_run: bool
    any_age: bool
    allow_archive: bool


def _reports(shell: Shell, scope_id: int, mode: Mode, how: _How) -> "Iterator[CycleReport | PassReport]":
    """One after the other until no cap left anything; of a dry run the first alone, the next would be the same."""
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
    """How many memories of the scope were looked at since; a dry run shows none, since it commits nothing."""
    from sqlalchemy import func, select

    from slowwave_server.models import Memory

    query = select(func.count()).where(Memory.scope_id == scope_id, Memory.checked_at >= began)
    with shell.engine.connect() as connection:
        looked_at = connection.execute(query).scalar_one()
    return f"{pluralize(looked_at, 'memory', 'memories')} looked at" if looked_at else ""


def _fields(report: "CycleReport | PassReport") -> dict[str, Any]:
    from slowwave_server.workers.cli.output import document

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
