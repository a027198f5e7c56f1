"""Questions over HTTP: their texts, the effect of each answer, and the route that answers them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, get_args
from uuid import UUID

from fastapi import APIRouter, Path, Query
from sqlalchemy import Connection

from slowwave_server.domain.review import ItemState, Tier
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.conflicts import ListedConflict
from slowwave_server.services.reports.review import (
    Asked,
    Place,
    Question,
    list_questions,
    read_question,
    revisions_of,
    what_answers_do,
)
from slowwave_server.services.requests.work import scope_named
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import decide_cases
from slowwave_server.workers.gateway.caller import nothing
from slowwave_server.workers.gateway.curating import AnyScope, Cursor, Limit, check_scope, responses
from slowwave_server.workers.gateway.cursors import number_part, page_of, read_cursor
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import review as shapes
from slowwave_server.workers.gateway.schemas.curation import RunChange
from slowwave_server.workers.gateway.visit import Visit, decides

router = APIRouter(route_class=GatewayRoute, tags=["reviews"])

ReviewNumber = Annotated[int, Path(ge=1, lt=2**63)]
CANT = "can't be done"


@router.get("/v1/reviews")
def list_reviews(
    visit: Annotated[Visit, decides],
    scope: AnyScope = None,
    tier: Tier | None = None,
    state: Annotated[ItemState, Query(description="Default: open questions.")] = "open",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> shapes.ReviewPage:
    """List questions, the highest tier first."""
    after = read_cursor(cursor, _place)
    place = None if scope is None else scope_named(scope)
    with visit.reading() as connection:
        if place is not None:
            check_scope(visit, *place)
        asked = Asked(place, tier, state, reach=visit.reach)
        found = list_questions(connection, visit.tenant, asked, after=after, limit=limit + 1)
    questions, more = page_of(found, limit, lambda one: (one.tier, one.expires_at.isoformat(), one.id))
    return shapes.ReviewPage(items=[shapes.Review.model_validate(one) for one in questions], next_cursor=more)


@router.get("/v1/reviews/{number}", responses=responses(404))
def get_review(number: ReviewNumber, visit: Annotated[Visit, decides]) -> shapes.ReviewDetail:
    """Read one question, with the possible answers and the effect of each."""
    with visit.reading() as connection:
        found = _question(connection, visit, number)
        return shapes.ReviewDetail(
            review=shapes.Review.model_validate(found.question),
            choices=_choices(connection, visit, found),
            seen=revisions_of(connection, visit.tenant, "item", number),
        )


@router.post("/v1/reviews/{number}/decision", responses=responses(404, 409))
def decide_review(
    number: ReviewNumber, body: shapes.ReviewDecision, visit: Annotated[Visit, decides]
) -> shapes.Decided:
    """Answer one question, in the name of the key."""
    with visit.reading() as connection:
        _question(connection, visit, number)
    decision = Decision(body.decision, body.memory, body.seen)
    report = decide_cases(visit.engine, visit.tenant, "item", [number], decision, by=visit.by, now=visit.now)
    (result,) = report.results
    if result.outcome == "unknown":
        raise nothing("review", number)
    if report.run is None:
        raise Problem(409, "conflict", f"nothing was changed: {result.text}")
    changes = [RunChange.model_validate(one) for one in report.changes]
    return shapes.Decided(number=number, text=result.text, run=report.run, changes=changes)


def _question(connection: Connection, visit: Visit, number: int) -> Question:
    try:
        return read_question(connection, visit.tenant, number, reach=visit.reach)
    except UnknownName:
        raise nothing("review", number) from None


def _choices(connection: Connection, visit: Visit, found: Question) -> list[shapes.ReviewChoice]:
    """Return the possible answers. A question about one contradiction has those of the contradiction."""
    question = found.question
    alone = question.state == "open" and question.memory is None and len(question.conflicts) == 1
    if alone:
        (conflict,) = question.conflicts
        return _between(connection, visit, conflict)
    wanted: tuple[shapes.DecisionKind, ...] = ("accept", "reject", "merge")
    told = [(kind, None, found.answers.get(kind, CANT)) for kind in wanted]
    return [
        shapes.ReviewChoice(decision=kind, memory=memory, effect=effect)
        for kind, memory, effect in told
        if not effect.startswith(CANT)
    ]


def _between(connection: Connection, visit: Visit, conflict: ListedConflict) -> list[shapes.ReviewChoice]:
    wanted: Mapping[str, tuple[shapes.DecisionKind, UUID | None]] = {
        "newer": ("keep", conflict.newer.id),
        "older": ("keep", conflict.older.id),
        "both": ("reject", None),
        "same": ("merge", None),
        "neither": ("neither", None),
    }
    names = {conflict.newer.id: "the later statement", conflict.older.id: "the earlier statement"}
    decisions = {name: Decision(kind, memory) for name, (kind, memory) in wanted.items()}
    effects = what_answers_do(connection, visit.tenant, "conflict", conflict.id, decisions, names)
    return [
        shapes.ReviewChoice(decision=wanted[name][0], memory=wanted[name][1], effect=effect)
        for name, effect in effects.items()
        if not effect.startswith(CANT)
    ]


def _place(tier: str, moment: str, number: int) -> Place:
    at = datetime.fromisoformat(moment)
    found = next((one for one in get_args(Tier) if one == tier), None)
    if found is None or at.tzinfo is None:
        raise ValueError(tier)
    return found, at, number_part(number)
