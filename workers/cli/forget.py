"""`slowwave forget`: everything of an agent, a session, a scope or a memory, with a preview and a receipt.

Must not know: where things stand that are deleted.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import MEND, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import FOUND, complain
from slowwave_server.workers.cli.state import Shell, operator, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.forget.forget import Forgetter, Report
    from slowwave_server.services.forget.target import Target

ScopeOption = Annotated[
    str | None, typer.Option(help="room:NAME, team:NAME, or agent:NAME for what an agent knows by itself.")
]


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=MEND)(forget)


def forget(
    context: typer.Context,
    *,
    agent: Annotated[str | None, typer.Option(help="All of this agent; with --session one conversation.")] = None,
    session: Annotated[str | None, typer.Option(help="One conversation of --agent.")] = None,
    scope: ScopeOption = None,
    memory: Annotated[str | None, typer.Option(help="One memory, with what was merged into it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    receipts: Annotated[bool, typer.Option("--receipts", help="List what was forgotten, the newest first.")] = False,
    limit: Limit = 20,
    by: Annotated[str | None, typer.Option(help="Who asks for it; default: you.")] = None,
    as_json: Json = False,
) -> None:
    """Forget an agent, a session, a scope or a memory for good. Shows what would go, and asks."""
    shell = shell_of(context)
    if receipts:
        _list(shell, limit, as_json=as_json)
        return
    target = _target(shell, agent, session, scope, memory)
    if as_json and not (yes or dry_run):
        raise typer.BadParameter("--json does not ask: give --dry-run, or --yes to do it")
    forgetter = _forgetter(shell)
    if not yes:
        preview = forgetter.preview(target)
        if dry_run:
            _tell(preview, as_json=as_json)
            return
        _tell(preview, as_json=False)
        typer.confirm("Forget it? This can't be undone.", abort=True)
    report = forgetter.forget(target, by=by or operator())
    _tell(report, as_json=as_json)
    for problem in report.problems:
        complain(problem, "give the same command again when that is mended")
    if report.problems:
        raise typer.Exit(FOUND)


def _target(shell: Shell, agent: str | None, session: str | None, scope: str | None, memory: str | None) -> "Target":
    from slowwave.errors import InvalidName
    from slowwave.identity import shared_scope
    from slowwave_server.services.forget.target import Target

    if session is not None and agent is None:
        raise typer.BadParameter("--session needs --agent: sessions are known by both")
    if sum(given is not None for given in (agent, scope, memory)) != 1:
        raise typer.BadParameter("give one of --agent, --scope and --memory; --session goes with --agent")
    if memory is not None:
        return Target.of_memory(shell.tenant, shell.memory_id(memory))
    if scope is not None:
        kind, _, name = scope.partition(":")
        if kind == "agent" and name:
            return Target.of_scope(shell.tenant, kind, name)
        try:
            return Target.of_scope(shell.tenant, *shared_scope(scope))
        except InvalidName:
            raise InvalidName(f"scope: {scope!r} is none of room:NAME, team:NAME and agent:NAME") from None
    if session is not None:
        return Target.of_session(shell.tenant, agent or "", session)
    return Target.of_agent(shell.tenant, agent or "")


def _forgetter(shell: Shell) -> "Forgetter":
    from slowwave_server.services.forget.forget import Forgetter

    shell.check_database()
    return Forgetter(shell.engine, shell.redis, shell.settings, shell.now)


def _tell(report: "Report", *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    out = console()
    verb = "would be forgotten" if report.receipt is None else "is forgotten"
    out.print(styled(f"{report.target[0].upper()}{report.target[1:]} {verb}.", "bold"))
    if report.counts:
        print_rows(out, [(f"{number:>9,}", label) for label, number in sorted(report.counts.items())])
    else:
        out.print("  Nothing is left of it.")
    if report.sessions:
        more = report.counts.get("sessions", 0) - len(report.sessions)
        names = ", ".join(one_line(name) for name in report.sessions)
        out.print(f"Conversations: {names}" + (f" and {more:,} more" if more > 0 else ""))
    for hint in report.hints:
        out.print(hint)
    if report.receipt is not None:
        out.print(styled(f"Receipt {report.receipt}; `slowwave forget --receipts` lists them.", "dim"))


def _list(shell: Shell, limit: int, *, as_json: bool) -> None:
    from slowwave_server.services.forget.receipts import receipts

    with shell.connection() as connection:
        found = receipts(connection, shell.tenant, limit=limit)
    if as_json:
        print_json(found)
        return
    out = console()
    if not found:
        out.print("Nothing was ever forgotten.")
    for receipt in found:
        by = "" if receipt.by is None else f"by {receipt.by}"
        at = f"{receipt.at:%Y-%m-%d %H:%M:%S} UTC"
        print_rows(out, [(styled(f"{receipt.id}", "bold"), at, one_line(receipt.target), by)])
        counted = ", ".join(f"{number:,} {label}" for label, number in sorted(receipt.counts.items()))
        print_rows(out, [(counted or "nothing was left of it",)], indent=4)
