"""Memories, their explanations and their corrections, as JSON."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from slowwave.memory_records import MemorySource
from slowwave.memory_types import MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave_server.services.memories.file_lines import ReadLine
from slowwave_server.services.reports.explain import ChangeMade, MemoryFlush, SourceEvent
from slowwave_server.services.reports.relations import (
    LinkedMemory,
    MemoryPart,
    MemoryQuestion,
    MemoryRelation,
    MemoryRun,
    WorkingNote,
)
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page, Share

MemoryStatus = Literal["inbox", "episode", "active", "archived", "review"]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Revision = Annotated[int, Field(ge=0, lt=2**31)]


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


class Explanation(Answer):
    """A memory with its provenance: sources, changes, and related memories."""

    memory: Memory
    entities: list[str]
    reaffirmed_at: datetime
    signals: list[str] = Field(description="The extractor's reasons for keeping it.")
    sources: list[SourceEvent] = Field(description="The oldest first, at most 200.")
    changes: list[ChangeMade] = Field(description="The oldest first, at most 500.")
    flushes: list[MemoryFlush]
    notes: list[WorkingNote]
    runs: list[MemoryRun]
    links: list[LinkedMemory]
    conflicts: list[MemoryConflict]
    questions: list[MemoryQuestion]
    parts: list[MemoryPart] = Field(description="The memories that were merged into it.")
    chain: list[MemoryPart] = Field(description="Earlier and later values of the same attribute, including this one.")
    relations: list[MemoryRelation]
    lines: list[ReadLine]
