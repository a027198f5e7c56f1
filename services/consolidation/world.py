"""The data of one batch of a pass: memories, the comparisons of pairs, and decisions that no pass may change."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.consolidation.groups import connected
from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.similarity import Judgement, MeaningOf, Thresholds, changes, judge, read
from slowwave_server.services.consolidation.neighbours import candidates, load, load_merged, nearest
from slowwave_server.services.consolidation.synthesis import REASON

MAX_COMPONENT = 64
"""The largest number of connected memories that a pass groups. For a larger number it asks a person."""

MOST_READ = 6
"""The largest number of neighbours that the semantic model compares with a memory (6 ms each), best matches first."""

ONE = frozenset({"duplicate", "merge"})
RESTORED = (
    "EXISTS (SELECT FROM slowwave.memory_changes t"
    " WHERE t.memory_id = m.id AND t.action = 'undone' AND t.made_at = m.checked_at)"
)
"""SQL condition: an undo restored memory `m`; since then no pass has checked it and it was not said again.

An undo stores its own time as the time of the last check.
"""
NOT_AGAIN = (
    "r.status = 'undone' AND (EXISTS (SELECT FROM slowwave.maintenance_runs u WHERE u.id = r.undone_by AND u.no_repeat)"
    f" OR NOT :again AND {RESTORED})"
)
"""SQL condition: run `r` was undone, and a pass may not repeat its decision about memory `m`.

