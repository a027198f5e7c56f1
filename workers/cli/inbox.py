"""`slowwave inbox list | show`: questions and contradictions that wait for a person."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.review import Tier
from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.workers.cli.deciding import place_of
from slowwave_server.workers.cli.options import Json, Limit, OnlyAgent, OnlyScope, parse_duration
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.json_document import document
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from slowwave_server.models.driver import Reads
    from slowwave_server.services.reports.conflicts import ListedConflict
    from slowwave_server.services.reports.inbox import InboxItem
    from slowwave_server.services.review.conflict_sides import Side


def print_conflict(conflict: "ListedConflict", *, full: bool = False) -> None:
    """Print both sides, the later first. full: True to include the source events."""
    print_side("later", conflict.newer, full=full)
    print_side("earlier", conflict.older, full=full)


def print_side(label: str, side: "Side", *, full: bool = False) -> None:
    """Print one statement under a label."""
    out = console()
    print_rows(out, [(f"{label:<{LABEL}}", styled(one_line(side.content, 500), "bold"))], indent=4)
    indent = 4 + LABEL + 2
    out.print(styled(" " * indent + " · ".join(_marks(side)), "dim"), soft_wrap=True)
    out.print(styled(" " * indent + _origin(side), "dim"), soft_wrap=True)
    if full:
        for said in side.sources:
            line = f"{said.happened_at:%Y-%m-%d %H:%M} UTC {said.speaker}: {one_line(said.content, 300)}"
            out.print(styled(" " * indent + line), soft_wrap=True)


def _marks(side: "Side") -> list[str]:
    holds = f"from {side.valid_from:%Y-%m-%d}"
    if side.reaffirmed_at.date() != side.valid_from.date():
        holds += f", said again {side.reaffirmed_at:%Y-%m-%d}"
    if side.valid_to is not None:
        holds += f", until {side.valid_to:%Y-%m-%d}"
    status = side.status if side.archive_reason is None else f"{side.status} ({side.archive_reason})"
    weight = f"confidence {side.confidence:.2f} · importance {side.importance:.2f}"
    return [side.type, status, f"source: {side.trust}", holds, weight]


def _origin(side: "Side") -> str:
    places = [f"{said.session}#{said.seq}" for said in side.sources]
    if side.source_count > len(places):
        places.append(f"{side.source_count - len(places):,} more")
    if side.noted:
        places.append(f"noted {pluralize(side.noted, 'time')}")
    places.extend(f"read in {file}" for file in side.files)
    return f"{side.id} · {one_line(', '.join(places), 200) or 'no source'}"


LABEL = 9
DECIDED_READ = 1_000

OnlyTier = Annotated[Tier | None, typer.Option("--tier", help="Only questions of this tier (how much is at stake).")]
OlderThan = Annotated[
    timedelta | None,
    typer.Option(
        "--older-than",
        parser=parse_duration,
        metavar="DURATION",
        help="Only items that have waited at least this long: 30min, 12h, 7d, 2w.",
    ),
]


def list_(
    context: typer.Context,
    *,
    agent: OnlyAgent = None,
    scope: OnlyScope = None,
    tier: OnlyTier = None,
    older_than: OlderThan = None,
    decided: Annotated[bool, typer.Option("--decided", help="Also items that were answered or expired.")] = False,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List items: questions, the highest tier first, then contradictions that no question is about."""
    shell = shell_of(context)
    with shell.driver() as connection:
        place = place_of(connection, shell, agent, scope)
        before = None if older_than is None else shell.now() - older_than
        items = read_matching(connection, shell.tenant, place, tier, before, decided=decided)
    if as_json:
        print_json([_document(item) for item in items[:limit]])
        return
    for item in items[:limit]:
        _print(item, shell)
    if not items:
        console().print("No item matches." if decided else "The inbox is empty.")
    elif len(items) > limit:
        console(stderr=True).print(f"These are {limit:,} of {len(items):,}; --limit shows more.")


def read_matching(
    connection: "Reads",
    tenant: str,
    place: tuple[str, str] | None,
    tier: Tier | None,
    before: datetime | None,
    *,
    decided: bool = False,
) -> "Sequence[InboxItem]":
    """Return open items of a scope (None: all), a tier, from before a time; decided: closed ones, too."""
    from slowwave_server.services.reports.inbox import open_keys, read_items

    keys = open_keys(connection, tenant, scope=place)
    if decided:
        keys += [key for key in _all_keys(connection, tenant, place) if key not in keys]
    return [
        item
        for item in read_items(connection, tenant, keys)
        if (tier is None or item.tier == tier) and (before is None or item.asked_at <= before)
    ]


