"""Decide which value of one attribute of one subject is valid at which time, and which statement ended which."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from slowwave_server.domain.consolidation.known import TRUSTS, MemoryRevision
from slowwave_server.domain.review import ends_at
from slowwave_server.domain.similarity import AttributeClaim, excludes, read

Pinned = Callable[[UUID, UUID], bool]


@dataclass(frozen=True, slots=True)
class Valued:
    """A memory that states exactly one value of one single-valued attribute."""

    memory: MemoryRevision
    claim: AttributeClaim


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a statement: `older` is valid until `valid_to`, when `newer` stated another value. newer: None if
    `older` stays valid.
    """

    older: MemoryRevision
    newer: MemoryRevision | None = None
    valid_to: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Two values of one attribute between which no rule can decide."""

    newer: MemoryRevision
    older: MemoryRevision
    reason: str


def valued(memory: MemoryRevision) -> Valued | None:
    """Return the memory as a value if it states nothing else, so that its end loses no other fact."""
    claims = read(memory.content).claims
    return Valued(memory, claims[0]) if len(claims) == 1 and claims[0].single else None


def settle_values(group: Sequence[Valued], pinned: Pinned, now: datetime) -> tuple[list[Ended], list[Unclear]]:
    """Decide the statements of one attribute: each ends when the next statement with another value begins.

    A value that becomes valid after `now` ends no other value yet; the first deep pass after this time decides.

    The next statement is the one with the next reaffirmation time; the order of arrival does not matter (I9). A
    statement ends no other one if its witness is less trusted or if both have the same time. The function skips
    `pinned` pairs (a person decided, or a run was undone). It returns one Ended per statement, and the unclear pairs.
    """
    ended: list[Ended] = []
    unclear: list[Unclear] = []
    for one in group:
        older = one.memory
        others = [
            other for other in group if excludes(one.claim, other.claim) and not pinned(older.id, other.memory.id)
        ]
        begun = [other.memory for other in others if ends_at(older, other.memory) <= now]
        later = [memory for memory in begun if memory.reaffirmed_at > older.reaffirmed_at]
        worthy = [memory for memory in later if _rank(memory) <= _rank(older)]
        newer = min(worthy, key=lambda memory: (memory.reaffirmed_at, memory.content_hash), default=None)
        ended.append(_ended(older, newer, one.claim))
        if newer is None:
            rivals = [memory for memory in later if _rank(memory) > _rank(older)]
            same = [other.memory for other in others if other.memory.reaffirmed_at == older.reaffirmed_at]
            unclear += [
                Unclear(memory, older, f"a less trusted witness says another {one.claim.attribute}")
                for memory in rivals
            ]
            unclear += [
                Unclear(memory, older, f"two values of {one.claim.attribute} at the same time")
                for memory in same
                if memory.order > older.order
            ]
    return ended, unclear


def _ended(older: MemoryRevision, newer: MemoryRevision | None, claim: AttributeClaim) -> Ended:
    if newer is None:
        return Ended(older)
    reason = f"said later: another value of {claim.attribute} of {claim.subject_text}"
    return Ended(older, newer, ends_at(older, newer), reason)


def _rank(memory: MemoryRevision) -> int:
    return TRUSTS.index(memory.trust)
