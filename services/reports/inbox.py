"""Read the inbox: all items that wait for a person's decision, in one order, with the effect of each answer.

An item has a key: `q12` is question 12; `c7` is contradiction 7, about which no question is open.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import UUID

from slowwave.errors import InvalidMessage
from slowwave_server.domain.review import Tier
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.conflicts import ListedConflict, read_conflicts
from slowwave_server.services.reports.review import (
    ListedQuestion,
    read_question,
    read_questions,
    revisions_of,
    what_answers_do,
)
from slowwave_server.services.review.conflict_sides import Side
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decision import Kind as CaseKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

ItemKind = Literal["contradiction", "claim"]
"""contradiction: two statements that can't both hold. claim: one memory that is kept out of answers until decided."""
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
KEYS_READ = 1_000
"""Of more open items, the first KEYS_READ are listed and counted."""

_PAIR_WORDS: Mapping[str, str] = {
    "later": "The later statement holds",
    "earlier": "The earlier statement holds",
    "both": "Both hold",
    "same": "Both say the same",
    "neither": "Neither holds",
}
_CLAIM_WORDS: Mapping[str, str] = {
    "keep": "Keep it: answers may use it",
    "archive": "Archive it: it is wrong",
    "same": "It says the same as another memory",
}
_DIGITS = 18
_WHERE_SCOPE = " AND (CAST(%(kind)s AS text) IS NULL OR (k.kind = %(kind)s AND k.name = %(name)s))"
_QUESTIONS = (
    "SELECT q.id, q.conflict_id IS NOT NULL AS pair FROM slowwave.review_items q"
    " JOIN slowwave.scopes k ON k.id = q.scope_id AND k.tenant = %(tenant)s"
    f" WHERE q.state = 'open'{_WHERE_SCOPE}"
    " ORDER BY (CASE q.tier WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END), q.expires_at, q.id LIMIT %(most)s"
)
_UNASKED = (
    "SELECT c.id FROM slowwave.memory_conflicts c"
    " JOIN slowwave.scopes k ON k.id = c.scope_id AND k.tenant = %(tenant)s"
    f" WHERE c.status = 'open'{_WHERE_SCOPE}"
    " AND NOT EXISTS (SELECT FROM slowwave.review_items q WHERE q.state = 'open' AND q.conflict_id = c.id)"
    " AND NOT EXISTS (SELECT FROM slowwave.review_items q WHERE q.state = 'open' AND q.memory_id = c.memory_id)"
    " AND NOT EXISTS (SELECT FROM slowwave.review_items q"
    " WHERE q.state = 'open' AND q.memory_id = c.conflicting_memory_id)"
    " ORDER BY c.id DESC LIMIT %(most)s"
)
_KINDS = f"SELECT q.pair, count(*) AS number FROM ({_QUESTIONS}) AS q GROUP BY q.pair"
_UNASKED_COUNT = f"SELECT count(*) AS number FROM ({_UNASKED}) AS c"
_ANSWERED = (
    "WITH decided AS (SELECT c.after FROM slowwave.memory_changes c JOIN slowwave.memories m ON m.id = c.memory_id"
    " JOIN slowwave.scopes k ON k.id = m.scope_id AND k.tenant = %(tenant)s"
    " WHERE c.run_id = %(run)s AND c.action = 'decided')"
    " SELECT 'q' || (after ->> 'review_item') AS key FROM decided WHERE after ? 'review_item'"
    " UNION SELECT 'c' || (after ->> 'conflict') FROM decided WHERE after ? 'conflict'"
    " AND NOT EXISTS (SELECT FROM decided WHERE after ? 'review_item') ORDER BY key"
)


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """One answer to an open item. effect: its effect, in words."""

    name: str
    words: str
    effect: str


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One item. sides: for a contradiction the later and the earlier statement; for a claim the claim, then the
    memories that contradict it. closed: the decision, in words; None while the item is open. asked_at: the time at
    which it was noticed.
    """

    key: str
    kind: ItemKind
    tier: Tier | None
    scope: str
    why: str
    run: int | None
    asked_at: datetime
    expires_at: datetime | None
    sides: tuple[Side, ...]
    conflict: ListedConflict | None
    question: ListedQuestion | None
    closed: str | None
    decided_at: datetime | None
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An item with what a person needs to decide it. seen: the memories at their revisions, for the decision."""

    item: InboxItem
    answers: tuple[ItemAnswer, ...]
    lapse: str | None
    seen: Mapping[UUID, int]


