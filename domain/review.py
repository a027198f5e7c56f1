"""Review: the questions to a person, their urgency, their expiry, and the effect of each answer.

No question waits for ever, because a queue without a reader must not grow. Every question has a tier by its risk, every
tier has a time limit, and after the limit a rule decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

Tier = Literal["low", "medium", "high"]
ItemState = Literal["open", "accepted", "rejected", "merged", "expired"]
ConflictStatus = Literal["open", "resolved", "dismissed"]

QUOTED = 80
"""The number of characters of a statement that the text of a decision quotes."""

IMPORTANT = 0.7
"""From this importance on, a wrong guess about a person's words justifies a question to a person."""

TESTIMONY = frozenset({"hand", "user"})
"""Trust levels for a person's own words; the others are claims of an assistant, a task or an import."""

# Claims are numerous and likely to be repeated: two weeks. A person's own words: a month. Important or hand-written
# memories: a quarter, so that no question expires during a holiday.
LOW_LAPSES = timedelta(days=14)
MEDIUM_LAPSES = timedelta(days=30)
HIGH_LAPSES = timedelta(days=90)
_LAPSES: Mapping[str, timedelta] = {"low": LOW_LAPSES, "medium": MEDIUM_LAPSES, "high": HIGH_LAPSES}


class Concerned(Protocol):
    """The fields of a memory that decide tiers and doubts. importance: a number from 0 to 1."""

    @property
    def trust(self) -> str: ...

    @property
    def importance(self) -> float: ...


AnyConcerned = TypeVar("AnyConcerned", bound=Concerned)


class Dated(Protocol):
    """The fields of a memory that decide the order by event time."""

    @property
    def id(self) -> UUID: ...

    @property
    def valid_from(self) -> datetime: ...

    @property
    def reaffirmed_at(self) -> datetime: ...


AnyDated = TypeVar("AnyDated", bound=Dated)


@dataclass(frozen=True, slots=True)
class ReviewedMemory:
    """A memory as a question shows it. importance: a number from 0 to 1; times are aware.

    before_review: the status to which the memory returns after the review. revision: the revision at which it was read.
    """

    id: UUID
    status: str
    trust: str
    importance: float
    valid_from: datetime
    reaffirmed_at: datetime
    valid_to: datetime | None = None
    superseded_by: UUID | None = None
    before_review: str = "inbox"
    revision: int = 0
    content: str = ""

    @property
    def quoted(self) -> str:
        """The beginning of its text, in quotation marks; its id if the text is unknown."""
        flat = " ".join(self.content.split())
        if not flat:
            return f"memory {self.id}"
        return f"“{flat}”" if len(flat) <= QUOTED else f"“{flat[: QUOTED - 1]}…”"

    @property
    def archived(self) -> bool:
        return self.status == "archived"


def tier_of(*concerned: Concerned) -> Tier:
    """Return the risk tier of one memory, or of the two sides of a conflict.

    high: a hand-written memory, or only a person's own words, some of them important; medium: only a person's own
    words; low: at least one claim of an assistant, a task or an import.
    """
    if any(statement.trust == "hand" for statement in concerned):
        return "high"
    if not all(statement.trust in TESTIMONY for statement in concerned):
        return "low"
    return "high" if max(statement.importance for statement in concerned) >= IMPORTANT else "medium"


def expires(tier: Tier, now: datetime) -> datetime:
    """Return the time at which a question that is asked now expires."""
    return now + _LAPSES[tier]


def doubtful(a: AnyConcerned, b: AnyConcerned) -> AnyConcerned | None:
    """Return which of two contradicting statements is excluded from answers until a person decides.

    It is the claim that contradicts a person's own words, whichever came first. None: both are of the same kind, and
    both stay readable while the question is open.
    """
    if (a.trust in TESTIMONY) == (b.trust in TESTIMONY):
        return None
    return b if a.trust in TESTIMONY else a


def newer_first(a: AnyDated, b: AnyDated) -> tuple[AnyDated, AnyDated]:
    """Return the two memories, the one with the later time of its last statement first, regardless of arrival."""
    return (a, b) if (a.reaffirmed_at, a.valid_from, a.id) >= (b.reaffirmed_at, b.valid_from, b.id) else (b, a)


def ends_at(older: Dated, newer: Dated) -> datetime:
    """Return the end of `older` if `newer` replaced it: the start of `newer`, or its repetition after the older one."""
    return newer.valid_from if newer.valid_from > older.reaffirmed_at else newer.reaffirmed_at


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one memory, at the revision at which it was read.

    fields: the decided fields with their new values; successor: the id of the memory that replaced it.
    """

    memory: UUID
    revision: int
    action: str
    fields: Mapping[str, Any]
    reason: str
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The effects of a decision. changes: changes of memories, one per memory; merge: (survivor, part) of a merge, or
    None.

    state: the new state of the question; conflict, resolution: the new state of the conflict, and the reason.
    """

    state: ItemState
    conflict: ConflictStatus
    resolution: str
    changes: tuple[Change, ...] = ()
    merge: tuple[ReviewedMemory, ReviewedMemory] | None = None


def keep_one(a: ReviewedMemory, b: ReviewedMemory, keep: UUID) -> Answer:
    """Keep one of the two. If it is the later one, it replaces the other from its own time on. If it is the earlier
    one, the later one was never true: it is archived as rejected. A memory that is already archived stays unchanged.

    Raises ValueError if `keep` is neither of the two, or is archived.
    """
    _require(a, b, keep)
    newer, older = newer_first(a, b)
    if keep == newer.id:
        resolution = f"{newer.quoted} holds, and replaced {older.quoted}"
        return Answer("accepted", "resolved", resolution, (*_back(newer), *_superseded(older, newer)))
    resolution = f"{older.quoted} holds, and {newer.quoted} was rejected"
    return Answer("accepted", "resolved", resolution, (*_back(older), *_rejected(newer, resolution)))


