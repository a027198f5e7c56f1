"""Store decisions of people about questions and conflicts, each batch as one run, and close expired questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal

from psycopg.errors import DeadlockDetected
from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError

from slowwave.errors import SlowwaveError
from slowwave_server.domain import review
from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.review import Answer, ReviewedMemory
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import ReviewItem
from slowwave_server.services.memories.changes import Author, Ledger, Stale, changes_of_run
from slowwave_server.services.review.cases import (
    Case,
    conflict_case,
    item_case,
    lock_scopes,
    revisions,
    scopes_of,
    statements,
)
from slowwave_server.services.review.decision import Decision, Kind
from slowwave_server.services.review.effects import carry_out
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, finish_run, start_run

ATTEMPTS = 3
"""The largest number of attempts at a decision, if a pass changes the memories during each attempt."""
EXPIRED_AT_ONCE = 500
CHANGED = "a memory of this question has changed since you read it; read it again before you decide"


Outcome = Literal["decided", "decided before", "refused", "unknown"]


class Contested(SlowwaveError):
    """The decision could not be made, because the memories changed each time between reading and writing."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The result for one question or conflict, with its number. text: the result as a sentence."""

    number: int
    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """The result of a batch of decisions. run: None if no decision was made, and for a dry run."""

    run: int | None
    dry_run: bool
    results: tuple[Decided, ...]
    changes: tuple[ChangeLine, ...] = field(default=())

    @property
    def decided(self) -> int:
        return sum(result.outcome == "decided" for result in self.results)


def decide_cases(
    engine: Engine,
    tenant: str,
    kind: Kind,
    numbers: Sequence[int],
    decision: Decision,
    *,
    by: str,
    now: datetime,
    dry_run: bool = False,
) -> DecisionReport:
    """Answer questions (items), or decide conflicts with or without a question, of a tenant, in one run and one
    transaction. dry_run: True to report the changes only.

    A decided conflict closes all its open questions. A case that another person decided first, or that does not allow
    this decision, is reported and does not change. Raises Contested if passes changed the memories again and again in
    the meantime.
    """

    def attempt(connection: Connection) -> DecisionReport:
        places = scopes_of(connection, tenant, kind, numbers)
        wanted = sorted(set(numbers))
        return _run(connection, places, wanted, kind, decision, by=by, now=now, dry_run=dry_run)

    return _again(engine, attempt)


def expire_due(
    engine: Engine, now: datetime, by: str, *, limit: int = EXPIRED_AT_ONCE, part_of: int | None = None
) -> int:
    """Close expired questions of all tenants, oldest first, at most `limit`. Return their number.

    Each scope gets one run (part_of: the run that asks). A memory in review is archived; a conflict alone gets no
    further question; see domain.review.
    """
    due = (
        select(ReviewItem.id, ReviewItem.scope_id)
        .where(ReviewItem.state == "open", ReviewItem.expires_at <= now)
        .order_by(ReviewItem.expires_at, ReviewItem.id)
        .limit(limit)
    )
    with engine.connect() as connection:
        found = connection.execute(due).all()
    scopes: dict[int, list[int]] = {}
    for row in found:
        scopes.setdefault(row.scope_id, []).append(row.id)
    lapsed = 0
    for scope_id, items in scopes.items():
        attempt = partial(
            _run,
            places=dict.fromkeys(items, scope_id),
            numbers=items,
            kind="item",
            decision=Decision("lapse"),
            by=by,
            now=now,
            dry_run=False,
            part_of=part_of,
        )
        lapsed += _again(engine, attempt).decided
    return lapsed


def _again(engine: Engine, attempt: Callable[[Connection], DecisionReport]) -> DecisionReport:
    """Try each time in a new transaction, until no pass interferes. A transaction without a decision is rolled back."""
    # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    for place in range(1, ATTEMPTS + 1):
        try:
            with engine.connect() as connection, connection.begin() as transaction:
                report = attempt(connection)
                if report.run is None:
                    transaction.rollback()
                return report
        except Stale as error:
            if place == ATTEMPTS:
                raise Contested(f"other processes keep changing these memories ({error}); try again later") from None
        except DBAPIError as error:
            if place == ATTEMPTS or not isinstance(error.orig, DeadlockDetected):
                raise
    raise AssertionError  # pragma: no cover (the last attempt answers or raises)


