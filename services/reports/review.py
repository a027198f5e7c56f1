"""List questions to a person, with their memories and the effect of each answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, literal_column, or_, select, tuple_

from slowwave_server.domain.review import ItemState, Tier, in_words
from slowwave_server.models import MemoryConflict, ReviewItem, Scope
from slowwave_server.models.consolidation import GRAVER_FIRST
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.conflicts import ListedConflict, read_conflicts
from slowwave_server.services.review.cases import Case, Kind, conflict_case, item_case, revisions, scopes_of
from slowwave_server.services.review.conflict_sides import Side, read_sides
from slowwave_server.services.review.decisions import Decision, answer_to

CONFLICTS_READ = 1000
_GRAVE: tuple[Tier, ...] = ("high", "medium", "low")
ANSWERS: Mapping[str, Decision] = {
    "accept": Decision("accept"),
    "reject": Decision("reject"),
    "merge": Decision("merge"),
    "no answer": Decision("lapse"),
}


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """One question. memory: its subject, None for a question about a conflict; conflicts: this conflict, or the open
    conflicts of the memory. scope: `kind:name`. run: the pass that asked.
    """

    id: int
    scope: str
    tier: Tier
    state: ItemState
    why: str
    run: int | None
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    memory: Side | None
    conflicts: tuple[ListedConflict, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the effect of each answer, in words; empty after a decision."""

    question: ListedQuestion
    answers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter of questions.

    scope: ("agent", "room" or "team", name). state: None for any. before: only questions asked by this time. reach:
    only questions of scopes within it; None for all.
    """

    scope: tuple[str, str] | None = None
    tier: Tier | None = None
    state: ItemState | None = "open"
    before: datetime | None = None
    reach: Reach | None = None


Place = tuple[Tier, datetime, int]
"""The end of a list of questions, to continue from: tier, expiry and number of its last question."""


def list_questions(
    connection: Connection, tenant: str, asked: Asked, *, after: Place | None = None, limit: int = 50
) -> list[ListedQuestion]:
    """List questions of `tenant`, the most important tier first, within a tier the earliest expiry first.

    after: the position at which the previous page ended.
    """
    wanted = _where(asked)
    if after is not None:
        tier, *rest = after
        order = tuple_(_graver_first(), ReviewItem.expires_at, ReviewItem.id)
        wanted.append(order > (_GRAVE.index(tier), *rest))
    return _read(connection, tenant, wanted, limit)


def read_questions(connection: Connection, tenant: str, numbers: Sequence[int]) -> list[ListedQuestion]:
    """Return these questions of `tenant`, the most important first; missing ones are skipped."""
    return _read(connection, tenant, [ReviewItem.id.in_(numbers)], len(numbers))


def read_question(connection: Connection, tenant: str, item: int, *, reach: Reach | None = None) -> Question:
    """Return one question of `tenant`, with the effect of each answer. Raises UnknownName, also if the caller may not
    see it.
    """
    mine = [ReviewItem.id == item, *([] if reach is None else [reach.scopes_condition()])]
    found = _read(connection, tenant, mine, 1)
    if not found:
        raise UnknownName(f"tenant {tenant!r} has no question {item}; `slowwave inbox list` lists them")
    (question,) = found
    names: dict[UUID, str] = {}
    for conflict in question.conflicts:
        names |= {conflict.newer.id: "the later statement", conflict.older.id: "the earlier statement"}
    if question.memory is not None:
        others = "the other statement" if len(question.conflicts) == 1 else "what contradicts it"
        names = dict.fromkeys(names, others) | {question.memory.id: "this memory"}
    return Question(question, what_answers_do(connection, tenant, "item", item, ANSWERS, names))


def what_answers_do(
    connection: Connection,
    tenant: str,
    kind: Kind,
    number: int,
    answers: Mapping[str, Decision],
    names: Mapping[UUID, str],
) -> dict[str, str]:
    """Return the effect of each of these answers, in words; answers that are not possible are excluded. Empty after a
    decision.
    """
    places = scopes_of(connection, tenant, kind, [number])
    if number not in places:
        return {}
    found: Case = (item_case if kind == "item" else conflict_case)(connection, places[number], number)
    if found.closed is not None:
        return {}
    told = {}
    for name, decision in answers.items():
        try:
            told[name] = in_words(answer_to(connection, found, decision), names)
        except ValueError as error:
            told[name] = f"can't be done: {error}"
    return told


def revisions_of(connection: Connection, tenant: str, kind: Kind, number: int) -> dict[UUID, int]:
    """Return the current revisions of the memories of a question or conflict of `tenant`, to which a decision refers.

    Empty for decided ones and for other tenants.
    """
    places = scopes_of(connection, tenant, kind, [number])
    if number not in places:
        return {}
    return revisions((item_case if kind == "item" else conflict_case)(connection, places[number], number))


def _where(asked: Asked) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = []
    if asked.scope is not None:
        wanted += [Scope.kind == asked.scope[0], Scope.name == asked.scope[1]]
    if asked.tier is not None:
        wanted.append(ReviewItem.tier == asked.tier)
    if asked.state is not None:
        wanted.append(ReviewItem.state == asked.state)
    if asked.before is not None:
        wanted.append(ReviewItem.created_at <= asked.before)
    if asked.reach is not None:
        wanted.append(asked.reach.scopes_condition())
    return wanted


def _graver_first() -> ColumnElement[int]:
    # The expression must equal the index's, so that the first open ones are found without sorting.
    return literal_column(GRAVER_FIRST)


def _chosen(
    query: Select[*tuple[Any, ...]], tenant: str, wanted: Sequence[ColumnElement[bool]], limit: int
) -> Select[*tuple[Any, ...]]:
    return (
        query.join(Scope, Scope.id == ReviewItem.scope_id)
        .where(Scope.tenant == tenant, *wanted)
        .order_by(_graver_first(), ReviewItem.expires_at, ReviewItem.id)
        .limit(limit)
    )


def _read(
    connection: Connection, tenant: str, wanted: Sequence[ColumnElement[bool]], limit: int
) -> list[ListedQuestion]:
    columns = ReviewItem.__table__.columns
    query = select(*columns, Scope.kind.label("scope_kind"), Scope.name.label("scope_name"))
    rows = connection.execute(_chosen(query, tenant, wanted, limit)).mappings().all()
    memories = [row["memory_id"] for row in rows if row["memory_id"] is not None]
    sides = read_sides(connection, tenant, memories)
    conflicts = _conflicts(connection, tenant, rows, memories)
    return [
        ListedQuestion(
            **{name: row[name] for name in ("id", "tier", "state", "why", "expires_at", "decided_at", "decided_by")},
            scope=f"{row['scope_kind']}:{row['scope_name']}",
            run=row["run_id"],
            asked_at=row["created_at"],
            memory=sides.get(row["memory_id"]),
            conflicts=tuple(conflict for conflict in conflicts if _about(row, conflict)),
        )
        for row in rows
    ]


def _conflicts(
    connection: Connection, tenant: str, rows: Sequence[Any], memories: Sequence[UUID]
) -> list[ListedConflict]:
    """Return the conflicts of these questions, oldest first."""
    named = MemoryConflict.id.in_([row["conflict_id"] for row in rows if row["conflict_id"] is not None])
    sides = or_(MemoryConflict.memory_id.in_(memories), MemoryConflict.conflicting_memory_id.in_(memories))
    wanted = or_(named, (MemoryConflict.status == "open") & sides)
    return read_conflicts(connection, tenant, wanted, limit=CONFLICTS_READ)[::-1]


def _about(row: Any, conflict: ListedConflict) -> bool:
    if row["conflict_id"] is not None:
        return bool(conflict.id == row["conflict_id"])
    return conflict.status == "open" and row["memory_id"] in {conflict.newer.id, conflict.older.id}
