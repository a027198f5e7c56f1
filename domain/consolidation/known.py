"""A memory as a consolidation pass reads it: its text, its decisions, and values derived from its sources."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

TRUSTS = ("hand", "user", "assistant", "task", "import")
"""Trust levels in descending order, from handwritten to imported."""
OF_AGENTS = frozenset({"assistant", "task"})
"""Trust levels of what an agent or a tool said."""
LIVE = frozenset({"inbox", "episode", "active"})
REPORTS = frozenset({"event", "lesson", "result"})
"""Types of memories of what happened."""


@dataclass(frozen=True, slots=True)
class MemoryRevision:
    """One memory at one revision. confidence, importance: numbers from 0 to 1; times are aware.

    own_from, own_trust: valid_from and trust from the memory's own sources. A merged memory adds sources to the
    survivor, and these must not decide whether the survivor merges.
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
        """True if an answer may use the memory: it is neither archived nor in review."""
        return self.status in LIVE

    @property
    def groupable(self) -> bool:
        """True if the memory may merge with others: it is live, or archived by a merge."""
        return self.live or self.merged_into is not None

    @property
    def order(self) -> tuple[datetime, str, bytes]:
        """Return the sort key of the canonical order: event time, then content; independent of the order of arrival
        (I9).
        """
        return (self.own_from, self.type, self.content_hash)


def may_contradict(one: MemoryRevision, other: MemoryRevision) -> bool:
    """Return True unless both can be true whatever their words say: two reports of what happened, or two statements of
    agents or tools.
    """
    return not ({one.type, other.type} <= REPORTS or {one.trust, other.trust} <= OF_AGENTS)
