"""`slowwave admin budget`: model calls and tokens of today and this week, and reached caps."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.json_document import document

if TYPE_CHECKING:
    from slowwave_server.services.reports.budget import BudgetReport, Used, UsedFor
    from slowwave_server.services.reports.spending import ModelSpent


def budget(
    context: typer.Context,
    *,
    agent: Annotated[str | None, typer.Option(help="Only this agent, beside the totals of the tenant.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The largest number of agents.")] = 50,
    as_json: Json = False,
) -> None:
    """Show model calls and tokens of today and this week (UTC), the remaining tokens, and caps that are reached."""
    from slowwave_server.services.reports.budget import read_budget
    from slowwave_server.services.reports.spending import read_spending

    shell = shell_of(context)
    with shell.connection() as connection:
        found = read_budget(connection, shell.tenant, shell.settings.memory.llm, shell.now(), agent=agent, limit=limit)
        spent = read_spending(connection, shell.tenant, shell.now(), agent=agent)
    if as_json:
        print_json(document(found) | {"days": spent.days, "models": spent.models})
        return
    _print(found)
    if spent.models:
        console().print(f"\nBy model, the last {len(spent.days)} days:")
        print_rows(console(), [_model(model) for model in spent.models], indent=2)


def _print(found: "BudgetReport") -> None:
    from slowwave_server.services.reports.budget import reached_words

    out = console()
    out.print(styled(found.model or "No model is configured (memory.llm.driver is none).", "bold"))
    print_rows(out, [("", "", "calls", "failures", "tokens", "running", "left"), *map(_row, found.used)], indent=2)
    if found.purposes:
        out.print("\nThis week:")
        print_rows(out, [_purpose(purpose) for purpose in found.purposes], indent=2)
    if found.open_calls:
        late = f", {found.overdue:,} of them overdue: they count in full from the next call on"
        out.print(
            f"\n{pluralize(found.open_calls, 'call')} running, {found.open_tokens:,} tokens reserved"
            f"{late if found.overdue else ''}."
        )
    for used in _reached(found):
        out.print(styled(f"{reached_words(used)}.", "bold"), soft_wrap=True)


def _reached(found: "BudgetReport") -> Iterable["Used"]:
    return (used for used in found.used if used.reached)


def _row(used: "Used") -> tuple[str, ...]:
    left = "no cap" if used.cap is None or used.left is None else f"{used.left:,} of {used.cap:,}"
    return (
        used.agent or "all agents",
        {"day": "today", "week": "this week"}[used.period],
        f"{used.calls:,}",
        f"{used.failures:,}",
        f"{used.settled:,}",
        f"{used.reserved:,}",
        left,
    )


def _purpose(purpose: "UsedFor") -> tuple[str, ...]:
    ends = {
        "answered": purpose.answered,
        "unusable": purpose.failed,
        "unanswered": purpose.unanswered,
        "lost with their worker": purpose.lost,
    }
    told = ", ".join(f"{number:,} {word}" for word, number in ends.items() if number)
    guessed = f", {purpose.uncounted:,} of them estimated from reservations" if purpose.uncounted else ""
    return purpose.purpose, pluralize(purpose.calls, "call"), told, f"{purpose.tokens:,} tokens{guessed}"


def _model(model: "ModelSpent") -> tuple[str, ...]:
    return model.model, pluralize(model.calls, "call"), f"{model.tokens:,} tokens", ", ".join(model.purposes)
