"""Results of the calls that read, edit and forget memories; the same for every backend."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from slowwave.errors import InvalidQuery, shown
from slowwave.memory_types import MemoryStatus, MemoryType

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MemorySource:
    """The event of a conversation that a memory comes from.

    Attributes:
        agent: the agent of the conversation.
        session: the conversation.
        seq: the number of the event in the conversation.
    """

    agent: str
    session: str
    seq: int


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory with all its fields.

    Attributes:
        id: the memory's UUID.
        scope: "agent:NAME", "room:NAME" or "team:NAME".
        type: fact, preference, decision and so on.
        status: "inbox", "episode" or "active" if searches return it; "review" while it waits for a person's decision;
            "archived" after it was merged, replaced or archived by hand.
        content: the memory's text.
        confidence: how likely the statement is true, from 0 to 1.
        importance: how important the statement is, from 0 to 1.
        trust: the kind of its most trusted source: hand, user, assistant, task or import.
        valid_from: the time from which it is valid.
        valid_to: the time at which it ceased to be valid; None while it is valid.
        recorded_at: the time at which Slowwave stored it.
        superseded_by: the id of the memory that replaced it.
        merged_into: the id of the memory that it was merged into.
        archive_reason: the reason why it was archived.
        revision: a number that grows with every change; `Memory.correct` and `Memory.archive` compare it.
        source_count: the number of its source events.
        sources: the first 20 of its source events.
        used: the number of conversations in which a reply used it: by `Memory.used`, or because the reply repeats it.
        last_used_at: the time of the last use.
        shown: the number of conversations in which a context showed it.
        learned_importance: the importance after the gain or loss from its use; rankings and promotions read it.
    """

    id: str
    scope: str
    type: MemoryType
    status: MemoryStatus
    content: str
    confidence: float
    importance: float
    trust: str
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime | None
    superseded_by: str | None
    merged_into: str | None
    archive_reason: str | None
    revision: int | None
    source_count: int
    sources: tuple[MemorySource, ...]
    used: int = 0
    last_used_at: datetime | None = None
    shown: int = 0
    learned_importance: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page of a list of memories.

    Attributes:
        items: the memories of this page.
        next: the argument `after` of `Memory.memories` for the next page; None on the last page.
    """

    items: tuple[MemoryRecord, ...]
    next: str | None

    def __iter__(self) -> Iterator[MemoryRecord]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """A source event of a memory, with secrets masked.

    Attributes:
        agent: the agent of the conversation.
        session: the conversation.
        seq: the number of the event in the conversation.
        role: user, assistant, task or tool.
        name: the speaker's name.
        content: the text.
        happened_at: when it was said.
        via: the id of the merged memory whose source it was; None if it is a direct source.
    """

    agent: str
    session: str
    seq: int
    role: str
    name: str | None
    content: str
    happened_at: datetime
    via: str | None


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One change of a memory.

    Attributes:
        action: the kind of the change.
        reason: the reason, as a sentence.
        made_at: the time of the change.
        flush: the number of the flush that made it, if one did.
        run: the number of the run that made it, if one did.
        by: the person or program that requested it.
        before: the changed fields with their old values.
        after: the changed fields with their new values.
    """

    action: str
    reason: str
    made_at: datetime
    flush: int | None
    run: int | None
    by: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class MemoryExplanation:
    """The provenance of a memory.

    Attributes:
        memory: the memory.
        sources: its source events, oldest first.
        changes: its changes, oldest first.
    """

    memory: MemoryRecord
    sources: tuple[MemoryEvent, ...]
    changes: tuple[MemoryChange, ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """The result of an edit by hand.

    Attributes:
        memory: the memory that replaces the edited one.
        run: the number of the run, for an undo.
    """

    memory: MemoryRecord
    run: int


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """A preview of a deletion; nothing is deleted yet.

    Attributes:
        target: what would be deleted.
        counts: the number of rows of each kind.
        sessions: some of the conversations.
        hints: notes about consequences.
        confirm: the argument `confirm` of `Memory.forget` that carries the deletion out.
    """

    target: str
    counts: Mapping[str, int]
    sessions: tuple[str, ...]
    hints: tuple[str, ...]
    confirm: str


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """The receipt of a deletion.

    Attributes:
        receipt: the number of the receipt.
        target: the deleted agent, conversation, scope or memory.
        counts: the number of deleted rows of each kind.
        sessions: some of the deleted conversations.
        hints: notes about consequences.
        problems: data that could not be deleted yet; repeat the same call to delete it.
    """

    receipt: int
    target: str
    counts: Mapping[str, int]
    sessions: tuple[str, ...]
    hints: tuple[str, ...]
    problems: tuple[str, ...]


def memory_id(value: str | UUID) -> UUID:
    """Return the UUID of a memory. Raises InvalidQuery for any other text."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidQuery(f"id must be the whole UUID of a memory, got {shown(value)}") from None


def parsed(shape: type[T], value: Mapping[str, Any]) -> T:
    """Parse one of these results from JSON. Fields of a newer server are ignored."""
    which: Any = shape
    result: T = _parser(which).validate_python(value)
    return result


@cache
def _parser(shape: type[Any]) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter  # noqa: PLC0415 (a host that only records needs none of it)

    return TypeAdapter(shape)