def open_keys(
    connection: Reads, tenant: str, *, scope: tuple[str, str] | None = None, kind: ItemKind | None = None
) -> list[str]:
    """Return the keys of open items: the most important questions first, then contradictions without a question."""
    values = _values(tenant, scope)
    asked = read_rows(connection, _QUESTIONS, values)
    keys = [f"q{row['id']}" for row in asked if kind is None or row["pair"] == (kind == "contradiction")]
    if kind != "claim" and len(keys) < KEYS_READ:
        keys += [f"c{row['id']}" for row in read_rows(connection, _UNASKED, values)]
    return keys[:KEYS_READ]


def count_kinds(connection: Reads, tenant: str, *, scope: tuple[str, str] | None = None) -> dict[ItemKind, int]:
    """Count the open items of each kind, at most KEYS_READ of each."""
    values = _values(tenant, scope)
    asked = {row["pair"]: row["number"] for row in read_rows(connection, _KINDS, values)}
    (unasked,) = read_rows(connection, _UNASKED_COUNT, values)
    contradictions = min(KEYS_READ, asked.get(True, 0) + unasked["number"])
    return {"contradiction": contradictions, "claim": asked.get(False, 0)}


def _values(tenant: str, scope: tuple[str, str] | None) -> dict[str, Any]:
    return {"tenant": tenant, "most": KEYS_READ, "kind": scope and scope[0], "name": scope and scope[1]}


def read_items(connection: Reads, tenant: str, keys: Iterable[str]) -> list[InboxItem]:
    """Return these items, in the order of their keys; missing ones are skipped. Raises InvalidMessage."""
    numbers = {key: key_number(key) for key in keys}
    asked = [number for key, number in numbers.items() if key[0] == "q"]
    noticed = [number for key, number in numbers.items() if key[0] == "c"]
    questions = {one.id: one for one in read_questions(connection, tenant, asked)} if asked else {}
    conflicts: dict[int, ListedConflict] = {}
    if noticed:
        found = read_conflicts(connection, tenant, "c.id = ANY(%(ids)s)", {"ids": noticed}, limit=KEYS_READ)
        conflicts = {one.id: one for one in found}
    items = []
    for key, number in numbers.items():
        if key[0] == "q" and number in questions:
            items.append(_of_question(questions[number]))
        elif key[0] == "c" and number in conflicts:
            items.append(_of_conflict(conflicts[number]))
    return items


def read_item(connection: "Connection", tenant: str, key: str) -> OpenItem:
    """Return one item with its answers; no answers if it is decided. Raises UnknownName and InvalidMessage."""
    found = read_items(connection, tenant, [key])
    if not found:
        raise UnknownName(f"tenant {tenant!r} has no item {key} in its inbox; `slowwave inbox list` lists them")
    (item,) = found
    kind, number = case_of(item)
    words = answer_words(item)
    names = _names(item)
    effects = what_answers_do(connection, tenant, kind, number, {one: _decision(item, one) for one in words}, names)
    lapse = None
    if item.question is not None:
        lapse = read_question(connection, tenant, item.question.id).answers.get("no answer")
    answers = tuple(ItemAnswer(one, words[one], effects[one]) for one in words if one in effects)
    return OpenItem(item, answers, lapse, revisions_of(connection, tenant, kind, number))


def case_of(item: InboxItem) -> tuple[CaseKind, int]:
    """Return the subject of a decision: the contradiction if the item has two sides, else the question."""
    if item.conflict is not None and item.closed is None:
        return "conflict", item.conflict.id
    return ("item", item.question.id) if item.question is not None else ("conflict", key_number(item.key))


