"""`slowwave run rebuild`: read an agent's conversations again with another extractor, compare, and switch."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Agent, By, Json, Limit, Yes, refuse_question
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.domain.candidates import Extractor
    from slowwave_server.services.rebuild.ledger import Owner
    from slowwave_server.services.rebuild.rebuild import Line, Report

WIDTH = 110
ExtractorOption = Annotated[
    Literal["rules", "model"] | None,
    typer.Option(help="The rules, or the model of the settings; default: the extractor of flushes."),
]
OnlyFallback = Annotated[
    bool, typer.Option("--only-fallback", help="Only events that the rules read because the model did not answer.")
]


def rebuild(
    context: typer.Context,
    agent: Agent,
    *,
    extractor: ExtractorOption = None,
    only_fallback: OnlyFallback = False,
    yes: Yes = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Read (model calls may cost money) and show the differences; do not switch."),
    ] = False,
    limit: Limit = 20,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Read an agent's conversations again, show the differences, ask, and switch. `run undo` reverses it.

    Exit 1 if reading stopped early; the same command continues.
    """
    from slowwave_server.services.rebuild.rebuild import Rebuilder

    refuse_question(as_json=as_json, yes=yes, dry_run=dry_run)
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
        complain(f"reading stopped early: {report.stopped}", "nothing was switched; the same command continues")
        raise typer.Exit(FOUND)


def _owner(shell: Shell, agent: str) -> "Owner":
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.services.rebuild.ledger import Owner

    with shell.connection() as connection:
        return Owner.of(connection, shell.tenant, agent, find_agent(connection, shell.tenant, agent))


def _extractor_of(shell: Shell, wanted: Literal["rules", "model"] | None) -> "Callable[[int], Extractor]":
    """Return a function that makes a run's extractor. Raises InvalidSettings without a needed model."""
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
        raise InvalidSettings("memory.llm.driver must be openai or command to rebuild with a model, got none")
    return lambda _run: rules_extractor(shell.settings)


def _tell(report: "Report", limit: int) -> None:
    out = console()
    out.print(one_line(report.summary, 500), soft_wrap=True)
    kept = [
        f"{pluralize(number, 'window')} {why}"
        for number, why in ((report.gone, "whose events were deleted"), (report.failed, "without a usable answer"))
        if number
    ]
    if kept:
        out.print(f"  Unchanged: {' and '.join(kept)}.", soft_wrap=True)
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
        out.print(f"\nSwitched: run {report.run}. `slowwave run undo {report.run}` reverses it.")
    elif report.stopped is None:
        out.print("\nNothing was changed. The results are kept: the same command does not read again.")
