"""`slowwave conflicts list | show | resolve | dismiss`: memories that can't both hold.

Must not know: SQL, how a contradiction is noticed.
"""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.workers.cli.deciding import AgentOption, By, DryRun, place_of, print_report, who
from slowwave_server.workers.cli.options import MEND, SCOPE_HELP, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sides import print_conflict
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.reports.conflicts import ListedConflict
    from slowwave_server.services.review.decisions import Decision

Number = Annotated[int, typer.Argument(help="The conflict's number.", show_default=False)]

app = typer.Typer(no_args_is_help=True, help="Memories that contradict each other: list, show, resolve, dismiss.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="conflicts", rich_help_panel=MEND)


@app.command("list")
def list_(
    context: typer.Context,
    *,
    agent: AgentOption = None,
    scope: Annotated[str | None, typer.Option(help=f"Only of {SCOPE_HELP}")] = None,
    status: Annotated[
        Literal["open", "resolved", "dismissed", "any"], typer.Option(help="What became of them.")
    ] = "open",
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List conflicts, the newest first, with both sides."""
    from slowwave_server.services.reports.conflicts import list_conflicts

    shell = shell_of(context)
    with shell.connection() as connection:
        place = place_of(connection, shell, agent, scope)
        wanted = None if status == "any" else status
        found = list_conflicts(connection, shell.tenant, scope=place, status=wanted, limit=limit)
    if as_json:
        print_json(found)
        return
    for conflict in found:
        _head(conflict)
        print_conflict(conflict)
    if not found:
        console().print("There are no such conflicts.")
    elif len(found) == limit:
        console(stderr=True).print(f"These are the newest {limit}; --limit shows more.")


@app.command()
def show(context: typer.Context, number: Number, *, as_json: Json = False) -> None:
    """Show a conflict: both sides with what was said, and what each decision would do."""
    from slowwave_server.services.reports.conflicts import read_conflict
    from slowwave_server.services.reports.review import what_answers_do
    from slowwave_server.services.review.decisions import Decision

    shell = shell_of(context)
    with shell.connection() as connection:
        conflict = read_conflict(connection, shell.tenant, number)
        later, earlier = conflict.newer.id, conflict.older.id
        answers = {
            f"resolve {number} --keep {later}": Decision("keep", later),
            f"resolve {number} --keep {earlier}": Decision("keep", earlier),
            f"resolve {number} --neither": Decision("neither"),
            f"dismiss {number}": Decision("reject"),
        }
        names = {later: "the later statement", earlier: "the earlier statement"}
        told = what_answers_do(connection, shell.tenant, "conflict", number, answers, names)
    if as_json:
        print_json({"conflict": conflict, "answers": told})
        return
    _head(conflict)
    print_conflict(conflict, full=True)
    if told:
        console().print()
    for command, effect in told.items():
        print_rows(console(), [(styled(f"slowwave conflicts {command}", "bold"),), (styled(f"  {effect}"),)])


def _head(conflict: "ListedConflict") -> None:
    out = console()
    asked = "" if conflict.question is None else f"asked in question {conflict.question}"
    noticed = f"noticed {conflict.noticed_at:%Y-%m-%d}" + ("" if conflict.run is None else f" by run {conflict.run}")
    marks = (conflict.status, conflict.scope, noticed, asked)
    line = styled(f"{conflict.id}", "bold"), styled(" · ".join(mark for mark in marks if mark))
    print_rows(out, [line])
    rows = [("why", one_line(conflict.reason, 300))]
    if verdict := conflict.evidence.get("asked"):
        rows.append(
            ("model", one_line(f"{verdict['holds']}: {verdict.get('why', 'forgotten')} ({verdict['by']})", 300))
        )
    if conflict.resolution is not None:
        by = "" if conflict.decided_by is None else f", by {conflict.decided_by}"
        at = "" if conflict.decided_at is None else f" ({conflict.decided_at:%Y-%m-%d %H:%M} UTC{by})"
        rows.append(("decided", one_line(conflict.resolution + at, 300)))
    print_rows(out, [(f"{name:<9}", text) for name, text in rows], indent=4)


@app.command()
def resolve(
    context: typer.Context,
    number: Number,
    *,
    keep: Annotated[
        str | None, typer.Option(metavar="MEMORY", help="The memory that holds.", show_default=False)
    ] = None,
    neither: Annotated[bool, typer.Option("--neither", help="None of the two holds: both are rejected.")] = False,
    by: By = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say which side holds: the later one replaces the earlier; if the earlier holds, the later is rejected."""
    from slowwave_server.services.review.decisions import Decision

    if (keep is None) != neither:
        raise typer.BadParameter("give --keep MEMORY, or --neither")
    kept = None if keep is None else shell_of(context).memory_id(keep)
    _decide(
        context,
        [number],
        Decision("neither") if kept is None else Decision("keep", kept),
        by=by,
        dry_run=dry_run,
        as_json=as_json,
    )


@app.command()
def dismiss(
    context: typer.Context,
    numbers: Annotated[list[int], typer.Argument(help="The conflicts' numbers.", show_default=False)],
    *,
    by: By = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say that both sides hold: there is no contradiction."""
    from slowwave_server.services.review.decisions import Decision

    _decide(context, numbers, Decision("reject"), by=by, dry_run=dry_run, as_json=as_json)


def _decide(
    context: typer.Context,
    numbers: list[int],
    decision: "Decision",
    *,
    by: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    from slowwave_server.services.review.decisions import decide_conflicts

    shell = shell_of(context)
    shell.check_database()
    report = decide_conflicts(
        shell.engine, shell.tenant, numbers, decision, by=who(by), now=shell.now(), dry_run=dry_run
    )
    print_report(report, "conflict", as_json=as_json)
