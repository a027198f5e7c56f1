"""Plan a rebuild with another extractor: which memories stay, are added, or lose their evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from slowwave.memory_types import MemoryStatus

Key = tuple[int, str, bytes]
"""The scope, type and content hash of a statement: the fields of the database's unique key."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One event that says a statement, with its scores for the statement. session: the id of its session."""

    session: int
    seq: int
    confidence: float
    importance: float
    trust: str
    holds_from: datetime


@dataclass(frozen=True, slots=True)
class ExistingMemory:
    """A memory with evidence in the windows.

    keys: hashes of its text, and of the texts that it had before a pass merged it with other memories into one
    sentence.
    witnesses: only the witnesses in these windows.
    """

    id: UUID
    keys: tuple[Key, ...]
    live: bool
    witnesses: frozenset[Witness]


@dataclass(frozen=True, slots=True)
class RebuiltStatement:
    """A statement of the other extractor, with all events of the windows that it cites."""

    key: Key
    content: str
    status: MemoryStatus
    confidence: float
    importance: float
    trust: str
    entities: tuple[str, ...]
    reason: str
    witnesses: frozenset[Witness]

    @property
    def valid_from(self) -> datetime:
        return min(witness.holds_from for witness in self.witnesses)


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan. create: statements without a memory; rest: for each memory whose witnesses change, its new witnesses
    (empty: the memory loses all witnesses of these windows); same: memories with unchanged witnesses.
    """

    create: tuple[RebuiltStatement, ...]
    rest: Mapping[UUID, frozenset[Witness]]
    same: frozenset[UUID]


def together(statements: Iterable[RebuiltStatement]) -> tuple[RebuiltStatement, ...]:
    """Join equal statements of several windows, in the order of keys. Of two scores of an event the higher counts."""
    found: dict[Key, RebuiltStatement] = {}
    for one in statements:
        known = found.get(one.key)
        if known is None:
            found[one.key] = one
            continue
        found[one.key] = replace(
            known,
            confidence=max(known.confidence, one.confidence),
            importance=max(known.importance, one.importance),
            entities=tuple(dict.fromkeys((*known.entities, *one.entities))),
            witnesses=_strongest((*known.witnesses, *one.witnesses)),
        )
    return tuple(found[key] for key in sorted(found))


def compare(
    standing: Sequence[ExistingMemory], statements: Sequence[RebuiltStatement], known: Mapping[Key, UUID]
) -> Plan:
    """Plan the switch. known: memories that say a statement and have no evidence in these windows yet."""
    # A live memory comes before a merged or rejected one, because it receives the new evidence.
    by_key = {key: one.id for one in sorted(standing, key=lambda one: one.live) for key in one.keys}
    heard: dict[UUID, list[Witness]] = {}
    create: list[RebuiltStatement] = []
    for statement in statements:
        memory = by_key.get(statement.key) or known.get(statement.key)
        if memory is None:
            create.append(statement)
        else:
            heard.setdefault(memory, []).extend(statement.witnesses)
    rest = {memory: _strongest(witnesses) for memory, witnesses in heard.items()}
    same = frozenset(one.id for one in standing if rest.get(one.id) == one.witnesses)
    rest |= {one.id: frozenset() for one in standing if one.id not in rest}
    return Plan(tuple(create), {memory: rest[memory] for memory in rest if memory not in same}, same)


def pairs(
    gone: Mapping[UUID, frozenset[tuple[int, int]]], come: Mapping[UUID, frozenset[tuple[int, int]]]
) -> dict[UUID, UUID]:
    """Map each removed memory to a new memory that says the same event in other words."""
    left = dict(come)
    found: dict[UUID, UUID] = {}
    for memory, events in sorted(gone.items()):
        best = max(left, key=lambda other: (len(left[other] & events), str(other)), default=None)
        if best is not None and left[best] & events:
            found[memory] = best
            del left[best]
    return found


def _strongest(witnesses: Iterable[Witness]) -> frozenset[Witness]:
    """Return one witness per event: with the highest scores, the earliest day, and the trust that sorts first."""
    found: dict[tuple[int, int], Witness] = {}
    for one in sorted(witnesses, key=lambda witness: (witness.session, witness.seq, witness.trust)):
        event = (one.session, one.seq)
        known = found.get(event, one)
        found[event] = replace(
            known,
            confidence=max(known.confidence, one.confidence),
            importance=max(known.importance, one.importance),
            holds_from=min(known.holds_from, one.holds_from),
        )
    return frozenset(found.values())
