"""`slowwave run list | show | undo`: what passes and people did to memories."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.workers.cli.deciding import place_of
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.options import By, Json, Limit, OnlyAgent, OnlyScope
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slowwave_server.services.reports.run_list import RunLine
    from slowwave_server.services.reports.runs import RunStory
    from slowwave_server.services.undo.report import UndoReport

Kind = Literal["working", "light", "deep", "review", "undo", "import", "files", "curation", "other", "rebuild"]
KindOption = Annotated[Kind | None, typer.Option(help="Only runs of this kind.")]

RUNS_NAMED = 20
"""The largest number of child runs that are named."""


def list_(
    context: typer.Context,
    *,
    agent: OnlyAgent = None,
    scope: OnlyScope = None,
    kind: KindOption = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List runs, the newest first."""
    from slowwave_server.services.reports.run_list import list_runs

    shell = shell_of(context)
    with shell.driver() as connection:
        place = place_of(connection, shell, agent, scope)
        found = list_runs(connection, shell.tenant, scope=place, kind=kind, limit=limit)
    if as_json:
        print_json(found)
        return
    out = console()
    if not found:
        out.print("No run matches.")
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


def show(
    context: typer.Context,
    run: Annotated[int, typer.Argument(help="The run's number.", show_default=False)],
    *,
    limit: Limit = 200,
    as_json: Json = False,
) -> None:
    """Show a run: its statistics, and every change with the values before and after, and the reason."""
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
    took = "it is running" if run.seconds is None else f"it took {duration_words(run.seconds)}"
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
    rows.extend(("evidence at risk", f"{memory}: {one_line(content, 100)}") for memory, content in story.lost.items())
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
            help="The run's number. Undoing an undo applies the original run again.",
            show_default=False,
        ),
    ],
    *,
    no_repeat: Annotated[
        bool, typer.Option("--no-repeat", help="Prevent later passes from deciding the same about these memories.")
    ] = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Undo a run and the runs that it started: restore contents, links, statuses and sources.

    Exit 1 if a change could not be undone, for example because a later run changed the same memory.
    """
    from slowwave_server.services.forget.forget import Forgetter
    from slowwave_server.services.moving_in.undoing import undo_any

    shell = shell_of(context)
    shell.check_database()
    with progress(f"undoing run {run}"):
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
        raise typer.Exit(FOUND)


def _print_undo(report: "UndoReport", *, no_repeat: bool) -> None:
    out = console()
    out.print(f"R{report.summary[1:]}.")
    if report.gone:
        out.print(f"{'Written back' if report.again else 'Removed with it'}: {report.gone}.")
    if report.decisions:
        out.print(f"{pluralize(report.decisions, 'decision')} reversed.")
    for reason in report.refused:
        console(stderr=True).print(f"Not undone: {reason}.")
    said = f"This undo is run {report.run}; `slowwave run undo {report.run}` reverses it."
    if report.final:
        said = (
            f"This undo is run {report.run}. It cannot be reversed; `slowwave import from` imports the same data again."
        )
    elif no_repeat:
        said += " No later pass decides the same about these memories."
    elif not report.again:
        said += " A later pass may decide the same again; to prevent that, undo with `--no-repeat`."
    out.print(styled(said, "dim"))
