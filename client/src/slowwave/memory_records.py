"""What clients read of memories, and what came of changing them; the same whichever way the answer came.

Must not know: Postgres, HTTP.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from slowwave.errors import InvalidQuery, shown
from slowwave.memory_types import MemoryType

MemoryStatus = Literal["inbox", "episode", "active", "archived", "review"]
MEMORY_STATUSES: tuple[MemoryStatus, ...] = ("inbox", "episode", "active", "archived", "review")


@dataclass(frozen=True, slots=True)
class MemorySource:
    """The event of a conversation that a memory comes from."""

    agent: str
    session: str
    seq: int


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory with all its fields.

    Attributes:
        id: its UUID.
        scope: "agent:NAME", "room:NAME" or "team:NAME".
        type: fact, preference, decision and so on.
        status: "inbox", "episode" or "active" while it is in answers; "review" while a person is to decide about it;
            "archived" after it was merged, replaced or archived by hand.
        content: what it says.
        confidence: from 0 to 1.
        importance: from 0 to 1.
        trust: who said it: hand, user, assistant, task or import.
        valid_from: since when it holds.
        valid_to: until when it held; None while it holds.
        recorded_at: when Slowwave stored it.
        superseded_by: id of the memory that replaced it.
        merged_into: id of the memory that it was merged into.
        archive_reason: why it is archived.
        revision: counts up with every change; `Memory.correct` and `Memory.archive` compare it.
        source_count: how many events say it.
        sources: the first 20 of these events.
        used: in how many conversations a reply used it, as `Memory.used` was told.
        last_used_at: when that was last.
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


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Part of a list of memories. next: what `Memory.memories` takes as `after` for the next part; None at the end."""

    items: tuple[MemoryRecord, ...]
    next: str | None

    def __iter__(self) -> Iterator[MemoryRecord]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An event that says what a memory says, without its secrets.

    via: id of the merged memory in whose words the event says it; None if it says it in the words of this memory.
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
    """One change of a memory. before and after hold the fields that differ; flush or run: the number of what made it.

    by: for whom it was made, if a person or a program asked for it.
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
    """Why a memory is there: the events that say it and its changes, the oldest first."""

    memory: MemoryRecord
    sources: tuple[MemoryEvent, ...]
    changes: tuple[MemoryChange, ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """A memory was changed by hand. memory: what says it from here on; run: the run that can be undone."""

    memory: MemoryRecord
    run: int


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What a forget would take away; nothing is gone yet.

    counts: how many of each kind; sessions: some of the conversations; hints: what else there is to know.
    confirm: what `Memory.forget` takes to go on.
    """

    target: str
    counts: Mapping[str, int]
    sessions: tuple[str, ...]
    hints: tuple[str, ...]
    confirm: str


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What a forget took away. receipt: its number; problems: what is still there, which the same call takes away."""

    receipt: int
    target: str
    counts: Mapping[str, int]
    sessions: tuple[str, ...]
    hints: tuple[str, ...]
    problems: tuple[str, ...]


def memory_id(value: str | UUID) -> UUID:
    """The UUID of a memory. Raises InvalidQuery for anything else."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidQuery(f"id must be the whole UUID of a memory, got {shown(value)}") from None


def record_of(value: Mapping[str, Any]) -> MemoryRecord:
    """A memory from its JSON. Fields of a newer server are left out."""
    return MemoryRecord(
        **_picked(value, "id", "scope", "type", "status", "content", "confidence", "importance", "trust"),
        **_optional(value, "superseded_by", "merged_into", "archive_reason", "revision"),
        valid_from=datetime.fromisoformat(value["valid_from"]),
        valid_to=_moment(value.get("valid_to")),
        recorded_at=_moment(value.get("recorded_at")),
        last_used_at=_moment(value.get("last_used_at")),
        source_count=value["source_count"],
        sources=tuple(MemorySource(**_picked(one, "agent", "session", "seq")) for one in value["sources"]),
        used=value.get("used") or 0,
    )


def explanation_of(value: Mapping[str, Any]) -> MemoryExplanation:
    """An explanation from its JSON."""
    return MemoryExplanation(
        record_of(value["memory"]),
        tuple(_event_of(one) for one in value["sources"]),
        tuple(_change_of(one) for one in value["changes"]),
    )


def correction_of(value: Mapping[str, Any]) -> Correction:
    """The outcome of a correction from its JSON."""
    return Correction(record_of(value["memory"]), value["run"])


def preview_of(value: Mapping[str, Any]) -> ForgetPreview:
    """The preview of a forget from its JSON."""
    fields = {name: _texts(value, name) for name in ("sessions", "hints")}
    return ForgetPreview(value["target"], value["counts"], **fields, confirm=value["confirm"])


def receipt_of(value: Mapping[str, Any]) -> ForgetReceipt:
    """The receipt of a forget from its JSON."""
    fields = {name: _texts(value, name) for name in ("sessions", "hints", "problems")}
    return ForgetReceipt(value["receipt"], value["target"], value["counts"], **fields)


def _event_of(value: Mapping[str, Any]) -> MemoryEvent:
    fields = _picked(value, "agent", "session", "seq", "role", "content") | _optional(value, "name", "via")
    return MemoryEvent(**fields, happened_at=datetime.fromisoformat(value["happened_at"]))


def _change_of(value: Mapping[str, Any]) -> MemoryChange:
    fields = _picked(value, "action", "reason") | _optional(value, "flush", "run", "by", "before", "after")
    return MemoryChange(**fields, made_at=datetime.fromisoformat(value["made_at"]))


def _picked(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value[name] for name in names}


def _optional(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value.get(name) for name in names}


def _texts(value: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(value.get(name) or ())


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