If a person forbade a repeat, no pass may repeat it. Otherwise deep passes (:again) may, and light passes may as soon as
the memory was said again.
"""
_UNDONE = "FROM slowwave.memory_changes c JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
_UNDONE += " JOIN slowwave.memories m ON m.id = c.memory_id"
# A person's decision stays, and a pass does not repeat an undone decision before NOT_AGAIN permits it.
_PINNED = text(
    "SELECT DISTINCT c.memory_id AS a,"
    " coalesce(c.after ->> 'merged_into', c.after ->> 'superseded_by', c.after ->> 'with') AS b"
    f" {_UNDONE} WHERE c.memory_id = ANY(:ids) AND c.action IN ('merged', 'superseded', 'conflict') AND {NOT_AGAIN}"
    " UNION"
    " SELECT k.memory_id, k.conflicting_memory_id::text"
    " FROM slowwave.memory_conflicts k"
    " JOIN slowwave.memory_changes c ON c.memory_id IN (k.memory_id, k.conflicting_memory_id)"
    "  AND c.action = 'decided' AND c.after ->> 'conflict' = k.id::text"
    " JOIN slowwave.maintenance_runs r ON r.id = c.run_id AND r.kind = 'review' AND r.status <> 'undone'"
    " WHERE k.scope_id = :scope AND (k.memory_id = ANY(:ids) OR k.conflicting_memory_id = ANY(:ids))"
    "  AND k.status <> 'open'"
)
# Memories that a model merged stay merged, though its new sentence may be less similar to the old texts. If an
# unmerge of a pass was undone, the pair also stays merged until a pass may decide about it again.
_JOINED = text(
    "SELECT DISTINCT c.memory_id AS a, c.after ->> 'merged_into' AS b"
    " FROM slowwave.memory_changes c JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    " WHERE c.memory_id = ANY(:ids) AND c.action = 'merged' AND c.reason LIKE :reason AND r.status <> 'undone'"
    " UNION"
    f" SELECT c.memory_id, c.before ->> 'merged_into' {_UNDONE}"
    f" WHERE c.memory_id = ANY(:ids) AND c.action = 'unmerged' AND {NOT_AGAIN}"
)
# A person's merge stays. The last merge of a part shows whether a person or a pass made it.
_BY_HAND = text(
    "SELECT DISTINCT ON (c.memory_id) CASE WHEN r.kind = 'review' THEN c.memory_id END"
    " FROM slowwave.memory_changes c JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    " WHERE c.memory_id = ANY(:ids) AND c.action = 'merged' AND r.status <> 'undone'"
    " ORDER BY c.memory_id, c.id DESC"
)


class World:
    """The memories of one batch and their neighbours, all of one scope. Loading more memories keeps all judgements.

    again: True if a pass may repeat a decision that was undone, even if the memory was not said again. meaning: a model
    that judges pairs of near memories.
    """

    def __init__(
        self,
        connection: Connection,
        scope_id: int,
        thresholds: Thresholds,
        *,
        again: bool = False,
        meaning: MeaningOf | None = None,
    ) -> None:
        self._connection = connection
        self._scope_id = scope_id
        self._again = again
        self._thresholds = thresholds
        self._meaning = meaning
        self._nearest: set[tuple[UUID, UUID]] = set()
        self.known: dict[UUID, MemoryRevision] = {}
        self.near: dict[UUID, list[UUID]] = {}
        self._judged: dict[tuple[UUID, UUID], Judgement] = {}
        self._changing: dict[tuple[str, str, bool], bool] = {}
        self._pinned: set[frozenset[UUID]] = set()
        self._joined: set[frozenset[UUID]] = set()
        self._by_hand: set[UUID] = set()
        self._read: set[UUID] = set()
        self._completed: set[UUID] = set()

    def look(self, memories: Sequence[MemoryRevision]) -> None:
        """Find the neighbours of these memories, and all memories that were merged with these or with a neighbour."""
        self.known |= {memory.id: memory for memory in memories}
        readings = [read(memory.content) for memory in memories]
        found = candidates(self._connection, self._scope_id, readings, loaded=self.known)
        by_vectors = nearest(self._connection, self._scope_id, [memory.id for memory in memories])
        for at, memory in enumerate(memories):
            close = by_vectors.get(memory.id, [])
            # The model reads the first ones: half of them by vectors, if there are any.
            others = found[at] = [*close[: MOST_READ // 2], *found[at], *close]
            near = self.near[memory.id] = list(dict.fromkeys(other.id for other in others if other.id != memory.id))
            self._nearest |= {_ordered(memory.id, other) for other in near[:MOST_READ]}
            self.known |= {other.id: other for other in others}
        beside = chain(memories, chain.from_iterable(found))
        self._complete(memory for memory in beside if memory.id not in self._completed)

    def reload(self, changed: Iterable[UUID]) -> None:
        """Read these memories again, and every memory that is merged with one of these."""
        self._complete(load(self._connection, self._scope_id, changed).values())

    def judged(self, a: UUID, b: UUID) -> Judgement:
        """Compare two memories. The order of the two does not matter, and each pair is computed once."""
        pair = _ordered(a, b)
        judged = self._judged.get(pair)
        if judged is None:
            one, other = self.known[pair[0]], self.known[pair[1]]
            judged = self._judged[pair] = judge(
                read(one.content),
                read(other.content),
                thresholds=self._thresholds,
                same_type=one.type == other.type,
                seconds_apart=abs((one.own_from - other.own_from).total_seconds()),
                meaning=self.meaning_of(*pair),
            )
        return judged

    def meaning_of(self, a: UUID, b: UUID) -> MeaningOf | None:
        """Return the model of pairs, if it may be asked about these two: only about the nearest neighbours."""
        return self._meaning if self._meaning and _ordered(a, b) in self._nearest else None

    def changes(self, newer: MemoryRevision, older: MemoryRevision) -> bool:
        """Return True if the words of `newer` change `older`. Each pair of statements is compared once.

        The model is also asked about a pair of distant neighbours if the rules find a change.
        """
        meaning = self.meaning_of(newer.id, older.id)
        pair = (newer.content, older.content, meaning is None)
        changing = self._changing.get(pair)
        if changing is None:
            changing = self._changing[pair] = self._are_changed(*pair[:2], meaning)
        return changing

    def _are_changed(self, newer: str, older: str, meaning: MeaningOf | None) -> bool:
        after, before = read(newer), read(older)
        return changes(after, before, meaning) and (meaning is self._meaning or changes(after, before, self._meaning))

    def mergeable(self, a: MemoryRevision, b: MemoryRevision) -> bool:
        if self._joined and frozenset((a.id, b.id)) in self._joined:
            return True
        return not self.pinned(a.id, b.id) and self.judged(a.id, b.id).verdict in ONE

    def groupable(self, memory: MemoryRevision) -> bool:
        """Return True if a pass may decide into which group this memory is merged. It may not if a person decided."""
        return memory.groupable and not (memory.merged_into is not None and memory.id in self._by_hand)

    def pinned(self, a: UUID, b: UUID) -> bool:
        """Return True if passes may not decide about this pair: a person did, or an undo restored it."""
        return bool(self._pinned) and frozenset((a, b)) in self._pinned

    def pin(self, ids: Iterable[UUID]) -> None:
        """Read the decisions about these memories. One read is enough, because a batch makes no such decisions."""
        fresh = set(ids) - self._read
        if not fresh:
            return
        self._read |= fresh
        parameters = {"ids": list(fresh), "scope": self._scope_id, "reason": f"{REASON}%", "again": self._again}
        rows = self._connection.execute(_PINNED, parameters).all()
        self._pinned |= {frozenset((row.a, UUID(row.b))) for row in rows if row.b is not None}
        rows = self._connection.execute(_JOINED, parameters).all()
        self._joined |= {frozenset((row.a, UUID(row.b))) for row in rows if row.b is not None}
        self._by_hand |= {memory for memory in self._connection.execute(_BY_HAND, parameters).scalars() if memory}

    def head(self, memory: UUID) -> UUID:
        """Return the memory that readers see in place of this one: the one into which it was merged, or itself."""
        return self.known[memory].merged_into or memory

    def live_near(self, memory: UUID) -> list[MemoryRevision]:
        """Return the live memories that readers see in place of this one's neighbours, each once, without itself."""
        heads: dict[int, MemoryRevision] = {}
        for other in self.near.get(memory, ()):
            one = self.known.get(other)
            if one is not None and one.merged_into is not None:
                one = self.known.get(one.merged_into)
            if one is not None and one.live and one.id != memory:
                heads.setdefault(one.id.int, one)
        return list(heads.values())

    def components(self, batch: Sequence[MemoryRevision]) -> list[list[MemoryRevision]]:
        """Return the memories connected with the batch by similarity or by an earlier merge, as connected components.

        Each component is complete, or larger than MAX_COMPONENT.
        """
        start = [memory.id for memory in batch]
        alike: dict[UUID, list[tuple[UUID, UUID]]] = {}
        while True:
            alike |= {memory: self._alike(memory) for memory in self.near.keys() - alike.keys()}
            found = connected(start, [*chain.from_iterable(alike.values()), *self._merged()])
            outside = {memory for component in found for memory in component if memory not in self.near}
            small = {m for component in found if len(component) <= MAX_COMPONENT for m in component}
            wanted = [self.known[memory] for memory in outside & small]
            if not wanted:
                return [[self.known[memory] for memory in component] for component in found]
            self.look(wanted)

    def _alike(self, memory: UUID) -> list[tuple[UUID, UUID]]:
        if not self.groupable(self.known[memory]):
            return []
        others = (other for other in self.near[memory] if self.groupable(self.known[other]))
        return [(memory, other) for other in others if self.judged(memory, other).verdict in ONE]

    def _merged(self) -> Iterator[tuple[UUID, UUID]]:
        for memory in self.known.values():
            if memory.merged_into is not None and memory.merged_into in self.known:
                yield memory.id, memory.merged_into

    def _complete(self, memories: Iterable[MemoryRevision]) -> None:
        found = {memory.id: memory for memory in memories}
        self._completed |= found.keys()
        found |= load_merged(self._connection, self._scope_id, found.values())
        self.known |= found
        self.pin(found)


def _ordered(a: UUID, b: UUID) -> tuple[UUID, UUID]:
    return (a, b) if a < b else (b, a)
