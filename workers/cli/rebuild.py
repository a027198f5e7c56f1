"""`slowwave rebuild`: let another extractor read an agent's conversations again, see what differs, and switch.

Must not know: how memories are compared and switched.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import MEND, Agent, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import FOUND, complain
from slowwave_server.workers.cli.state import Shell, operator, shell_of

if TYPE_CHECKING:
    from slowwave_server.domain.candidates import Extractor
    from slowwave_server.services.rebuild.ledger import Owner
    from slowwave_server.services.rebuild.rebuild import Line, Report

WIDTH = 110
ExtractorOption = Annotated[
    Literal["rules", "model"] | None,
    typer.Option(help="Who reads: the rules, or the model of the settings; default: as flushes are read."),
]


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=MEND)(rebuild)


def rebuild(
    context: typer.Context,
    agent: Agent,
    *,
    extractor: ExtractorOption = None,
    only_fallback: Annotated[
        bool, typer.Option("--only-fallback", help="Only what was left to the rules when the model could not be asked.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Switch without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read, which may cost calls, and only show it.")] = False,
    limit: Limit = 20,
    by: Annotated[str | None, typer.Option(help="Who asks for it; default: you.")] = None,
    as_json: Json = False,
) -> None:
    """Read an agent's conversations again, show what would differ, and switch. `slowwave undo` takes it back."""
    from slowwave_server.services.rebuild.rebuild import Rebuilder

    if as_json and not (yes or dry_run):
        raise typer.BadParameter("--json does not ask: give --dry-run, or --yes to do it")
    shell = shell_of(context)
    owner = _owner(shell, agent)
    reading = _extractor_of(shell, extractor)

    def confirm(report: "Report") -> bool:
        if not yes:
            _tell(report, limit)
        return yes or typer.confirm("Switch to this?")

    rebuilder = Rebuilder(shell.engine, reading, shell.now, None if dry_run else confirm)
    report = rebuilder.rebuild(owner, only_fallback=only_fallback, by=by or operator())
    if as_json:
        print_json(report)
    else:
        if yes or dry_run or report.stopped is not None:
            _tell(report, limit)
        _say_end(report)
    if report.stopped is not None:
        complain(f"not all was read: {report.stopped}", "nothing was switched; the same command goes on from there")
        raise typer.Exit(FOUND)


def _owner(shell: Shell, agent: str) -> "Owner":
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.services.rebuild.ledger import Owner

    with shell.connection() as connection:
        return Owner.of(connection, shell.tenant, agent, find_agent(connection, shell.tenant, agent))


def _extractor_of(shell: Shell, wanted: Literal["rules", "model"] | None) -> "Callable[[int], Extractor]":
    """Makes the extractor for a run's number. Raises InvalidSettings where there is no model."""
    from slowwave.errors import InvalidSettings
    from slowwave_server.services.extraction.build import extraction_model, model_extractor
    from slowwave_server.services.extraction.judging import rules_extractor
    from slowwave_server.services.extraction.model_extractor import KnowsNothing

    llm = shell.settings.memory.llm
    if wanted == "rules" or (wanted is None and not llm.extract):
        return lambda _run: rules_extractor(shell.settings)
    model = extraction_model(shell.settings, shell.engine, shell.redis, shell.now)
    if model is not None:
        found = model
        return lambda run: model_extractor(shell.settings, found, KnowsNothing(), run)
    if wanted == "model":
        raise InvalidSettings("there is no model: memory.llm.driver is none, set it to openai or command")
    return lambda _run: rules_extractor(shell.settings)


def _tell(report: "Report", limit: int) -> None:
    out = console()
    out.print(one_line(report.summary, 500), soft_wrap=True)
    kept = [
        f"{pluralize(number, 'window')} {why}"
        for number, why in ((report.gone, "whose events are not kept"), (report.failed, "without an answer of use"))
        if number
    ]
    if kept:
        out.print(f"  As they are stay {' and '.join(kept)}.", soft_wrap=True)
    if report.tokens or report.calls:
        out.print(f"  {pluralize(report.calls, 'call')} now; {report.tokens:,} tokens for what is read", soft_wrap=True)
    for title, lines in (("Gained", report.gained), ("Lost", report.lost), ("Changed", report.changed)):
        _lines(title, lines, limit)


def _lines(title: str, lines: "tuple[Line, ...]", limit: int) -> None:
    if not lines:
        return
    out = console()
    out.print(styled(f"\n{title}:", "bold"))
    for line in lines[:limit]:
        if line.before is not None:
            print_rows(out, [(one_line(line.before, WIDTH),)])
        print_rows(out, [("→ " if line.before is not None else "", line.type, one_line(line.content, WIDTH))])
    if len(lines) > limit:
        out.print(f"  and {len(lines) - limit:,} more (--limit)")


def _say_end(report: "Report") -> None:
    out = console()
    if report.switched:
        out.print(f"\nSwitched: run {report.run}. `slowwave undo {report.run}` takes it back.")
    elif report.stopped is None:
        out.print("\nNothing was changed. What was read is kept, and not read again by the same command.")
