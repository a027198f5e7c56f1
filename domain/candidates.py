"""The input and output of an extractor: a window of events, and the statements that may become memories."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from slowwave.memory_types import MemoryStatus, MemoryType
from slowwave_server.domain.events import Event

Trust = Literal["user", "assistant", "task"]


def first_status(kind: str) -> MemoryStatus:
    """Return the initial status of a memory of this type: "episode" for a dated event, else "inbox"."""
    return "episode" if kind == "event" else "inbox"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement that is worth keeping.

    content: a sentence that is complete by itself, with its speaker named and secrets redacted. importance, confidence:
    numbers from 0 to 1, derived from the named `signals`.
    valid_from: the time at which the statement began to be true, by event time (never by arrival).
    sources: the `seq` numbers of its source events in the window, ascending, at least one.
    repeats: the id of a memory of the scope with the same meaning; this memory gets the sources, and no new memory is
    made.
    corrects: the id of a memory of the scope that this candidate ends.
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
    """The data that an extractor may read besides the window. The context is never evidence.

    agent: the agent's name; time_zone: its IANA zone, for relative dates; preceding: the last few events before the
    window, oldest first (for example a question that the window answers). tenant, scope_id: the scope that stores the
    new memories, and the only scope whose memories the extractor may read; None without a scope. session_id: the
    window's session.
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
    """How an extraction was made, if the extractor's name alone does not tell.

    extractor, version: name and version of the extractor that made it. fallback: the reason why the requested extractor
    did not make it, "budget" (a cap is reached) or "failed" (no usable answer); why: the setting of the cap, or the
    defect of the answer. tokens: the number of tokens spent. dropped: the number of rejected candidates by reason.
    """

    extractor: str
    version: str
    tokens: int = 0
    fallback: Fallback | None = None
    why: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of an extractor. Without candidates it means NO_REPLY. noise, redactions: counts for the ledger.

    made: how it was made; None if the requested extractor made it without a model.
    """

    candidates: tuple[Candidate, ...]
    noise: int = 0
    redactions: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)
    made: ExtractionOrigin | None = None


class Extractor(Protocol):
    """Turns (window, context, now) into candidates, possibly none. Equal input should give equal output."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction: ...
