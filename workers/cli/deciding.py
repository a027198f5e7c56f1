"""What commands that decide have in common: who decides, what is chosen, and what they print afterwards.

Must not know: questions, conflicts, SQL.
"""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.output import console, one_line, print_json
from slowwave_server.workers.cli.sentences import FOUND, complain
from slowwave_server.workers.cli.state import Shell, operator

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from slowwave_server.services.review.decisions import DecisionReport

By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decides; default: you.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show every change that it would make, and make none.")]
AgentOption = Annotated[str | None, typer.Option("--agent", help="Only of this agent's own memories.")]

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*(min|h|d|w)")
_UNIT = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_age(text: str) -> timedelta:
    """`7d`, `12h`, `2w`, `90min`. Raises typer.BadParameter."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no age; 30min, 12h, 7d and 2w are")
    return float(found[1]) * _UNIT[found[2]]


def who(by: str | None) -> str:
    """The name under which a decision is noted."""
    return by or operator()


def place_of(connection: "Connection", shell: Shell, agent: str | None, scope: str | None) -> tuple[str, str] | None:
    """The scope that is meant; None for all of the tenant's. Raises UnknownName, InvalidName, typer.BadParameter."""
    from slowwave_server.services.lookup import find_agent
    from slowwave_server.workers.cli.options import scope_parts

    if agent is not None and scope is not None:
        raise typer.BadParameter("give --agent or --scope, one of the two")
    if agent is not None:
        find_agent(connection, shell.tenant, agent)
        return "agent", agent
    return None if scope is None else scope_parts(scope)


def print_report(report: "DecisionReport", thing: str, *, as_json: bool) -> None:
    """Say what came of a batch of decisions. Exit 1 where one of them could not be made."""
    if as_json:
        print_json(report)
    else:
        _print(report, thing)
    if report.decided < len(report.results):
        raise typer.Exit(FOUND)


def print_run(run: int, done: str = "Done") -> None:
    """Say which run did it, and how to undo it."""
    console().print(f"{done} in run {run}; `slowwave undo {run}` takes that back.")


def _print(report: "DecisionReport", thing: str) -> None:
    out = console()
    if report.dry_run:
        print_diff(report.changes)
    for result in report.results:
        if result.outcome == "decided":
            out.print(one_line(f"{thing} {result.number}: {result.text}", 300), soft_wrap=True)
        else:
            complain(result.text if result.outcome != "refused" else f"{thing} {result.number}: {result.text}")
    if report.dry_run:
        out.print("Nothing was changed: this only showed what would be.")
    elif report.run is not None:
        print_run(report.run, f"{pluralize(report.decided, thing)} decided")
