"""The forget commands and `slowwave admin receipts`: delete for good, with a preview and a receipt."""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import Agent, By, Json, Limit, Yes, refuse_question
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.forget.forget import Report
    from slowwave_server.services.forget.target import Target

OnlyPreview = Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted; delete nothing.")]


def forget_memory(
    context: typer.Context,
    memory: Annotated[
        str | None, typer.Argument(help="The memory's id, or its last 8 characters.", show_default=False)
    ] = None,
    *,
    scope: Annotated[
        str | None,
        typer.Option(help="Instead: all of room:NAME or team:NAME, or agent:NAME for the agent's own scope."),
    ] = None,
    yes: Yes = False,
    dry_run: OnlyPreview = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Delete a memory for good, with the memories that were merged into it; or a whole scope.

    Shows what would be deleted, and asks for confirmation. Exit 1 if a part could not be deleted.
    """
    from slowwave_server.services.forget.target import Target
    from slowwave_server.services.requests.work import scope_named

    if (memory is None) == (scope is None):
        raise typer.BadParameter("give MEMORY or --scope, one of the two")
    shell = shell_of(context)
    if memory is not None:
        target = Target.of_memory(shell.tenant, shell.memory_id(memory))
    else:
        target = Target.of_scope(shell.tenant, *scope_named(scope or ""))
    _forget(shell, target, yes=yes, dry_run=dry_run, by=by, as_json=as_json)


def forget_session(
    context: typer.Context,
    agent: Agent,
    session: Annotated[str, typer.Argument(help="The session's id.", show_default=False)],
    *,
    yes: Yes = False,
    dry_run: OnlyPreview = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Delete a conversation for good, with the memories that come from it alone.

    Shows what would be deleted, and asks for confirmation. Exit 1 if a part could not be deleted.
    """
    from slowwave_server.services.forget.target import Target

    shell = shell_of(context)
    target = Target.of_session(shell.tenant, agent, session)
    _forget(shell, target, yes=yes, dry_run=dry_run, by=by, as_json=as_json)


def forget_agent(
    context: typer.Context,
    agent: Agent,
    *,
    yes: Yes = False,
    dry_run: OnlyPreview = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Delete an agent for good, with its sessions, memories, notes and days.

    Shows what would be deleted, and asks for confirmation. Exit 1 if a part could not be deleted.
    """
    from slowwave_server.services.forget.target import Target

    shell = shell_of(context)
    _forget(shell, Target.of_agent(shell.tenant, agent), yes=yes, dry_run=dry_run, by=by, as_json=as_json)


def _forget(shell: Shell, target: "Target", *, yes: bool, dry_run: bool, by: str | None, as_json: bool) -> None:
    from slowwave_server.services.forget.forget import Forgetter

    refuse_question(as_json=as_json, yes=yes, dry_run=dry_run)
    shell.check_database()
    forgetter = Forgetter(shell.engine, shell.redis, shell.settings, shell.now)
    if not yes:
        with progress("counting"):
            preview = forgetter.preview(target)
        _print(preview, as_json=as_json and dry_run)
        if dry_run:
            return
        typer.confirm("Delete it? This cannot be undone.", abort=True)
    with progress("deleting"):
        report = forgetter.forget(target, by=by or operator())
    _print(report, as_json=as_json)
    for problem in report.problems:
        complain(problem, "run the same command again when this is solved")
    if report.problems:
        raise typer.Exit(FOUND)


def _print(report: "Report", *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    out = console()
    verb = "would be forgotten" if report.receipt is None else "is forgotten"
    out.print(styled(f"{report.target[0].upper()}{report.target[1:]} {verb}.", "bold"))
    if report.counts:
        print_rows(out, [(f"{number:>9,}", label) for label, number in sorted(report.counts.items())])
    else:
        out.print("  There is nothing to delete.")
    if report.sessions:
        more = report.counts.get("sessions", 0) - len(report.sessions)
        names = ", ".join(one_line(name) for name in report.sessions)
        out.print(f"Sessions: {names}" + (f" and {more:,} more" if more > 0 else ""))
    for hint in report.hints:
        out.print(hint)
    if report.receipt is not None:
        out.print(styled(f"Receipt {report.receipt}; `slowwave admin receipts` lists all receipts.", "dim"))


def receipts(context: typer.Context, *, limit: Limit = 20, as_json: Json = False) -> None:
    """List receipts of forgotten data, the newest first: time, person, and number of rows of each kind."""
    from slowwave_server.services.forget.receipts import receipts as read_receipts

    shell = shell_of(context)
    with shell.connection() as connection:
        found = read_receipts(connection, shell.tenant, limit=limit)
    if as_json:
        print_json(found)
        return
    out = console()
    if not found:
        out.print("Nothing was forgotten yet.")
    for receipt in found:
        by = "" if receipt.by is None else f"by {receipt.by}"
        at = f"{receipt.at:%Y-%m-%d %H:%M:%S} UTC"
        print_rows(out, [(styled(f"{receipt.id}", "bold"), at, one_line(receipt.target), by)])
        counted = ", ".join(f"{number:,} {label}" for label, number in sorted(receipt.counts.items()))
        print_rows(out, [(counted or "there was nothing to delete",)], indent=4)
