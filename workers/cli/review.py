"""`slowwave review list | show | accept | reject | merge`: questions that only a person can answer.

Must not know: SQL, what is asked about and why.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave_server.domain.review import Tier
from slowwave_server.domain.spoken_time import duration_words
from slowwave_server.workers.cli.deciding import AgentOption, By, DryRun, parse_age, place_of, print_report, who
from slowwave_server.workers.cli.options import MEND, SCOPE_HELP, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.sides import print_conflict, print_side
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.reports.review import Asked, ListedQuestion
    from slowwave_server.services.review.decisions import Decision

DECIDED_AT_ONCE = 1000

State = Literal["open", "accepted", "rejected", "merged", "expired", "any"]

Number = Annotated[int, typer.Argument(metavar="QUESTION", help="The question's number.", show_default=False)]
Numbers = Annotated[
    list[int] | None, typer.Argument(metavar="[QUESTION]...", help="The questions' numbers.", show_default=False)
]
ScopeOption = Annotated[str | None, typer.Option("--scope", help=f"Only of {SCOPE_HELP}")]
TierOption = Annotated[Tier | None, typer.Option("--tier", help="Only with so much at stake.")]
OlderThan = Annotated[
    timedelta | None,
    typer.Option("--older-than", parser=parse_age, metavar="AGE", help="Only asked so long ago: 7d, 12h, 2w."),
]
Every = Annotated[bool, typer.Option("--all", help="All that are open.")]

app = typer.Typer(no_args_is_help=True, help="Questions to a person: list, show, accept, reject, merge.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="review", rich_help_panel=MEND)


@app.command("list")
def list_(
    context: typer.Context,
    *,
    agent: AgentOption = None,
    scope: ScopeOption = None,
    tier: TierOption = None,
    state: Annotated[State, typer.Option(help="What became of them.")] = "open",
    older_than: OlderThan = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List questions, those with most at stake first, with the statements that they are about."""
    from slowwave_server.services.reports.review import list_questions

    shell = shell_of(context)
    with shell.connection() as connection:
        asked = _asked(place_of(connection, shell, agent, scope), shell, tier, state, older_than)
        found = list_questions(connection, shell.tenant, asked, limit=limit)
    if as_json:
        print_json(found)
        return
    for question in found:
        _print(question, shell)
    if not found:
        console().print("Nothing is asked." if state == "open" else "There are no such questions.")
    elif len(found) == limit:
        console(stderr=True).print(f"These are {limit}; --limit shows more.")


@app.command()
def show(context: typer.Context, number: Number, *, as_json: Json = False) -> None:
    """Show a question: the statements with what was said, and what each answer would do."""
    from slowwave_server.services.reports.review import read_question

    shell = shell_of(context)
    with shell.connection() as connection:
        found = read_question(connection, shell.tenant, number)
    if as_json:
        print_json(found)
        return
    _print(found.question, shell, full=True)
    if found.answers:
        console().print()
        print_rows(console(), [(styled(answer, "bold"), effect) for answer, effect in found.answers.items()])


def _print(question: "ListedQuestion", shell: Shell, *, full: bool = False) -> None:
    out = console()
    if question.state == "open":
        left = (question.expires_at - shell.now()).total_seconds()
        until = f"lapses {question.expires_at:%Y-%m-%d}" + (f", in {duration_words(left)}" if left > 0 else ", now")
    else:
        by = "" if question.decided_by is None else f" by {question.decided_by}"
        until = f"{question.state}{by}"
    marks = f"{question.tier} · {question.scope} · asked {question.asked_at:%Y-%m-%d} · {until}"
    print_rows(out, [(styled(str(question.id), "bold"), styled(marks))])
    print_rows(out, [("why      ", one_line(question.why, 300))], indent=4)
    if question.memory is not None:
        print_side("this", question.memory, full=full)
    for conflict in question.conflicts:
        if question.memory is None:
            print_conflict(conflict, full=full)
        else:
            other = conflict.older if conflict.newer.id == question.memory.id else conflict.newer
            print_side("against", other, full=full)


@app.command()
def accept(
    context: typer.Context,
    numbers: Numbers = None,
    *,
    agent: AgentOption = None,
    scope: ScopeOption = None,
    tier: TierOption = None,
    older_than: OlderThan = None,
    every: Every = False,
    by: By = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Let a memory stand in answers; of a conflict, let the later statement replace the earlier."""
    from slowwave_server.services.review.decisions import Decision

    shell = shell_of(context)
    chosen = _chosen(shell, numbers, agent=agent, scope=scope, tier=tier, older_than=older_than, every=every)
    _decide(shell, chosen, Decision("accept"), by=by, dry_run=dry_run, as_json=as_json)


@app.command()
def reject(
    context: typer.Context,
    numbers: Numbers = None,
    *,
    agent: AgentOption = None,
    scope: ScopeOption = None,
    tier: TierOption = None,
    older_than: OlderThan = None,
    every: Every = False,
    by: By = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Archive a memory, however often it is said; of a conflict, say that there is none and both hold."""
    from slowwave_server.services.review.decisions import Decision

    shell = shell_of(context)
    chosen = _chosen(shell, numbers, agent=agent, scope=scope, tier=tier, older_than=older_than, every=every)
    _decide(shell, chosen, Decision("reject"), by=by, dry_run=dry_run, as_json=as_json)


@app.command()
def merge(
    context: typer.Context,
    number: Number,
    *,
    into: Annotated[
        str | None, typer.Option(metavar="MEMORY", help="Which one stays; default: that of the better witness.")
    ] = None,
    by: By = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say that both mean the same: one stays, word for word, with the sources of both."""
    from slowwave_server.services.review.decisions import Decision

    shell = shell_of(context)
    stays = None if into is None else shell.memory_id(into)
    _decide(shell, [number], Decision("merge", stays), by=by, dry_run=dry_run, as_json=as_json)


def _asked(
    place: tuple[str, str] | None, shell: Shell, tier: Tier | None, state: State, older_than: timedelta | None
) -> "Asked":
    from slowwave_server.services.reports.review import Asked

    before = None if older_than is None else shell.now() - older_than
    return Asked(place, tier, None if state == "any" else state, before)


def _chosen(
    shell: Shell,
    numbers: list[int] | None,
    *,
    agent: str | None,
    scope: str | None,
    tier: Tier | None,
    older_than: timedelta | None,
    every: bool,
) -> list[int]:
    """The questions that are named, or all open ones that the filters leave."""
    from slowwave_server.services.reports.review import question_numbers

    filtered = every or any(value is not None for value in (agent, scope, tier, older_than))
    if bool(numbers) == filtered:
        raise typer.BadParameter("give numbers of questions; or --tier, --older-than, --agent, --scope, or --all")
    with shell.connection() as connection:
        if numbers:
            return numbers
        asked = _asked(place_of(connection, shell, agent, scope), shell, tier, "open", older_than)
        return question_numbers(connection, shell.tenant, asked, limit=DECIDED_AT_ONCE)


def _decide(
    shell: Shell, numbers: list[int], decision: "Decision", *, by: str | None, dry_run: bool, as_json: bool
) -> None:
    from slowwave_server.services.review.decisions import decide_items

    shell.check_database()
    report = decide_items(shell.engine, shell.tenant, numbers, decision, by=who(by), now=shell.now(), dry_run=dry_run)
    if not numbers and not as_json:
        console().print("No open question fits.")
    print_report(report, "question", as_json=as_json)
    if len(numbers) == DECIDED_AT_ONCE:
        console(stderr=True).print(f"These were {DECIDED_AT_ONCE:,}; run it again for the rest.")
