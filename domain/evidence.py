"""Score a memory of a past state from its evidence, by the same rule as the database's `score_memory`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import prod

from slowwave_server.domain.consolidation.known import TRUSTS

SURELY = 1e-12
DIGITS = 6


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One event, note or line of a file that says a memory.

    key: the identity of the source, so that a repeated delivery counts once; witness: the session or other origin of
    the source. confidence, importance: numbers from 0 to 1; holds_from: an aware time. event: (session id, seq) if the
    source is an event. part: the id of the merged memory that brought the source; None if the source says the memory
    itself. last_from: the latest time from which the memory is true by this source, if it differs from the first.
    """

    key: tuple[object, ...]
    witness: str
    confidence: float
    importance: float
    trust: str
    holds_from: datetime
    event: tuple[int, int] | None = None
    part: int | None = None
    last_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """The resulting scores of a memory. confidence, importance: numbers from 0 to 1."""

    confidence: float
    importance: float
    trust: str
    valid_from: datetime
    reaffirmed_at: datetime


def gathered(own: Iterable[EvidenceItem], parts: Iterable[Iterable[EvidenceItem]]) -> list[EvidenceItem]:
    """Return the evidence of a memory and of those merged into it, each event once. The memory's own wording wins."""
    found: dict[tuple[object, ...], EvidenceItem] = {}
    for said in (*own, *(replace(said, part=place) for place, part in enumerate(parts) for said in part)):
        found.setdefault(said.key, said)
    return list(found.values())


def weighed(evidence: Sequence[EvidenceItem]) -> Weighed | None:
    """Weigh the evidence; None without evidence. A session that says the memory five times counts as one witness."""
    if not evidence:
        return None
    witnesses: dict[str, float] = {}
    for said in evidence:
        witnesses[said.witness] = max(said.confidence, witnesses.get(said.witness, 0.0))
    best, *others = sorted(witnesses.values(), reverse=True)
    doubt = max(1 - best, SURELY) * prod(max(1 - other / 2, SURELY) for other in others)
    return Weighed(
        confidence=round(1 - doubt, DIGITS),
        importance=max(said.importance for said in evidence),
        trust=_trust(evidence),
        valid_from=min(said.holds_from for said in evidence),
        reaffirmed_at=max(said.last_from or said.holds_from for said in evidence),
    )


def _trust(evidence: Sequence[EvidenceItem]) -> str:
    """Return the trust of the best witness to the memory's own words, or else the lowest trust."""
    own = [TRUSTS.index(said.trust) for said in evidence if said.part is None]
    return TRUSTS[min(own)] if own else max((said.trust for said in evidence), key=TRUSTS.index)