def _all_keys(connection: "Reads", tenant: str, place: tuple[str, str] | None) -> Iterator[str]:
    from slowwave_server.services.reports.conflicts import list_conflicts
    from slowwave_server.services.reports.review import Asked, list_questions

    questions = list_questions(connection, tenant, Asked(place, state=None), limit=DECIDED_READ)
    asked = {conflict.id for question in questions for conflict in question.conflicts}
    yield from (f"q{question.id}" for question in questions)
    for conflict in list_conflicts(connection, tenant, scope=place, status=None, limit=DECIDED_READ):
        if conflict.id not in asked and conflict.question is None:
            yield f"c{conflict.id}"


def show(
    context: typer.Context,
    item: Annotated[str, typer.Argument(metavar="ID", help="The item's id: q12 or c7.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Show one item: its statements, their sources, and what each answer would do."""
    from slowwave_server.services.reports.inbox import read_item

    shell = shell_of(context)
    with shell.connection() as connection:
        found = read_item(connection, shell.tenant, item)
        effects = {answer.name: answer.effect for answer in found.answers}
        effects |= _of_the_claim(connection, shell.tenant, found.item) if effects else {}
    if effects and found.lapse is not None:
        effects["no answer"] = found.lapse
    if as_json:
        print_json({"item": _document(found.item), "answers": effects})
        return
    _print(found.item, shell, full=True)
    if effects:
        console().print()
        print_rows(console(), [(styled(name, "bold"), effect) for name, effect in effects.items()])
        console().print(styled(f"\n`slowwave inbox answer ANSWER {item}` answers it.", "dim"))


def _of_the_claim(connection: "Connection", tenant: str, item: "InboxItem") -> dict[str, str]:
    """Return the effects of keep and archive on a claim that has the answers of two statements."""
    from slowwave_server.services.reports.review import what_answers_do
    from slowwave_server.services.review.decision import Decision

    if item.conflict is None or item.question is None or item.question.memory is None:
        return {}
    claim = item.question.memory.id
    names = {side.id: "this memory" if side.id == claim else "the other statement" for side in item.sides}
    decisions = {"keep": Decision("accept"), "archive": Decision("reject")}
    return what_answers_do(connection, tenant, "item", item.question.id, decisions, names)


def _document(item: "InboxItem") -> dict[str, Any]:
    """An item as JSON, with its statements once."""
    fields: dict[str, Any] = document(item)
    conflict, question = fields.pop("conflict"), fields.pop("question")
    named = {"conflict": conflict and conflict["id"], "question": question and question["id"]}
    claim = question and question["memory"] and question["memory"]["id"]
    return {"id": fields.pop("key"), **fields, **named, "memory": claim, "evidence": conflict and conflict["evidence"]}


def _print(item: "InboxItem", shell: Shell, *, full: bool = False) -> None:
    marks = [item.tier, item.scope, f"asked {item.asked_at:%Y-%m-%d}"]
    if item.closed is not None:
        marks.append("closed" if item.decided_by is None else f"closed by {item.decided_by}")
    elif item.expires_at is not None:
        left = (item.expires_at - shell.now()).total_seconds()
        marks.append(f"expires {item.expires_at:%Y-%m-%d}" + (f", in {duration_words(left)}" if left > 0 else ", now"))
    line = styled(item.key, "bold"), styled(" · ".join(mark for mark in marks if mark))
    print_rows(console(), [line])
    print_rows(console(), [(f"{name:<{LABEL}}", text) for name, text in _rows(item)], indent=4)
    if item.conflict is not None:
        print_conflict(item.conflict, full=full)
        return
    for place, side in enumerate(item.sides):
        print_side("against" if place else "this", side, full=full)


def _rows(item: "InboxItem") -> Iterator[tuple[str, str]]:
    yield "why", one_line(item.why, 300)
    if item.conflict is not None and (verdict := item.conflict.evidence.get("asked")):
        yield "model", one_line(f"{verdict['holds']}: {verdict.get('why', 'forgotten')} ({verdict['by']})", 300)
    if item.closed is not None:
        at = "" if item.decided_at is None else f" ({item.decided_at:%Y-%m-%d %H:%M} UTC)"
        yield "closed", one_line(item.closed + at, 300)
