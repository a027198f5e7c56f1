"""What an extractor takes and what it gives: the contract between a window of events and durable memories.

Must not know: which extractor runs, and how memories are stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from slowwave.memory_types import MemoryType
from slowwave_server.domain.events import Event

MemoryStatus = Literal["inbox", "episode", "active", "archived", "review"]
Trust = Literal["user", "assistant", "task"]


def first_status(kind: str) -> MemoryStatus:
    """The status in which a memory of this type begins: dated events are episodes, all else waits in the inbox."""
    return "episode" if kind == "event" else "inbox"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement that is worth keeping.

    content: a sentence that stands alone, with its speaker named and secrets redacted.
    importance, confidence: 0..1, from the named `signals`.
    valid_from: when the statement began to hold, by event time (never by arrival).
    sources: the `seq` numbers inside the window that say it, ascending, at least one.
    repeats: a memory of the scope that says the same in other words; it gains the sources, and no new one is made.
    corrects: a memory of the scope that this one ends.
    """

    content: str
    type: MemoryType
    importance: float
    confidence: float
    valid_from: datetime
    sources: tuple[int, ...]
    entities: tuple[str, ...] = ()
    trust: Trust = "user"
    signals: tuple[str, ...] = ()
    repeats: UUID | None = None
    corrects: UUID | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The events of one flush: contiguous, `from_seq` to `to_seq` inclusive, oldest first, never empty."""

    events: tuple[Event, ...]

    @property
    def from_seq(self) -> int:
        return self.events[0].seq

    @property
    def to_seq(self) -> int:
        return self.events[-1].seq


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """What an extractor may look at beside the window; none of it is evidence.

    agent: the agent's name; time_zone: its IANA zone, for relative dates;
    preceding: the last few events before the window, oldest first (a question whose answer opens the window).
    tenant and scope_id: where its memories will stand, and the only place from which known ones may be read; None where
    there is none. session_id: the window's session.
    """

    agent: str
    time_zone: str = "UTC"
    preceding: tuple[Event, ...] = ()
    tenant: str = "default"
    scope_id: int | None = None
    session_id: int | None = None


Fallback = Literal["budget", "failed"]


@dataclass(frozen=True, slots=True)
class ExtractionOrigin:
    """How an extraction came about, where more is to be told than its extractor's name.

    extractor, version: who made it in the end. fallback: why that was not the one who was asked, "budget" (a cap is
    reached) or "failed" (no answer of use); why: the cap's setting, or what was wrong. tokens: what was spent. dropped:
    how many candidates were not believed, by why.
    """

    extractor: str
    version: str
    tokens: int = 0
    fallback: Fallback | None = None
    why: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The answer of an extractor. No candidates means NO_REPLY. `noise` and `redactions` are counts for the ledger.

    made: None where the extractor itself made it, without a model.
    """

    candidates: tuple[Candidate, ...]
    noise: int = 0
    redactions: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)
    made: ExtractionOrigin | None = None


class Extractor(Protocol):
    """(window, context, now) → candidates, or nothing. Deterministic for the same input where it can be."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction: ...
