"""Find the memories of a scope to which a statement may relate: by shared keys, without a comparison of all memories.

Each key costs one index lookup that reads a limited number of memories, newest first, so that the cost does not grow
with the scope.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    RowMapping,
    Uuid,
    any_,
    bindparam,
    exists,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.consolidation.known import TRUSTS, MemoryRevision
from slowwave_server.domain.similarity import Reading, read
from slowwave_server.models import Memory
from slowwave_server.models.base import columns_of

PER_KEY = 24
"""The largest number of memories read for a key, newest first. A key that very many memories share says little."""
MAX_CANDIDATES = 64
NEAREST = 6
"""The number of memories with the nearest vectors that count as candidates, besides those that share keys."""

_SHARED = text(
    "SELECT s.place, s.memory_id FROM ("
    "   SELECT p.place, b.memory_id, row_number() OVER ("
    "     PARTITION BY p.place ORDER BY count(*) DESC, b.memory_id DESC) AS rank"
    "   FROM unnest(CAST(:places AS int[]), CAST(:keys AS bigint[])) AS p (place, key)"
    "   CROSS JOIN LATERAL ("
    "     SELECT k.memory_id FROM slowwave.memory_blocks k"
    "     WHERE k.scope_id = :scope AND k.key = p.key"
    "     ORDER BY k.memory_id DESC LIMIT :per_key) AS b"
    "   GROUP BY p.place, b.memory_id) AS s"
    " WHERE s.rank <= :most ORDER BY s.place, s.rank"
)
_SPACE = text("SELECT s.id, s.dimension FROM slowwave.vector_spaces s WHERE s.state = 'serving'")
# The index is of one space and one dimension, so that both are part of the statement. If an index scan finds too few
# vectors of this scope, it goes on. For a small scope, the planner reads all vectors of the scope.
_GO_ON = text("SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true)")
_NEAREST = (
    "SELECT q.memory_id, n.memory_id AS near FROM slowwave.memory_vectors q CROSS JOIN LATERAL ("
    "   SELECT v.memory_id,"
    "    CAST(v.embedding AS halfvec({dimension})) <#> CAST(q.embedding AS halfvec({dimension})) AS distance"
    "   FROM slowwave.memory_vectors v"
    "   WHERE v.space_id = {space} AND v.scope_id = :scope AND v.embedding IS NOT NULL"
    "   ORDER BY CAST(v.embedding AS halfvec({dimension})) <#> CAST(q.embedding AS halfvec({dimension}))"
    "   LIMIT :most) AS n"
    " WHERE q.space_id = {space} AND q.scope_id = :scope AND q.memory_id = ANY(:ids) AND q.embedding IS NOT NULL"
    "  AND n.memory_id <> q.memory_id ORDER BY q.memory_id, n.distance, n.memory_id"
)
_INDEX = text(
    "INSERT INTO slowwave.memory_blocks (scope_id, key, memory_id)"
    " SELECT :scope, * FROM unnest(CAST(:keys AS bigint[]), CAST(:memories AS uuid[])) ON CONFLICT DO NOTHING"
)
_COLUMNS = (
    *(column for column in columns_of(Memory, MemoryRevision) if column.key != "importance"),
    func.slowwave.learned_importance(Memory.importance, Memory.use_gain).label("importance"),
)
_MERGED = Memory.__table__.alias("merged")
_HAS_PARTS = exists().where(_MERGED.c.merged_into == Memory.id)
# One array parameter instead of one parameter per id: there may be a thousand ids.
_IDS: BindParameter[Any] = bindparam("ids", type_=ARRAY(Uuid))
_HEADS: BindParameter[Any] = bindparam("heads", type_=ARRAY(Uuid))
_OWN = text(
    "SELECT memory_id, min(holds_from) AS own_from,"
    " min(array_position(CAST(:trusts AS text[]), trust)) - 1 AS own_trust"
    " FROM ("
    "   SELECT memory_id, holds_from, trust FROM slowwave.memory_sources WHERE via IS NULL AND memory_id = ANY(:ids)"
    "   UNION ALL"
    "   SELECT memory_id, holds_from, trust FROM slowwave.memory_notes WHERE via IS NULL AND memory_id = ANY(:ids)"
    "   UNION ALL"
    "   SELECT memory_id, holds_from, trust FROM slowwave.memory_imports WHERE via IS NULL AND memory_id = ANY(:ids)"
    " ) AS own GROUP BY memory_id"
)


def load(connection: Connection, scope_id: int, ids: Iterable[UUID]) -> dict[UUID, MemoryRevision]:
    """Load these memories, archived ones too. Memories of other scopes are left out (I8)."""
    return _load(connection, scope_id, Memory.id == any_(_IDS), {"ids": list(ids)})


def load_merged(
    connection: Connection, scope_id: int, memories: Collection[MemoryRevision]
) -> dict[UUID, MemoryRevision]:
    """Load the survivors of these memories, and every memory that was merged into one of these or into a survivor."""
    heads = {memory.merged_into or memory.id for memory in memories}
    unseen = heads - {memory.id for memory in memories}
    condition = or_(Memory.id == any_(_IDS), Memory.merged_into == any_(_HEADS))
    return _load(connection, scope_id, condition, {"ids": list(unseen), "heads": list(heads)})


def index_blocks(connection: Connection, scope_id: int, memories: Iterable[MemoryRevision]) -> None:
    """Write the keys by which lookups find these memories. Writing them again changes nothing."""
    # Use a fixed order, so that two passes that write the same keys never deadlock.
    pairs = sorted((key, memory.id) for memory in memories for key in block_keys(read(memory.content)))
    if pairs:
        keys, ids = zip(*pairs, strict=True)
        connection.execute(_INDEX, {"scope": scope_id, "keys": list(keys), "memories": list(ids)})


def candidates(
    connection: Connection,
    scope_id: int,
    readings: Sequence[Reading],
    *,
    limit: int = MAX_CANDIDATES,
    loaded: Mapping[UUID, MemoryRevision] = MappingProxyType({}),
) -> list[list[MemoryRevision]]:
    """Return for each reading at most `limit` memories that share keys with it, those with most shared keys first.

    The result contains live and merged memories, but no other archived ones. It may contain the memory itself, because
    its text is equal: the caller must exclude it. loaded: memories that the caller has loaded in this transaction.
    """
    places, keys = [], []
    for place, reading in enumerate(readings):
        for key in block_keys(reading):
            places.append(place)
            keys.append(key)
    if not keys:
        return [[] for _ in readings]
    bounds = {"scope": scope_id, "per_key": PER_KEY, "most": limit}
    chosen: list[list[UUID]] = [[] for _ in readings]
    for place, memory in connection.execute(_SHARED, {"places": places, "keys": keys, **bounds}):
        chosen[place].append(memory)
    known = {memory: loaded[memory] for ids in chosen for memory in ids if memory in loaded}
    if unseen := {memory for ids in chosen for memory in ids} - known.keys():
        known |= load(connection, scope_id, unseen)
    return [[known[memory] for memory in ids if memory in known and _counts(known[memory])] for ids in chosen]


def nearest(connection: Connection, scope_id: int, ids: Sequence[UUID]) -> dict[UUID, list[MemoryRevision]]:
    """Return for each memory with a vector the NEAREST memories of its scope by their vectors, the nearest first.

    Like `candidates`, the result contains no archived memories but merged ones.
    """
    space = connection.execute(_SPACE).first()
    if space is None:
        return {}
    chosen: dict[UUID, list[UUID]] = {}
    connection.execute(_GO_ON)
    statement = text(_NEAREST.format(space=space.id, dimension=space.dimension))
    # The nearest vector is the memory's own.
    values = {"scope": scope_id, "ids": list(ids), "most": NEAREST + 1}
    for row in connection.execute(statement, values):
        chosen.setdefault(row.memory_id, []).append(row.near)
    known = load(connection, scope_id, {near for of in chosen.values() for near in of}) if chosen else {}
    return {one: [known[near] for near in of if near in known and _counts(known[near])] for one, of in chosen.items()}


def _counts(memory: MemoryRevision) -> bool:
    return memory.status != "archived" or memory.merged_into is not None


def _load(
    connection: Connection, scope_id: int, condition: ColumnElement[bool], parameters: Mapping[str, object]
) -> dict[UUID, MemoryRevision]:
    query = select(*_COLUMNS, _HAS_PARTS.label("has_parts")).where(Memory.scope_id == scope_id, condition)
    rows = connection.execute(query, parameters).mappings().all()
    # Few memories have merged parts. Other memories have only sources of their own.
    survivors = [row["id"] for row in rows if row["has_parts"]]
    own: dict[UUID, Row[*tuple[Any, ...]]] = {}
    if survivors:
        found = connection.execute(_OWN, {"ids": survivors, "trusts": list(TRUSTS)})
        own = {row.memory_id: row for row in found}
    return {row["id"]: _known(row, own.get(row["id"])) for row in rows}


def _known(row: RowMapping, own: "Row[*tuple[Any, ...]] | None") -> MemoryRevision:
    fields = {name: value for name, value in row.items() if name != "has_parts"}
    fields["entities"] = tuple(fields["entities"])
    fields["own_from"] = row["valid_from"] if own is None else own.own_from
    fields["own_trust"] = row["trust"] if own is None else TRUSTS[own.own_trust]
    return MemoryRevision(**fields)
