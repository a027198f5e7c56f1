"""`slowwave runs | undo`: what passes and people did to memories, and taking it back.

Must not know: SQL, what a pass does.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.options import MEND, SCOPE_HELP, Json, Limit, scope_parts
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.state import operator, shell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slowwave_server.services.reports.runs import RunLine, RunStory
    from slowwave_server.services.undo.report import UndoReport

Kind = Literal["working", "light", "deep", "review", "undo", "import", "files", "curation", "other", "rebuild"]
AgentOption = Annotated[str | None, typer.Option(help="Only runs that worked on this agent's own memories.")]
ScopeOption = Annotated[str | None, typer.Option(help=f"Only runs that worked on {SCOPE_HELP}")]
KindOption = Annotated[Kind | None, typer.Option(help="Only runs of this kind.")]

RUNS_NAMED = 20
"""So many of the runs that a run started are named."""

app = typer.Typer(help="What passes and people did to memories: list, show.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="runs", rich_help_panel=MEND)
    parent.command(rich_help_panel=MEND)(undo)


@app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    *,
    agent: AgentOption = None,
    scope: ScopeOption = None,
    kind: KindOption = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """What passes and people did to memories. Without a command: a list of the newest runs."""
    if context.invoked_subcommand is None:
        _list(context, agent=agent, scope=scope, kind=kind, limit=limit, as_json=as_json)


@app.command("list")
def list_(
    context: typer.Context,
    *,
    agent: AgentOption = None,
    scope: ScopeOption = None,
    kind: KindOption = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List the runs, the newest first."""
    _list(context, agent=agent, scope=scope, kind=kind, limit=limit, as_json=as_json)


def _list(
    context: typer.Context,
    *,
    agent: str | None,
    scope: str | None,
    kind: Kind | None,
    limit: int,
    as_json: bool,
) -> None:
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.services.reports.runs import list_runs

    if agent is not None and scope is not None:
        raise typer.BadParameter("give --agent or --scope, one of the two")
    place = None if scope is None else scope_parts(scope)
    shell = shell_of(context)
    with shell.connection() as connection:
        if agent is not None:
            find_agent(connection, shell.tenant, agent)
            place = ("agent", agent)
        found = list_runs(connection, shell.tenant, scope=place, kind=kind, limit=limit)
    if as_json:
        print_json(found)
        return
    out = console()
    if not found:
        out.print("There are no such runs.")
        return
    print_rows(out, [_row(run) for run in found])
    if len(found) == limit:
        console(stderr=True).print(f"These are the newest {limit}; --limit shows more.")


def _row(run: "RunLine") -> tuple[Any, ...]:
    status = run.status if run.undone_by is None else f"undone by run {run.undone_by}"
    place = run.scope or "all scopes"
    said = run.error or run.summary or ""
    by = "" if run.by is None else f"by {run.by}"
    return (
        styled(str(run.id), "bold"), f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC", run.kind, place, by, status,
        one_line(said, 200),
    )  # fmt: skip


def _numbers(runs: "Sequence[int]") -> str:
    shown = ", ".join(f"run {run}" for run in runs[:RUNS_NAMED])
    return shown if len(runs) <= RUNS_NAMED else f"{shown} and {len(runs) - RUNS_NAMED:,} more"


@app.command()
def show(
    context: typer.Context,
    run: Annotated[int, typer.Argument(help="The run's number.", show_default=False)],
    *,
    limit: Limit = 200,
    as_json: Json = False,
) -> None:
    """Show a run: its statistics, and every change with what was, what became of it and why."""
    from slowwave_server.services.reports.runs import read_run

    shell = shell_of(context)
    with shell.connection() as connection:
        story = read_run(connection, shell.tenant, run, limit=limit)
    if as_json:
        print_json(story)
    else:
        _show(story)


def _show(story: "RunStory") -> None:
    run, out = story.run, console()
    took = "it is under way" if run.seconds is None else f"it took {duration_words(run.seconds)}"
    rows = [
        ("run", f"{run.id}, {run.kind}, {run.status}" + ("" if run.undone_by is None else f" by run {run.undone_by}")),
        ("of", run.scope or "all scopes"),
        ("began", f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC, {took}"),
    ]
    if run.by is not None:
        rows.append(("by", run.by))
    if run.job is not None:
        rows.append(("job", run.job))
    if run.undoes is not None:
        rows.append(("undid", f"run {run.undoes}"))
    if run.part_of is not None:
        rows.append(("started by", f"run {run.part_of}"))
    rows.extend((name, text) for name, text in (("summary", run.summary), ("error", run.error)) if text)
    rows.extend((name, str(value)) for name, value in run.stats.items() if not isinstance(value, (dict, list)))
    counted = [f"{number:,} {action}" for action, number in story.actions.items()]
    rows.append(("changes", ", ".join(counted) or "none"))
    if story.parts:
        rows.append(("started", _numbers(story.parts)))
    if story.added:
        rows.append(("added", ", ".join(f"{number:,} {name}" for name, number in story.added.items())))
    print_rows(out, rows)
    if story.changes:
        out.print()
    print_diff(story.changes, total=story.changed)


def undo(
    context: typer.Context,
    run: Annotated[
        int,
        typer.Argument(
            help="The run's number; `slowwave runs` lists them. If the run is an undo, what it undid stands again.",
            show_default=False,
        ),
    ],
    *,
    no_repeat: Annotated[
        bool, typer.Option("--no-repeat", help="Keep later passes from deciding the same about these memories.")
    ] = False,
    by: Annotated[str | None, typer.Option(help="Who asks for it; default: you.")] = None,
    as_json: Json = False,
) -> None:
    """Undo a run, and the runs that it started: contents, links, statuses and sources are again what they were."""
    from slowwave_server.services.forget.forget import Forgetter
    from slowwave_server.services.moving_in.undoing import undo_any

    shell = shell_of(context)
    shell.check_database()
    report = undo_any(
        shell.engine,
        shell.tenant,
        run,
        by=by or operator(),
        now=shell.now(),
        forgetting=lambda: Forgetter(shell.engine, shell.redis, shell.settings, shell.now),
        no_repeat=no_repeat,
    )
    if as_json:
        print_json(report)
    else:
        _print_undo(report, no_repeat=no_repeat)
    if report.refused:
        raise typer.Exit(1)


def _print_undo(report: "UndoReport", *, no_repeat: bool) -> None:
    out = console()
    out.print(f"R{report.summary[1:]}.")
    if report.gone:
        out.print(f"{'Written back' if report.again else 'Removed with it'}: {report.gone}.")
    if report.decisions:
        out.print(f"{pluralize(report.decisions, 'decision')} reversed.")
    for reason in report.refused:
        console(stderr=True).print(f"Not undone: {reason}.")
    said = f"This undo is run {report.run}; `slowwave undo {report.run}` reverses it."
    if report.final:
        said = f"This undo is run {report.run}. It can't be reversed: `slowwave import-from` brings the same in again."
    elif no_repeat:
        said += " No later pass decides the same about these memories."
    elif not report.again:
        said += " A later pass may decide the same again; to prevent that, undo with `--no-repeat`."
    out.print(styled(said, "dim"))