def keys_of_run(connection: Reads, tenant: str, run: int) -> list[str]:
    """Return the present keys of items that a run answered: with an open question, the question's key."""
    return [row["key"] for row in read_rows(connection, _ANSWERED, {"tenant": tenant, "run": run})]


def answer_words(item: InboxItem) -> Mapping[str, str]:
    """Return the names of this item's answers, with their words."""
    if item.conflict is not None:
        return _PAIR_WORDS
    return {name: words for name, words in _CLAIM_WORDS.items() if name != "same" or len(item.sides) > 1}


def decision_for(
    item: InboxItem, answer: str, seen: Mapping[UUID, int] | None, *, into: UUID | None = None
) -> Decision:
    """Return the decision for an answer to an item. into: for "same", the memory that stays. Raises InvalidMessage."""
    if item.closed is not None:
        raise InvalidMessage(f"{item.key} was answered before: {item.closed}")
    if answer not in answer_words(item):
        raise InvalidMessage(f"answer must be one of {', '.join(answer_words(item))}, got {answer!r:.40}")
    made = _decision(item, answer, into)
    return Decision(made.kind, made.memory, seen)


def key_number(key: str) -> int:
    """Return the number in a key. Raises InvalidMessage."""
    if key[:1] in {"q", "c"} and key[1:].isascii() and key[1:].isdigit() and len(key) <= _DIGITS:
        return int(key[1:])
    raise InvalidMessage(f"the key of an item is q or c and a number, such as q12, got {key!r:.40}")


def _decision(item: InboxItem, answer: str, into: UUID | None = None) -> Decision:
    if answer == "later":
        return Decision("keep", item.sides[0].id)
    if answer == "earlier":
        return Decision("keep", item.sides[1].id)
    if answer == "same":
        return Decision("merge", into)
    if answer == "neither":
        return Decision("neither")
    return Decision("accept" if answer == "keep" else "reject")


def _of_question(question: ListedQuestion) -> InboxItem:
    memory = question.memory
    # A claim that only one memory contradicts is a choice between two statements, and has the answers of such a choice.
    pair = len(question.conflicts) == 1 and (memory is None or memory.status == "review")
    conflict = question.conflicts[0] if pair else None
    others = [
        one.older if memory is not None and one.newer.id == memory.id else one.newer for one in question.conflicts
    ]
    sides = [conflict.newer, conflict.older] if conflict else [memory, *others]
    return InboxItem(
        key=f"q{question.id}",
        kind="contradiction" if memory is None else "claim",
        tier=question.tier,
        scope=question.scope,
        why=question.why,
        run=question.run,
        asked_at=question.asked_at,
        expires_at=question.expires_at,
        sides=tuple(side for side in sides if side is not None),
        conflict=conflict,
        question=question,
        closed=None if question.state == "open" else _closing(question),
        decided_at=question.decided_at,
        decided_by=question.decided_by,
    )


def _closing(question: ListedQuestion) -> str:
    """Return the decision in words."""
    resolutions = [one.resolution for one in question.conflicts if one.resolution]
    return resolutions[0] if resolutions else question.state


def _of_conflict(conflict: ListedConflict) -> InboxItem:
    return InboxItem(
        key=f"c{conflict.id}",
        kind="contradiction",
        tier=None,
        scope=conflict.scope,
        why=conflict.reason,
        run=conflict.run,
        asked_at=conflict.noticed_at,
        expires_at=None,
        sides=(conflict.newer, conflict.older),
        conflict=conflict,
        question=None,
        closed=None if conflict.status == "open" else conflict.resolution or conflict.status,
        decided_at=conflict.decided_at,
        decided_by=conflict.decided_by,
    )


def _names(item: InboxItem) -> dict[UUID, str]:
    """Return a name for each statement in the sentences of effects."""
    if item.conflict is not None:
        return {item.conflict.newer.id: "the later statement", item.conflict.older.id: "the earlier statement"}
    others = dict.fromkeys((side.id for side in item.sides[1:]), "the other statement")
    return others | {item.sides[0].id: "this memory"}
