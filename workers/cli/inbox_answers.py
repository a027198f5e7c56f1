"""`slowwave inbox answer`: a person's answer to questions and contradictions, as runs that can be undone."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple
from uuid import UUID

import typer

from slowwave_server.domain.review import Tier
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.deciding import place_of, print_run, who
from slowwave_server.workers.cli.diff import print_diff
from slowwave_server.workers.cli.inbox import OlderThan, OnlyTier, read_matching
from slowwave_server.workers.cli.options import By, DryRun, Json, OnlyAgent, OnlyScope
from slowwave_server.workers.cli.output import console, one_line, print_json
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from slowwave_server.services.reports.inbox import InboxItem
    from slowwave_server.services.review.decision import Decision
    from slowwave_server.services.review.decisions import DecisionReport

Answer = Literal["keep", "archive", "later", "earlier", "both", "neither", "same"]
AnswerWord = Annotated[
    Answer,
    typer.Argument(
        help="One memory: keep, archive, same. Two statements: later, earlier, both, neither, same.",
        show_default=False,
    ),
]
ItemIds = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of items: q12, c7.", show_default=False)]
OF_A_CLAIM: frozenset[Answer] = frozenset({"keep", "archive"})


class Batch(NamedTuple):
    """Items that one decision closes in one run. keys: the id of each item by its number."""

    kind: Literal["item", "conflict"]
    keys: dict[int, str]
    decision: "Decision"


def answer(
    context: typer.Context,
    answer: AnswerWord,
    ids: ItemIds = None,
    *,
    agent: OnlyAgent = None,
    scope: OnlyScope = None,
    tier: OnlyTier = None,
    older_than: OlderThan = None,
    every: Annotated[bool, typer.Option("--all", help="All open items that this answer fits.")] = False,
    into: Annotated[
        str | None,
        typer.Option(help="With same: the memory that stays; default: the memory with the better source."),
    ] = None,
    by: By = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Answer questions and contradictions. Give ids, or filters for all open items that the answer fits.

    keep: the memory may appear in answers.

    archive: the memory is wrong; it stays archived however often it is said again.

    later: the later statement is true, and replaces the earlier one.

    earlier: the earlier statement is true, and the later one is rejected.

    both: both statements are true, and do not contradict each other.

    neither: both statements are wrong, and are rejected.

    same: both mean the same; one stays, with the sources of both.

    Exit 1 if an item could not be answered, for example because somebody answered it before.
    """
    filtered = every or any(value is not None for value in (agent, scope, tier, older_than))
    if bool(ids) == filtered:
        raise typer.BadParameter("give ids of items; or --tier, --older-than, --agent, --scope, or --all")
    if into is not None and (answer != "same" or len(ids or ()) != 1):
        raise typer.BadParameter("--into needs the answer same, and one ID")
    shell = shell_of(context)
    stays = None if into is None else shell.memory_id(into)
    with shell.connection() as connection:
        if ids:
            items, unknown = _named(connection, shell, ids, answer)
        else:
            place = place_of(connection, shell, agent, scope)
            before = None if older_than is None else shell.now() - older_than
            items, unknown = _matching(connection, shell.tenant, place, tier, before, answer), []
    with progress("answering"):
        reports = list(_decided(shell, _batches(items, answer, stays), by=who(by), dry_run=dry_run))
    _print(reports, unknown, as_json=as_json)
    if unknown or any(report.decided < len(report.results) for _, report in reports):
        raise typer.Exit(FOUND)


def _named(
    connection: "Connection", shell: Shell, ids: Sequence[str], answer: Answer
) -> "tuple[Sequence[InboxItem], list[str]]":
    """Return the items of these ids, which the answer must fit, and the ids that do not exist. Raises BadParameter."""
    from slowwave_server.services.reports.inbox import read_items

    items = read_items(connection, shell.tenant, ids)
    for item in items:
        if item.closed is None and answer not in (fitting := _answers_of(item)):
            raise typer.BadParameter(f"the answers of {item.key} are {', '.join(fitting)}; got {answer}")
    known = {item.key for item in items}
    return items, [key for key in dict.fromkeys(ids) if key not in known]