def _run(
    connection: Connection,
    places: dict[int, int],
    numbers: Sequence[int],
    kind: Kind,
    decision: Decision,
    *,
    by: str,
    now: datetime,
    dry_run: bool,
    part_of: int | None = None,
) -> DecisionReport:
    lock_scopes(connection, places.values())
    scopes = set(places.values())
    scope_id = scopes.pop() if len(scopes) == 1 else None
    whose: dict[str, Any] = {"scope_id": scope_id, "by": by, "part_of": part_of, "dry_run": dry_run}
    run = start_run(connection, kind="review", now=now, lease_seconds=LEASE_SECONDS, **whose)
    author = Author(run.id, by)
    results = tuple(
        _one(connection, places[number], number, kind, decision, author, now)
        if number in places
        else Decided(number, "unknown", f"there is no {'question' if kind == 'item' else kind} {number}")
        for number in numbers
    )
    report = DecisionReport(run.id, dry_run, results, changes_of_run(connection, run.id))
    if dry_run or not report.decided:
        return DecisionReport(None, dry_run, results, report.changes)
    _finish(connection, run, kind, decision, report, now)
    return report


def _finish(
    connection: Connection, run: Run, kind: Kind, decision: Decision, report: DecisionReport, now: datetime
) -> None:
    what = pluralize(report.decided, "question" if kind == "item" else "conflict")
    summary = f"{what} lapsed unanswered" if decision.kind == "lapse" else f"{what} decided: {decision.kind}"
    stats = {
        "decision": decision.kind,
        "decided": report.decided,
        "left": len(report.results) - report.decided,
        "changes": len(report.changes),
    }
    finish_run(connection, run, status="completed", summary=summary, stats=stats, now=now)


def _one(
    connection: Connection,
    scope_id: int,
    number: int,
    kind: Kind,
    decision: Decision,
    author: Author,
    now: datetime,
) -> Decided:
    case = (item_case if kind == "item" else conflict_case)(connection, scope_id, number)
    if case.closed is not None:
        return Decided(number, "decided before", case.closed)
    if decision.seen is not None and not revisions(case).items() <= decision.seen.items():
        return Decided(number, "refused", CHANGED)
    try:
        answer = answer_to(connection, case, decision)
    except ValueError as error:
        return Decided(number, "refused", str(error))
    carry_out(Ledger(connection, author, now), case, answer)
    return Decided(number, "decided", answer.resolution)


def answer_to(connection: Connection, case: Case, decision: Decision) -> Answer:
    """Return the effect of a decision in an open case. Raises ValueError if the case does not allow this decision."""
    if decision.kind == "lapse":
        return review.lapse(case.memory)
    if case.memory is not None and decision.kind in {"accept", "reject"}:
        return review.accept(case.memory) if decision.kind == "accept" else review.reject(case.memory)
    return _between(*_sides(connection, case, decision), decision)


def _between(a: ReviewedMemory, b: ReviewedMemory, decision: Decision) -> Answer:
    if a.id == b.id:
        return Answer("accepted", "dismissed", f"both were merged into {a.quoted}")
    if decision.kind == "accept":
        return review.keep_one(a, b, review.newer_first(a, b)[0].id)
    if decision.kind == "reject":
        return review.keep_both(a, b)
    if decision.kind == "neither":
        return review.keep_none(a, b)
    if decision.kind == "merge":
        return review.merge_pair(a, b, decision.memory or review.survivor_of(a, b))
    if decision.memory is None:
        raise ValueError("say which memory is to be kept")
    return review.keep_one(a, b, decision.memory)


def _sides(connection: Connection, case: Case, decision: Decision) -> tuple[ReviewedMemory, ReviewedMemory]:
    """Return the two memories between which the decision chooses."""
    memory = case.memory
    if memory is None:
        return case.conflicts[0].a, case.conflicts[0].b
    if decision.memory is not None and decision.memory != memory.id:
        found = statements(connection, case.scope_id, [decision.memory])
        if decision.memory not in found:
            raise ValueError(f"there is no memory {decision.memory} in the scope of question {case.item}")
        return memory, found[decision.memory]
    if len(case.conflicts) != 1:
        raise ValueError("say with --into which memory it is to be merged")
    return memory, case.conflicts[0].other(memory.id)
