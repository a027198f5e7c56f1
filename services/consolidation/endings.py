"""End memories because of a later statement: find them in the scope, end them in a run, reopen them if the end is
wrong.

    a flush stored an ending  ─▶ end the memories that it ends, at once, in a separate run
    a pass checks a memory    ─▶ end the memories that it ends, and end it if another memory does, in any arrival order
    (I9)
    a rebuild was switched    ─▶ the same as a pass, for the new memories

An ending that a person undid stays undone.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import Connection, TextClause, text

from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.consolidation.values import Ended
from slowwave_server.domain.endings.targets import (
    CALLED_OFF,
    CORRECTED,
    OUTCOMES,
    Sourced,
    ends,
    may_be_ended,
    may_end,
)
from slowwave_server.domain.endings.wording import ending_of
from slowwave_server.domain.endings.words import naming
from slowwave_server.domain.endings.work import work_of
from slowwave_server.domain.review import ends_at
from slowwave_server.services.consolidation.effects import ENDED, Effects
from slowwave_server.services.consolidation.neighbours import load

MOST = 400
"""The largest number of memories of a type that are checked against one ending, the newest first."""

Pin = Callable[[Iterable[UUID]], None]
Pinned = Callable[[UUID, UUID], bool]

_LIVE = "m.scope_id = :scope AND m.type = ANY(:types) AND m.status IN ('inbox', 'episode', 'active')"
_OF_TYPE = text(f"SELECT m.id FROM slowwave.memories m WHERE {_LIVE} ORDER BY m.valid_from DESC, m.id LIMIT :most")
_OPEN_OF_TYPE = text(
    f"SELECT m.id FROM slowwave.memories m WHERE {_LIVE} AND (m.valid_to IS NULL OR m.superseded_by = ANY(:by))"
    " ORDER BY m.valid_from DESC, m.id LIMIT :most"
)
# Every lexeme of an index entry carries its scope.
_WITH_WORDS = text(
    f"SELECT m.id FROM slowwave.memories m WHERE {_LIVE} AND m.search @@ CAST(("
    "  SELECT string_agg('''' || CAST(:scope AS text) || ':'"
    "   || replace(replace(l.lexeme, '\\', '\\\\'), '''', '''''') || '''', ' & ')"
    "  FROM unnest(to_tsvector('pg_catalog.english', :words)) AS l) AS tsquery)"
    " ORDER BY m.valid_from DESC, m.id LIMIT :most"
)
# The expression must equal that of the index memories_endings_idx.
_TOLD = "m.content ~ '^[^:]{1,80} (called off|lifted an instruction|corrected): '"
_ENDINGS = text(
    f"SELECT m.id FROM slowwave.memories m WHERE {_LIVE} AND {_TOLD} ORDER BY m.valid_from DESC, m.id LIMIT :most"
)
_HOLDS = "SELECT slowwave.holds_memories(%s, %s, %s)"
_EVENTS = text("SELECT x.memory_id, x.session_id, x.seq FROM slowwave.memory_sources x WHERE x.memory_id = ANY(:ids)")
_ENDED_HERE = text(
    "SELECT EXISTS (SELECT FROM slowwave.memory_changes c WHERE c.memory_id = :id AND c.action = 'superseded'"
    " AND c.reason LIKE :ended AND c.after ->> 'superseded_by' = :by)"
)
# Memories whose last change of valid_to was an expiry.
_EXPIRED = text(
    "SELECT DISTINCT ON (c.memory_id) CASE WHEN c.action = 'expired' THEN c.memory_id END"
    " FROM slowwave.memory_changes c WHERE c.memory_id = ANY(:ids) AND c.after ? 'valid_to'"
    " ORDER BY c.memory_id, c.id DESC"
)


class Endings:
    """Ends and reopens memories of one scope in one transaction.

    pin, pinned: load, and check, decisions about a pair of memories that no pass may change.
    """

    def __init__(self, connection: Connection, scope_id: int, pin: Pin, pinned: Pinned) -> None:
        self._connection = connection
        self._scope_id = scope_id
        self._pin = pin
        self._pinned = pinned
        self._known: dict[UUID, MemoryRevision] = {}
        self._newer: list[UUID] = []
        self._tasks: list[UUID] | None = None

    def plan(self, memories: Sequence[MemoryRevision]) -> list[Ended]:
        """Plan which memories these end, and which memories end these, in the order of event time."""
        self._known.clear()
        newer = {memory.id: memory for memory in memories if memory.live and may_end(memory.content, memory.type)}
        newer |= {memory.id: memory for memory in self._enders(memories)}
        self._newer, self._tasks = list(newer), None
        planned: dict[UUID, Ended] = {}
        for memory in sorted(newer.values(), key=lambda one: (one.reaffirmed_at, one.content_hash)):
            for ended in self._ended_by(memory, planned):
                planned[ended.older.id] = ended
        return list(planned.values())

    def _ended_by(self, memory: MemoryRevision, planned: Collection[UUID]) -> list[Ended]:
        pool = [one for one in self._pool(memory) if one.id not in planned and _holds_until(one, memory)]
        if not pool:
            return []
        self._pin([memory.id, *(one.id for one in pool)])
        newer, *older = self._sourced([memory, *pool])
        found = {one.older.id: one for one in ends(newer, older) if not self._pinned(memory.id, one.older.id)}
        new = [
            Ended(one.older, memory, ends_at(one.older, memory), f"{ENDED}{one.reason}")
            for one in found.values()
            if one.older.superseded_by != memory.id
        ]
        again = [Ended(one) for one in pool if one.superseded_by == memory.id and one.id not in found]
        return [*new, *(one for one in again if self._ended_here(one.older))]

    def _pool(self, memory: MemoryRevision) -> list[MemoryRevision]:
        """Return the memories that `memory` may end, and the memories that it has ended."""
        ending = ending_of(memory.content)
        if ending is not None and ending.act == "called_off":
            ids = self._with_words(naming(ending.what), CALLED_OFF)
        elif ending is not None and ending.act == "corrected":
            ids = self._with_words(ending.what, CORRECTED)
        elif ending is not None or memory.type == "instruction":
            ids = self._ids(_OF_TYPE, ["instruction"])
        else:
            tasks = self._load(self._open_tasks(memory), besides=memory.id)
            return [one for one in tasks if one.valid_to is None or one.superseded_by == memory.id]
        return self._load(ids, besides=memory.id)

    def _open_tasks(self, memory: MemoryRevision) -> list[UUID]:
        """Return the tasks that are open or that `memory` ended. One query serves all, unless there are too many."""
        if self._tasks is None:
            self._tasks = self._ids(_OPEN_OF_TYPE, ["task"], by=self._newer)
        return self._tasks if len(self._tasks) < MOST else self._ids(_OPEN_OF_TYPE, ["task"], by=[memory.id])

    def _enders(self, memories: Sequence[MemoryRevision]) -> list[MemoryRevision]:
        """Return the memories that may end one of `memories`."""
        older = [memory for memory in memories if memory.live and may_be_ended(memory.content, memory.type)]
        if not older:
            return []
        ids = self._ids(_ENDINGS, ["decision", "fact"])
        if any(memory.type == "instruction" for memory in older):
            ids += self._ids(_OF_TYPE, ["instruction"])
        for memory in older:
            work = work_of(memory.content) if memory.type == "task" else None
            if work is not None and work.object:
                ids += self._with_words(work.words, OUTCOMES)
        # This includes memories that ended one of `memories` before it was said again.
        ended_by = {memory.superseded_by for memory in older if memory.superseded_by is not None}
        oldest = min(memory.reaffirmed_at for memory in older)
        known = self._load({*ids, *ended_by}) if ids or ended_by else []
        return [
            one
            for one in known
            if (one.reaffirmed_at >= oldest or one.id in ended_by) and may_end(one.content, one.type)
        ]

    def _ended_here(self, older: MemoryRevision) -> bool:
        """Return True if words like "scrap that" ended the memory, and not another value or a decision of a model."""
        values = {"id": older.id, "ended": f"{ENDED}%", "by": str(older.superseded_by)}
        return bool(self._connection.execute(_ENDED_HERE, values).scalar())

    def _ids(self, query: TextClause, types: Iterable[str], **more: object) -> list[UUID]:
        values = {"scope": self._scope_id, "types": sorted(types), "most": MOST, **more}
        return list(self._connection.execute(query, values).scalars())

    def _with_words(self, words: str, types: Iterable[str]) -> list[UUID]:
        return self._ids(_WITH_WORDS, types, words=words) if words else []

    def _load(self, ids: Iterable[UUID], besides: UUID | None = None) -> list[MemoryRevision]:
        wanted = set(ids) - {besides}
        if unseen := wanted - self._known.keys():
            self._known |= load(self._connection, self._scope_id, unseen)
        known = (self._known[one] for one in wanted if one in self._known)
        return sorted((one for one in known if one.live), key=lambda one: one.order)

    def _sourced(self, memories: Sequence[MemoryRevision]) -> list[Sourced]:
        events: dict[UUID, set[tuple[int, int]]] = {memory.id: set() for memory in memories}
        for row in self._connection.execute(_EVENTS, {"ids": list(events)}):
            events[row.memory_id].add((row.session_id, row.seq))
        return [Sourced(memory, frozenset(events[memory.id])) for memory in memories]


def _holds_until(one: MemoryRevision, memory: MemoryRevision) -> bool:
    """Return True if a memory was still valid when the other was said, or if the other ended it."""
    return one.superseded_by == memory.id or one.valid_to is None or one.valid_to > memory.reaffirmed_at


def holds_any(connection: psycopg.Connection[Any], scope_id: int, types: Iterable[str], *, besides: int) -> bool:
    """Return True if a scope has a live memory of these types or one that states an ending, outside flush `besides`."""
    (found,) = connection.execute(_HOLDS, (scope_id, sorted(types), besides), prepare=True).fetchone() or (False,)
    return bool(found)


def settle_endings(effects: Effects, endings: Endings, memories: Sequence[MemoryRevision]) -> bool:
    """End the memories that these end, and end these if other memories do. Return True if anything changed."""
    planned = endings.plan(memories)
    effects.take_back(planned)
    return bool(planned)


def expired(connection: Connection, memories: Sequence[MemoryRevision]) -> list[MemoryRevision]:
    """Return open work that ended only by age. It becomes valid again if it is said again."""
    ended = [
        one.id for one in memories if one.type == "task" and one.valid_to is not None and one.superseded_by is None
    ]
    found = set(connection.execute(_EXPIRED, {"ids": ended}).scalars()) if ended else set()
    return [one for one in memories if one.id in found]
