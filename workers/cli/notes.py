"""`slowwave note add | list | curate`: working memory."""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.memory_types import MemoryType
from slowwave_server.workers.cli.options import Agent, DryRun, Json, Limit, Scope, scope_of
from slowwave_server.workers.cli.output import console, one_line, print_json, styled
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import UNAVAILABLE

if TYPE_CHECKING:
    from slowwave_server.services.curation.curate import CurationReport
    from slowwave_server.services.reports.working import ListedNote


def add(
    context: typer.Context,
    agent: Agent,
    text: Annotated[str, typer.Argument(help="The statement to remember.", show_default=False)],
    *,
    importance: Annotated[float, typer.Option(min=0.0, max=1.0, help="The importance of the note.")] = 0.5,
    mark: Annotated[bool, typer.Option("--mark", help="Keep the note whatever its importance.")] = False,
    session: Annotated[str | None, typer.Option(help="The session that the note belongs to.")] = None,
    kind: Annotated[MemoryType, typer.Option("--type", help="The type of the statement.")] = "fact",
    scope: Scope = None,
    key: Annotated[
        str | None, typer.Option(help="An idempotency key: a second call with the same key changes nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add a note to an agent's working memory. The next consolidation cycle decides whether it becomes a memory."""
    from slowwave import Memory

    shell = shell_of(context)
    with Memory(shell.settings) as memory:
        noted = memory.remember(agent, text, importance, session, type=kind, marked=mark, scope=scope, key=key)
    if as_json:
        print_json(noted._asdict())
    else:
        until = f"It expires from working memory at {noted.expires_at:%Y-%m-%d %H:%M} UTC."
        console().print(f"{'Noted' if noted.added else 'A note with this key exists already'}. {until}")


def list_notes(
    context: typer.Context,
    agent: Agent,
    *,
    scope: Scope = None,
    settled: Annotated[bool, typer.Option("--settled", help="List processed notes and their outcome instead.")] = False,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List the notes of a working memory: an agent's own, or, with --scope, a shared scope's with notes of all agents.

    The list says what the next consolidation cycle will do with each note: keep it, leave it waiting, or let it expire.
    """
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.services.reports.working import list_notes as read_notes

    shell = shell_of(context)
    place = scope_of(agent, scope)
    with shell.connection() as connection:
        find_agent(connection, shell.tenant, agent)
        rules = shell.settings.memory.consolidation
        found = read_notes(connection, shell.tenant, *place, rules, shell.now(), settled=settled, limit=limit)
    if as_json:
        print_json(found)
        return
    for note in found:
        _print_note(note)
    if not found:
        console().print("There are no processed notes." if settled else "Working memory is empty.")
    elif len(found) == limit:
        console(stderr=True).print(f"These are {limit}; --limit shows more.")


def _print_note(note: "ListedNote") -> None:
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


def curate(
    context: typer.Context,
    scope: Annotated[
        str, typer.Argument(help="An agent's name, or room:NAME, team:NAME.", show_default=False, metavar="SCOPE")
    ],
    *,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Promote the best notes of a scope to long-term memories, a few per pass. Exit 3 if another pass is running."""
    from slowwave.errors import SlowwaveError
    from slowwave.identity import scope_of
    from slowwave_server.services.curation.curate import CurationRules
    from slowwave_server.services.curation.curate import curate as run_pass
    from slowwave_server.services.lookup import find_scope

    kind, name = scope_of(None, scope) if scope.startswith(("room:", "team:")) else scope_of(scope, None)
    shell = shell_of(context)
    with shell.connection() as connection:
        scope_id = find_scope(connection, shell.tenant, kind, name)
    if scope_id is None:
        raise SlowwaveError(f"tenant {shell.tenant!r} has no scope {kind}:{name}")
    settings = shell.settings.memory
    rules = CurationRules(settings.auto_flush.curation, settings.consolidation)
    report = run_pass(shell.engine, scope_id, rules=rules, clock=shell.now, by=operator(), dry_run=dry_run)
    if as_json:
        print_json(report)
    else:
        _show(report, dry_run=dry_run)
    if report.state == "busy":
        raise typer.Exit(UNAVAILABLE)


def _show(report: "CurationReport", *, dry_run: bool) -> None:
    from slowwave_server.workers.cli.diff import print_diff

    told = "" if report.run is None or report.state != "completed" else f" (run {report.run})"
    would = "would be: " if dry_run and report.state == "completed" else ""
    console().print(f"curation{told}: {would}{report.summary}", soft_wrap=True)
    print_diff(report.changes)