def _matching(
    connection: "Connection",
    tenant: str,
    place: tuple[str, str] | None,
    tier: Tier | None,
    before: datetime | None,
    answer: Answer,
) -> "Sequence[InboxItem]":
    return [item for item in read_matching(connection, tenant, place, tier, before) if answer in _answers_of(item)]


def _answers_of(item: "InboxItem") -> list[str]:
    from slowwave_server.services.reports.inbox import answer_words

    claim = item.question is not None and item.question.memory is not None
    return list(dict.fromkeys([*answer_words(item), *(["keep", "archive"] if claim else [])]))


def _batches(items: "Sequence[InboxItem]", answer: Answer, stays: UUID | None) -> Iterator[Batch]:
    """One batch for all questions, one for all contradictions; `earlier` names a memory, so it needs one per item."""
    from slowwave_server.services.reports.inbox import key_number
    from slowwave_server.services.review.decision import Decision

    found: dict[tuple[str, UUID | None], Batch] = {}
    for item in items:
        by_pair = item.conflict is not None and answer not in OF_A_CLAIM and item.closed is None
        number = item.conflict.id if by_pair and item.conflict else key_number(item.key)
        kind: Literal["item", "conflict"] = "conflict" if by_pair or item.key[0] == "c" else "item"
        keep = item.sides[1].id if answer == "earlier" and len(item.sides) > 1 else None
        decision = Decision("keep", keep) if answer == "earlier" else _decision(answer, stays)
        batch = found.setdefault((kind, keep), Batch(kind, {}, decision))
        batch.keys[number] = item.key
    yield from found.values()


def _decision(answer: Answer, stays: UUID | None) -> "Decision":
    from slowwave_server.services.review.decision import Decision

    if answer == "same":
        return Decision("merge", stays)
    if answer == "neither":
        return Decision("neither")
    return Decision("accept" if answer in {"keep", "later"} else "reject")


def _decided(
    shell: Shell, batches: Iterator[Batch], *, by: str, dry_run: bool
) -> "Iterator[tuple[Batch, DecisionReport]]":
    from slowwave_server.services.review.decisions import decide_cases

    for batch in batches:
        numbers, now = list(batch.keys), shell.now()
        report = decide_cases(
            shell.engine, shell.tenant, batch.kind, numbers, batch.decision, by=by, now=now, dry_run=dry_run
        )
        yield batch, report


def _print(reports: "Sequence[tuple[Batch, DecisionReport]]", unknown: Sequence[str], *, as_json: bool) -> None:
    results = [(batch.keys[result.number], result) for batch, report in reports for result in report.results]
    changes = [change for _, report in reports for change in report.changes]
    dry_run = any(report.dry_run for _, report in reports)
    if as_json:
        told = [{"id": key, "outcome": result.outcome, "text": result.text} for key, result in results]
        told += [{"id": key, "outcome": "unknown", "text": "there is no such item"} for key in unknown]
        runs = [report.run for _, report in reports if report.run is not None]
        print_json({"runs": runs, "dry_run": dry_run, "results": told, "changes": changes})
        return
    out = console()
    if dry_run:
        print_diff(changes)
    for key, result in results:
        if result.outcome == "decided":
            out.print(one_line(f"{key}: {result.text}", 300), soft_wrap=True)
        else:
            complain(f"{key}: {result.text}")
    for key in unknown:
        complain(f"there is no item {key}; `slowwave inbox list` lists them")
    if not results and not unknown:
        out.print("No open item fits this answer.")
    elif dry_run:
        out.print("Nothing was changed: this was a dry run.")
    for _, report in reports:
        if report.run is not None:
            print_run(report.run, f"{pluralize(report.decided, 'item')} answered")
