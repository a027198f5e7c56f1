"""A memory as a pass sees it: what it says, what was decided about it, what its sources make of it.

Must not know: where memories are stored.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

TRUSTS = ("hand", "user", "assistant", "task", "import")
"""From what a person wrote by hand down to what was imported."""
LIVE = frozenset({"inbox", "episode", "active"})


@dataclass(frozen=True, slots=True)
class MemoryRevision:
    """One memory, at one revision. confidence, importance: 0..1; times are aware.

    own_from, own_trust: as valid_from and trust, of its own sources alone. What was merged into it lends it sources,
    and must not decide whether it is merged.
    """

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
    own_from: datetime
    own_trust: str

    @property
    def live(self) -> bool:
        """Whether it can be answered from: neither archived nor waiting for a person."""
        return self.status in LIVE

    @property
    def groupable(self) -> bool:
        """Whether it may be merged with others: live, or archived by a merge."""
        return self.live or self.merged_into is not None

    @property
    def order(self) -> tuple[datetime, str, bytes]:
        """The canonical order: by event time, then by what is said. The same whatever came first (I9)."""
        return (self.own_from, self.type, self.content_hash)
