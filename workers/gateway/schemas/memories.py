"""Memories, their explanations and their corrections, as JSON."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from slowwave.memory_types import MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page, Share

MemoryStatus = Literal["inbox", "episode", "active", "archived", "review"]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Revision = Annotated[int, Field(ge=0, lt=2**31)]


class MemorySource(Answer):
    """An event that is a source of a memory."""

    agent: str
    session: str
    seq: int


class Memory(Answer):
    """One durable statement. In a list with `as_of` or `known_at`, fields about later changes are null."""

    id: UUID
    scope: str = Field(description="`agent:NAME`, `room:NAME` or `team:NAME`.")
    type: MemoryType
    status: MemoryStatus
    content: str
    confidence: Share
    importance: Share
    trust: str = Field(description="The kind of its source: `user`, `assistant`, `task`, `hand` or `import`.")
    valid_from: datetime
    valid_to: datetime | None = Field(description="Null while the memory is valid.")
    recorded_at: datetime | None
    superseded_by: UUID | None
    merged_into: UUID | None
    archive_reason: str | None
    revision: int | None = Field(description="Each change raises it; send it with an edit.")
    source_count: int
    sources: list[MemorySource] = Field(description="At most 20 of the `source_count` sources.")
    used: int = Field(description="The number of conversations in which a reply used it.")
    last_used_at: datetime | None
    shown: int = Field(description="In how many conversations a context showed it.")
    learned_importance: Share = Field(description="The importance with what its use adds or takes away.")


class MemoryPage(Page):
    """One page of memories, the newest first."""

    items: list[Memory]


class Correction(Body):
    """An edit of a memory: another text, another type, or both."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CONTENT_CHARACTERS)] | None = None
    type: MemoryType | None = None
    revision: Revision | None = Field(
        default=None, description="The revision that you read. If the memory has changed since, the answer is 409."
    )
    reason: Reason | None = Field(default=None, description="The reason; the run stores it.")

    @model_validator(mode="after")
    def _changes_something(self) -> "Correction":
        if self.content is None and self.type is None:
            raise ValueError("give content or type: a correction changes one of them at least")
        return self


class Archiving(Body):
    """The archival of a memory."""

    revision: Revision | None = Field(
        default=None, description="The revision that you read. If the memory has changed since, the answer is 409."
    )
    reason: Reason | None = Field(default=None, description="The reason; the run stores it.")


class Corrected(Answer):
    """The result of an edit. `POST /v1/runs/{run}/undo` reverts it."""

    memory: Memory = Field(description="The memory that replaces the edited one.")
    run: int


class SourceEvent(Answer):
    """A source event of a memory, with masked secrets."""

    agent: str
    session: str
    seq: int
    role: str
    name: str | None
    content: str
    happened_at: datetime
    via: UUID | None = Field(description="The merged memory whose text the event states.")


class MemoryChange(Answer):
    """One change of a memory. `before` and `after` contain the changed fields."""

    action: str
    reason: str
    made_at: datetime
    flush: int | None
    run: int | None
    by: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class MemoryFlush(Answer):
    """A flush that created or changed a memory."""

    id: int
    agent: str
    session: str
    from_seq: int
    to_seq: int
    extractor: str
    extractor_version: str
    attempt: int
    committed_at: datetime
    fallback: str | None
    fallback_why: str | None


class MemoryNote(Answer):
    """A note that is a source of a memory."""

    item: UUID
    session: str | None
    content: str
    importance: Share
    marked: bool
    said_at: datetime
    outcome: str | None
    via: UUID | None


class MemoryRun(Answer):
    """A run that changed a memory."""

    id: int
    kind: str
    status: str
    by: str | None
    started_at: datetime
    summary: str | None
    undone_by: int | None


class MemoryLink(Answer):
    """A link to or from another memory."""

    direction: Literal["to", "from"]
    predicate: str
    memory: UUID
    content: str
    confidence: Share
    run: int | None
    ended_by: int | None


class MemoryConflict(Answer):
    """A contradiction with another memory, and its outcome."""

    id: int
    memory: UUID
    content: str
    reason: str
    status: str
    resolution: str | None
    run: int | None
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class MemoryQuestion(Answer):
    """A question to a person about a memory."""

    id: int
    conflict: int | None
    why: str
    tier: str
    state: str
    expires_at: datetime
    run: int | None
    decided_at: datetime | None
    decided_by: str | None


class MemoryPart(Answer):
    """A memory that was merged into this one, or an earlier or later value."""

    id: UUID
    content: str
    status: str
    valid_from: datetime
    valid_to: datetime | None


class MemoryRelation(Answer):
    """A relation that a memory states."""

    subject: str
    subject_type: str
    predicate: str
    object: str
    object_type: str
    confidence: Share


class MemoryLine(Answer):
    """A line of a memory file that is a source of a memory."""

    file: str
    trust: str
    confidence: Share
    holds_from: datetime
    run: int | None
    read_at: datetime | None
    via: UUID | None


class Explanation(Answer):
    """A memory with its provenance: sources, changes, and related memories."""

    memory: Memory
    entities: list[str]
    reaffirmed_at: datetime
    signals: list[str] = Field(description="The extractor's reasons for keeping it.")
    sources: list[SourceEvent] = Field(description="The oldest first, at most 200.")
    changes: list[MemoryChange] = Field(description="The oldest first, at most 500.")
    flushes: list[MemoryFlush]
    notes: list[MemoryNote]
    runs: list[MemoryRun]
    links: list[MemoryLink]
    conflicts: list[MemoryConflict]
    questions: list[MemoryQuestion]
    parts: list[MemoryPart] = Field(description="The memories that were merged into it.")
    chain: list[MemoryPart] = Field(description="Earlier and later values of the same attribute, including this one.")
    relations: list[MemoryRelation]
    lines: list[MemoryLine]
