"""Questions that only a person can answer: what is at stake, the statements, and what each answer would do.

Must not know: SQL, what an answer does to memories.
"""

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import get_args
from uuid import UUID

from starlette.responses import Response

from slowwave.errors import InvalidMessage, InvalidQuery
from slowwave_server.domain.review import ItemState, Tier
from slowwave_server.services.reports.conflicts import ListedConflict
from slowwave_server.services.reports.review import (
    Asked,
    ListedQuestion,
    Place,
    Question,
    list_questions,
    read_question,
    revisions_of,
)
from slowwave_server.services.review.conflict_sides import Side
from slowwave_server.services.review.decisions import Contested, Decision, decide_items
from slowwave_server.workers.console.deciding import read_seen, told, written
from slowwave_server.workers.console.pages.conflicts import answers_of
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.scope_params import read_scope

SHOWN = 25
TIERS: tuple[Tier, ...] = get_args(Tier)
STATES: tuple[ItemState, ...] = get_args(ItemState)
ANY = "any"


def listing(req: PageRequest) -> Response:
    """Questions, those with most at stake first."""
    return _listing(req)


def _listing(req: PageRequest, *, chosen: Sequence[str] = (), problem: str | None = None) -> Response:
    state = req.word("state") or "open"
    asked_state: ItemState | None = next((one for one in STATES if one == state), None)
    if asked_state is None and state != ANY:
        raise InvalidQuery(f"state is one of {', '.join((*STATES, ANY))}, not {state!r:.60}")
    tier = _tier(req.word("tier"))
    after = _place(req.word("after"))
    with req.reading() as connection:
        asked = Asked(read_scope(req, connection), tier, asked_state)
        found = list_questions(connection, req.tenant, asked, after=after, limit=SHOWN + 1)
    questions = found[:SHOWN]
    last = questions[-1] if questions else None
    older = None if last is None else f"{last.tier},{last.expires_at.isoformat()},{last.id}"
    return req.page(
        "review.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        questions=[(question, _seen_in(question)) for question in questions],
        chosen=chosen,
        asked={name: req.word(name) or "" for name in ("agent", "scope", "tier")} | {"state": state},
        tiers=[("", "any"), *((name, name) for name in TIERS)],
        states=[(ANY, "all"), *((name, name) for name in STATES)],
        newer=req.link(after=None) if after else None,
        older=req.link(after=older) if len(found) > SHOWN else None,
    )


def show(req: PageRequest) -> Response:
    """One question, and what each answer would do."""
    return _show(req)


def decide(req: PageRequest) -> Response:
    """Answer one question in the person's name."""
    number: int = req.request.path_params["question"]
    answer, into = req.field("answer"), req.field("into")
    try:
        decision = _decision(answer, into, read_seen([req.field("seen")]))
        report = decide_items(req.engine, req.tenant, [number], decision, by=req.user.name, now=req.now)
    except (InvalidMessage, Contested) as refused:
        return _show(req, chosen=answer, into=into, problem=f"Nothing was changed: {refused}")
    if not report.decided:
        return _show(req, chosen=answer, into=into, problem=told(report, "question"))
    return req.go(f"/review/{number}", say=told(report, "question"))


def decide_many(req: PageRequest) -> Response:
    """Answer all that were chosen in one run. Those that have changed meanwhile stay as they are."""
    chosen = _values(req, "question")
    numbers = [int(value) for value in chosen if value.isascii() and value.isdigit() and len(value) < 19]  # noqa: PLR2004 (digits of any bigint)
    try:
        decision = _decision_of_many(req, numbers)
        report = decide_items(req.engine, req.tenant, numbers, decision, by=req.user.name, now=req.now)
    except (InvalidMessage, Contested) as refused:
        return _listing(req, chosen=chosen, problem=f"Nothing was changed: {refused}")
    if report.decided < len(report.results):
        return _listing(req, chosen=chosen, problem=told(report, "question"))
    return req.go("/review", say=told(report, "question"))


