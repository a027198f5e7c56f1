"""Memories that contradict each other: both sides with their evidence, and what a person decides about them.

Must not know: SQL, what a decision does to memories.
"""

from http import HTTPStatus
from typing import get_args
from uuid import UUID

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave.errors import InvalidMessage, InvalidQuery
from slowwave_server.domain.review import ConflictStatus
from slowwave_server.services.reports.conflicts import ListedConflict, list_conflicts, read_conflict
from slowwave_server.services.reports.review import revisions_of, what_answers_do
from slowwave_server.services.review.decisions import Contested, Decision, decide_conflicts
from slowwave_server.workers.console.deciding import read_seen, told, written
from slowwave_server.workers.console.places import scope_of
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.visit import Visit

SHOWN = 25
STATUSES: tuple[ConflictStatus, ...] = get_args(ConflictStatus)
ANY = "any"


def listing(visit: Visit) -> Response:
    """Conflicts, the newest first."""
    status, before = visit.word("status") or "open", visit.number("before", 0, most=2**63 - 1)
    wanted: ConflictStatus | None = next((one for one in STATUSES if one == status), None)
    if wanted is None and status != ANY:
        raise InvalidQuery(f"status is one of {', '.join((*STATUSES, ANY))}, not {status!r:.60}")
    with visit.reading() as connection:
        scope = scope_of(visit, connection)
        found = list_conflicts(
            connection, visit.tenant, scope=scope, status=wanted, before=before or None, limit=SHOWN + 1
        )
    conflicts = found[:SHOWN]
    return visit.page(
        "conflicts.html",
        conflicts=conflicts,
        asked={"agent": visit.word("agent") or "", "scope": visit.word("scope") or "", "status": status},
        statuses=[(ANY, "all"), *((name, name) for name in STATUSES)],
        newer=visit.link(before=None) if before else None,
        older=visit.link(before=conflicts[-1].id) if len(found) > SHOWN else None,
    )


def show(visit: Visit) -> Response:
    """One conflict, and what each answer would do."""
    return _show(visit)


def decide(visit: Visit) -> Response:
    """Carry out what the person chose, in their name."""
    number: int = visit.request.path_params["conflict"]
    chosen = visit.field("answer")
    try:
        seen = read_seen([visit.field("seen")])
        decision = _decision(chosen, seen)
        report = decide_conflicts(visit.engine, visit.tenant, [number], decision, by=visit.user.name, now=visit.now)
    except (InvalidMessage, Contested) as refused:
        return _show(visit, chosen=chosen, problem=f"Nothing was changed: {refused}")
    if not report.decided:
        return _show(visit, chosen=chosen, problem=told(report, "conflict"))
    return visit.go(f"/conflicts/{number}", say=told(report, "conflict"))


def _decision(chosen: str, seen: dict[UUID, int]) -> Decision:
    """What an answer of the form means. Raises InvalidMessage."""
    kind, _, memory = chosen.partition(":")
    try:
        if kind == "keep":
            return Decision("keep", UUID(memory), seen)
    except ValueError:
        kind = ""
    if kind == "same":
        return Decision("merge", None, seen)
    if kind == "both":
        return Decision("reject", None, seen)
    if kind == "neither":
        return Decision("neither", None, seen)
    raise InvalidMessage("choose one of the answers")


def answers_of(connection: Connection, tenant: str, conflict: ListedConflict) -> list[tuple[str, str, str]]:
    """The answers to an open conflict: the form's value, the words beside it, what it does. None if it is decided."""
    if conflict.status != "open":
        return []
    words = {
        f"keep:{conflict.newer.id}": "Keep newer: the later statement holds",
        f"keep:{conflict.older.id}": "Keep older: the earlier statement holds",
        "both": "Keep both: there is no contradiction",
        "same": "Merge: both say the same, make them one",
        "neither": "Keep neither: none of the two holds",
    }
    names = {conflict.newer.id: "the later statement", conflict.older.id: "the earlier statement"}
    decisions = {answer: _decision(answer, {}) for answer in words}
    effects = what_answers_do(connection, tenant, "conflict", conflict.id, decisions, names)
    return [(answer, word, effects.get(answer, "")) for answer, word in words.items()]


def _show(visit: Visit, *, chosen: str = "", problem: str | None = None) -> Response:
    number: int = visit.request.path_params["conflict"]
    with visit.reading() as connection:
        conflict = read_conflict(connection, visit.tenant, number)
        answers = answers_of(connection, visit.tenant, conflict)
        seen = revisions_of(connection, visit.tenant, "conflict", number)
    return visit.page(
        "conflict.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        conflict=conflict,
        verdict=conflict.evidence.get("asked"),
        answers=answers,
        chosen=chosen,
        seen=written(seen),
    )


ROUTES: list[Page] = [
    reads("/conflicts", listing),
    reads("/conflicts/{conflict:int}", show),
    changes("/conflicts/{conflict:int}/decide", decide, role="curator"),
]
