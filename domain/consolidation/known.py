"""A memory as a pass sees it: what it says, what was decided about it, what its sources make of it.

Must not know: where memories are stored.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

_TRUSTED = ("hand", "user", "assistant", "task", "import")


@dataclass(frozen=True, slots=True)
class Known:
    """One memory, at one revision. confidence, importance: 0..1; times are aware."""

    id: UUID
    scope_id: int
    type: str
    content: str
    content_hash: bytes
    status: str
    confidence: float
    importance: float
    trust: str
    entities: tuple[str, ...]
    valid_from: datetime
    reaffirmed_at: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    merged_into: UUID | None
    archive_reason: str | None
    revision: int
    recorded_at: datetime

    @property
    def live(self) -> bool:
        """Whether it can be answered from: neither archived nor waiting for a person."""
        return self.status in {"inbox", "episode", "active"}

    @property
    def trust_rank(self) -> int:
        """0 for what was written by hand, up to 4 for what was imported."""
        return _TRUSTED.index(self.trust)

    @property
    def order(self) -> tuple[datetime, str, bytes]:
        """The canonical order: by event time, then by what is said. The same whatever came first (I9)."""
        return (self.valid_from, self.type, self.content_hash)
