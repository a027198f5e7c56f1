"""What becomes of memories when another extractor has read the same events: which stay, which come, which lose their
evidence.

Must not know: where memories stand, which extractors there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from slowwave_server.domain.candidates import MemoryStatus

Key = tuple[int, str, bytes]
"""The scope, type and content hash of a statement: what the database's unique key is made of."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One event that says a statement, and what it says for it. session: its id."""

    session: int
    seq: int
    confidence: float
    importance: float
    trust: str
    holds_from: datetime


@dataclass(frozen=True, slots=True)
class ExistingMemory:
    """A memory that rests on events of the windows. keys: its words, and those that it had before a pass made one
    sentence of it and others. witnesses: of these windows alone.
    """

    id: UUID
    keys: tuple[Key, ...]
    live: bool
    witnesses: frozenset[Witness]


@dataclass(frozen=True, slots=True)
class RebuiltStatement:
    """What the other extractor says, with all the events of the windows that it names for it."""

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
    """create: statements that nobody has; rest: for each memory whose witnesses change, those that it has from now on
    (none: it loses all of these windows); same: memories that rest on the very same.
    """

    create: tuple[RebuiltStatement, ...]
    rest: Mapping[UUID, frozenset[Witness]]
    same: frozenset[UUID]


def together(statements: Iterable[RebuiltStatement]) -> tuple[RebuiltStatement, ...]:
    """The same statement of several windows is one, in the order of keys; of one event the stronger word counts."""
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
    """Plan the switch. known: memories that say a statement and rest on nothing of these windows so far."""
    # A live memory before one that was merged or rejected: what is said again is heard by it.
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
    """Of memories that go, by their events, which of those that come says it otherwise: one that shares an event."""
    left = dict(come)
    found: dict[UUID, UUID] = {}
    for memory, events in sorted(gone.items()):
        best = max(left, key=lambda other: (len(left[other] & events), str(other)), default=None)
        if best is not None and left[best] & events:
            found[memory] = best
            del left[best]
    return found


def _strongest(witnesses: Iterable[Witness]) -> frozenset[Witness]:
    """One witness an event: the highest figures, the earliest day, and who was believed first."""
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
