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
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.scope_params import read_scope

SHOWN = 25
STATUSES: tuple[ConflictStatus, ...] = get_args(ConflictStatus)
ANY = "any"


def listing(req: PageRequest) -> Response:
    """Conflicts, the newest first."""
    status, before = req.word("status") or "open", req.number("before", 0, most=2**63 - 1)
    wanted: ConflictStatus | None = next((one for one in STATUSES if one == status), None)
    if wanted is None and status != ANY:
        raise InvalidQuery(f"status is one of {', '.join((*STATUSES, ANY))}, not {status!r:.60}")
    with req.reading() as connection:
        scope = read_scope(req, connection)
        found = list_conflicts(
            connection, req.tenant, scope=scope, status=wanted, before=before or None, limit=SHOWN + 1
        )
    conflicts = found[:SHOWN]
    return req.page(
        "conflicts.html",
        conflicts=conflicts,
        asked={"agent": req.word("agent") or "", "scope": req.word("scope") or "", "status": status},
        statuses=[(ANY, "all"), *((name, name) for name in STATUSES)],
        newer=req.link(before=None) if before else None,
        older=req.link(before=conflicts[-1].id) if len(found) > SHOWN else None,
    )


def show(req: PageRequest) -> Response:
    """One conflict, and what each answer would do."""
    return _show(req)


def decide(req: PageRequest) -> Response:
    """Carry out what the person chose, in their name."""
    number: int = req.request.path_params["conflict"]
    chosen = req.field("answer")
    try:
        seen = read_seen([req.field("seen")])
        decision = _decision(chosen, seen)
        report = decide_conflicts(req.engine, req.tenant, [number], decision, by=req.user.name, now=req.now)
    except (InvalidMessage, Contested) as refused:
        return _show(req, chosen=chosen, problem=f"Nothing was changed: {refused}")
    if not report.decided:
        return _show(req, chosen=chosen, problem=told(report, "conflict"))
    return req.go(f"/conflicts/{number}", say=told(report, "conflict"))


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


def _show(req: PageRequest, *, chosen: str = "", problem: str | None = None) -> Response:
    number: int = req.request.path_params["conflict"]
    with req.reading() as connection:
        conflict = read_conflict(connection, req.tenant, number)
        answers = answers_of(connection, req.tenant, conflict)
        seen = revisions_of(connection, req.tenant, "conflict", number)
    return req.page(
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
