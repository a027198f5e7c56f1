"""List questions to a person, with their memories and the effect of each answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from slowwave_server.domain.review import ItemState, Tier, in_words
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.conflicts import ListedConflict, read_conflicts
from slowwave_server.services.review.conflict_sides import Side, read_sides
from slowwave_server.services.review.decision import Decision, Kind

# Imported by the functions that tell the effect of an answer: a list needs neither the effects nor SQLAlchemy.
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from slowwave_server.services.access.reach import Reach
    from slowwave_server.services.review.cases import Case

CONFLICTS_READ = 1000
_GRAVE: tuple[Tier, ...] = ("high", "medium", "low")
# The expression must equal the index's, so that the first open ones are found without sorting.
_GRAVER_FIRST = "(CASE tier WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END)"
# The tables have no aliases, because a condition of `Reach` names the scopes in full.
_QUESTIONS = (
    "SELECT review_items.*, scopes.kind AS scope_kind, scopes.name AS scope_name FROM slowwave.review_items"
    " JOIN slowwave.scopes ON scopes.id = review_items.scope_id WHERE scopes.tenant = %(tenant)s AND {}"
    f" ORDER BY {_GRAVER_FIRST}, review_items.expires_at, review_items.id LIMIT %(limit)s"
)
_CONFLICTS = (
    "(c.id = ANY(%(conflicts)s) OR c.status = 'open'"
    " AND (c.memory_id = ANY(%(memories)s) OR c.conflicting_memory_id = ANY(%(memories)s)))"
)
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
    reach: "Reach | None" = None


Place = tuple[Tier, datetime, int]
"""The end of a list of questions, to continue from: tier, expiry and number of its last question."""


def list_questions(
    connection: Reads, tenant: str, asked: Asked, *, after: Place | None = None, limit: int = 50
) -> list[ListedQuestion]:
    """List questions, the most important tier first, then the earliest expiry. after: where the last page ended."""
    wanted, values = _where(asked)
    if after is not None:
        wanted.append(f"({_GRAVER_FIRST}, expires_at, review_items.id) > (%(grave)s, %(expires)s, %(number)s)")
        values |= {"grave": _GRAVE.index(after[0]), "expires": after[1], "number": after[2]}
    return _read(connection, tenant, wanted, values, limit)


def read_questions(connection: Reads, tenant: str, numbers: Sequence[int]) -> list[ListedQuestion]:
    """Return these questions of `tenant`, the most important first; missing ones are skipped."""
    return _read(connection, tenant, ["review_items.id = ANY(%(numbers)s)"], {"numbers": list(numbers)}, len(numbers))


def read_question(connection: "Connection", tenant: str, item: int, *, reach: "Reach | None" = None) -> Question:
    """Return one question with the effect of each answer. Raises UnknownName, also if the caller may not see it."""
    within, values = ("true", {}) if reach is None else reach.scopes_text()
    found = _read(connection, tenant, ["review_items.id = %(item)s", within], {**values, "item": item}, 1)
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
    connection: "Connection",
    tenant: str,
    kind: Kind,
    number: int,
    answers: Mapping[str, Decision],
    names: Mapping[UUID, str],
) -> dict[str, str]:
    """Return the effect, in words, of those of these answers that are possible; none after a decision."""
    from slowwave_server.services.review.decisions import answer_to  # noqa: PLC0415

    found = _case(connection, tenant, kind, number)
    if found is None or found.closed is not None:
        return {}
    told = {}
    for name, decision in answers.items():
        try:
            told[name] = in_words(answer_to(connection, found, decision), names)
        except ValueError as error:
            told[name] = f"can't be done: {error}"
    return told


def revisions_of(connection: "Connection", tenant: str, kind: Kind, number: int) -> dict[UUID, int]:
    """Return the current revisions of the memories of an open question or conflict of `tenant`, else {}."""
    from slowwave_server.services.review.cases import revisions  # noqa: PLC0415

    found = _case(connection, tenant, kind, number)
    return {} if found is None else revisions(found)


def _case(connection: "Connection", tenant: str, kind: Kind, number: int) -> "Case | None":
    from slowwave_server.services.review.cases import conflict_case, item_case, scopes_of  # noqa: PLC0415

    places = scopes_of(connection, tenant, kind, [number])
    if number not in places:
        return None
    return (item_case if kind == "item" else conflict_case)(connection, places[number], number)


def _where(asked: Asked) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions of a filter, and their parameters."""
    wanted = ["true"]
    values: dict[str, Any] = {"tier": asked.tier, "state": asked.state, "before": asked.before}
    if asked.scope is not None:
        wanted.append("scopes.kind = %(kind)s AND scopes.name = %(name)s")
        values["kind"], values["name"] = asked.scope
    wanted += [f"{name} = %({name})s" for name in ("tier", "state") if values[name] is not None]
    if asked.before is not None:
        wanted.append("review_items.created_at <= %(before)s")
    if asked.reach is not None:
        within, more = asked.reach.scopes_text()
        wanted.append(within)
        values |= more
    return wanted, values


def _read(
    connection: Reads, tenant: str, wanted: Sequence[str], values: Mapping[str, Any], limit: int
) -> list[ListedQuestion]:
    query = _QUESTIONS.format(" AND ".join(wanted))
    rows = read_rows(connection, query, {**values, "tenant": tenant, "limit": limit})
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


def _conflicts(connection: Reads, tenant: str, rows: Sequence[Any], memories: Sequence[UUID]) -> list[ListedConflict]:
    """Return the conflicts of these questions, oldest first."""
    named = [row["conflict_id"] for row in rows if row["conflict_id"] is not None]
    values = {"conflicts": named, "memories": list(memories)}
    return read_conflicts(connection, tenant, _CONFLICTS, values, limit=CONFLICTS_READ)[::-1]


def _about(row: Any, conflict: ListedConflict) -> bool:
    if row["conflict_id"] is not None:
        return bool(conflict.id == row["conflict_id"])
    return conflict.status == "open" and row["memory_id"] in {conflict.newer.id, conflict.older.id}