def survivor_of(a: ReviewedMemory, b: ReviewedMemory) -> UUID:
    """Return the default survivor of a merge: first one not in review, then one of a person, then the later one."""
    newer, older = newer_first(a, b)
    worse = (newer.status == "review", newer.trust not in TESTIMONY) > (
        older.status == "review",
        older.trust not in TESTIMONY,
    )
    return older.id if worse else newer.id


def keep_both(a: ReviewedMemory, b: ReviewedMemory) -> Answer:
    """Keep both, because they do not contradict each other: answers contain both again."""
    return Answer("rejected", "dismissed", "both hold", (*_back(a), *_back(b)))


def keep_none(a: ReviewedMemory, b: ReviewedMemory) -> Answer:
    """Keep neither, because both were never true: both are archived as rejected."""
    resolution = f"neither {a.quoted} nor {b.quoted} holds: both were rejected"
    return Answer("rejected", "resolved", resolution, (*_rejected(a, resolution), *_rejected(b, resolution)))


def merge_pair(a: ReviewedMemory, b: ReviewedMemory, survivor: UUID) -> Answer:
    """Merge the two: one stays, in its own words, with the sources of both. Raises ValueError as `keep_one`."""
    stays, part = _require(a, b, survivor)
    if part.archived:
        raise ValueError(f"{part.quoted} is archived; undo what archived it first")
    resolution = f"{part.quoted} says the same as {stays.quoted}, and was merged into it"
    return Answer("merged", "resolved", resolution, _back(stays), (stays, part))


def accept(memory: ReviewedMemory) -> Answer:
    """Accept the memory: answers may contain it, and a contradicting memory stays valid beside it."""
    return Answer(
        "accepted", "dismissed", f"{memory.quoted} was accepted, and holds beside what contradicts it", _back(memory)
    )


def reject(memory: ReviewedMemory) -> Answer:
    """Reject the memory: it is archived, and stays archived even if it is said again."""
    resolution = f"{memory.quoted} was rejected"
    return Answer("rejected", "resolved", resolution, _rejected(memory, resolution))


def lapse(memory: ReviewedMemory | None) -> Answer:
    """Close a question that nobody answered in time. A memory in review is archived, and an undo can restore it.

    memory: None for a conflict without a memory in review: the conflict stays open and both sides stay readable, but no
    further question is asked.
    """
    if memory is None or memory.status != "review":
        return Answer("expired", "open", "nobody answered in time")
    resolution = f"nobody answered in time: {memory.quoted} was archived"
    fields = {"status": "archived", "archive_reason": "review expired"}
    return Answer(
        "expired", "resolved", resolution, (Change(memory.id, memory.revision, "archived", fields, "review expired"),)
    )


def _require(a: ReviewedMemory, b: ReviewedMemory, chosen: UUID) -> tuple[ReviewedMemory, ReviewedMemory]:
    """Return the chosen memory, then the other one."""
    if chosen not in {a.id, b.id}:
        raise ValueError(f"{chosen} is neither {a.id} nor {b.id}")
    one, other = (a, b) if chosen == a.id else (b, a)
    if one.archived:
        raise ValueError(f"{one.quoted} is archived; undo what archived it first")
    return one, other


def _rejected(memory: ReviewedMemory, reason: str) -> tuple[Change, ...]:
    """Archive a memory as rejected, unless it is archived already."""
    if memory.archived:
        return ()
    fields = {"status": "archived", "archive_reason": "rejected"}
    return (Change(memory.id, memory.revision, "rejected", fields, reason),)


def _superseded(older: ReviewedMemory, newer: ReviewedMemory) -> tuple[Change, ...]:
    if older.archived or older.superseded_by is not None:
        return ()
    ended = ends_at(older, newer)
    if older.valid_to is not None:
        ended = min(ended, older.valid_to)
    fields: dict[str, Any] = {"valid_to": ended, "superseded_by": newer.id}
    if older.status == "review":
        fields["status"] = older.before_review
    return (Change(older.id, older.revision, "superseded", fields, f"replaced by {newer.quoted}", newer.id),)


def _back(memory: ReviewedMemory) -> tuple[Change, ...]:
    if memory.status != "review":
        return ()
    return (Change(memory.id, memory.revision, "accepted", {"status": memory.before_review}, "decided in review"),)


def in_words(answer: Answer, names: Mapping[UUID, str]) -> str:
    """Return the effects of an answer in words. names: a name for each memory, such as "the later statement"."""

    def name(memory: UUID) -> str:
        return names.get(memory, f"memory {memory}")

    told = {
        "accepted": "{0} is in answers again",
        "superseded": "{0} holds until {2:%Y-%m-%d}, and {1} from then on",
        "rejected": "{0} is archived, however often it is said again",
        "archived": "{0} is archived",
    }
    parts = [
        told[change.action].format(
            name(change.memory), name(change.successor or change.memory), change.fields.get("valid_to")
        )
        for change in answer.changes
    ]
    if [change.action for change in answer.changes] == ["rejected", "rejected"]:
        parts = ["both are archived, however often they are said again"]
    if answer.merge is not None:
        survivor, part = answer.merge
        parts.append(f"{name(part.id)} is merged into {name(survivor.id)}, with the sources of both")
    if answer.conflict == "dismissed":
        parts.append("both hold beside each other")
    if answer.conflict == "open":
        parts.append("nothing changes, and the question is closed")
    return "; ".join(parts) or "nothing changes, and the conflict is closed"