def _decision_of_many(req: PageRequest, numbers: list[int]) -> Decision:
    if not numbers:
        raise InvalidMessage("choose at least one question")
    answer = req.field("answer")
    if answer == "merge":
        raise InvalidMessage("which one stays is chosen one question at a time")
    return _decision(answer, "", read_seen(_values(req, "seen")))


def _values(req: PageRequest, name: str) -> list[str]:
    return [value for value in req.form.getlist(name) if isinstance(value, str)]


def _decision(answer: str, into: str, seen: dict[UUID, int]) -> Decision:
    """What an answer of a form means. Raises InvalidMessage."""
    if answer == "accept":
        return Decision("accept", None, seen)
    if answer == "reject":
        return Decision("reject", None, seen)
    if answer == "merge":
        try:
            return Decision("merge", UUID(into) if into else None, seen)
        except ValueError:
            raise InvalidMessage(f"{into!r:.60} is the id of no memory") from None
    raise InvalidMessage("choose one of the answers")


def _show(req: PageRequest, *, chosen: str = "", into: str = "", problem: str | None = None) -> Response:
    number: int = req.request.path_params["question"]
    with req.reading() as connection:
        found = read_question(connection, req.tenant, number)
        seen = revisions_of(connection, req.tenant, "item", number)
        # A question about one contradiction has the answers of the contradiction's own page.
        conflict = _only_conflict(found.question)
        holds = [] if conflict is None else answers_of(connection, req.tenant, conflict)
    return req.page(
        "question.html",
        conflict=conflict,
        holds=holds,
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        question=found.question,
        answers={name: effect for name, effect in found.answers.items() if name in {"accept", "reject", "merge"}},
        lapse=found.answers.get("no answer"),
        stays=[("", "the one of the better witness"), *_stays(found)],
        chosen=chosen,
        into=into,
        seen=written(seen),
    )


def _only_conflict(question: ListedQuestion) -> ListedConflict | None:
    """The contradiction that an open question is about, if it is about nothing else."""
    alone = question.state == "open" and question.memory is None and len(question.conflicts) == 1
    return question.conflicts[0] if alone else None


def _sides(question: ListedQuestion) -> dict[UUID, Side]:
    sides = [side for conflict in question.conflicts for side in (conflict.newer, conflict.older)]
    return {side.id: side for side in (*sides, *([question.memory] if question.memory else ()))}


def _stays(found: Question) -> list[tuple[str, str]]:
    """Which memories a merge may leave, with the beginning of what each says."""
    return [(str(side.id), side.content[:80]) for side in _sides(found.question).values() if side.merged_into is None]


def _seen_in(question: ListedQuestion) -> str | None:
    """What a decision from the list is taken by; None where the question itself has to be looked at."""
    sides = _sides(question).values()
    if question.state != "open" or any(side.merged_into is not None for side in sides):
        return None
    return written({side.id: side.revision for side in sides})


def _tier(given: str | None) -> Tier | None:
    for tier in TIERS:
        if given == tier:
            return tier
    if given is not None:
        raise InvalidQuery(f"tier is one of {', '.join(TIERS)}, not {given!r:.60}")
    return None


def _place(given: str | None) -> Place | None:
    """Where a page ended, as the link to the next one has it. Raises InvalidQuery."""
    if given is None:
        return None
    words = given.split(",")
    try:
        tier, moment, number = _tier(words[0]), datetime.fromisoformat(words[1]), int(words[2])
    except (ValueError, IndexError):
        tier = None
    if tier is None or moment.tzinfo is None or not 0 <= number < 2**63:
        raise InvalidQuery("after is where a page of this list ended, as its link to the next one has it")
    return tier, moment, number


ROUTES: list[Page] = [
    reads("/review", listing),
    changes("/review/decide", decide_many, role="curator"),
    reads("/review/{question:int}", show),
    changes("/review/{question:int}/decide", decide, role="curator"),
]
