"""End statements that a later statement says have changed: another job, a raised price, a cancelled club.

The result does not depend on the order of arrival (I9): if several later statements change a statement, the earliest of
them ends it. A less trusted witness ends nothing.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.consolidation.known import OF_AGENTS, TRUSTS, MemoryRevision
from slowwave_server.domain.consolidation.values import Ended
from slowwave_server.domain.review import ends_at
from slowwave_server.services.consolidation.effects import CHANGED, Effects
from slowwave_server.services.consolidation.world import World

_CHANGED_HERE = text(
    "SELECT DISTINCT ON (c.memory_id) CASE WHEN c.reason ^@ :changed THEN c.memory_id END"
    " FROM slowwave.memory_changes c WHERE c.memory_id = ANY(:ids) AND c.after ? 'superseded_by'"
    " ORDER BY c.memory_id, c.id DESC"
)


def settle_changes(connection: Connection, effects: Effects, world: World, memories: Sequence[MemoryRevision]) -> bool:
    """End what these memories change, and end these if another memory changes them. Return True if any row changed."""
    own = {memory.id: memory for memory in memories if memory.live}
    concerned = dict(own)
    for memory in own.values():
        concerned |= {
            other.id: other
            for other in world.live_near(memory.id)
            if other.superseded_by == memory.id or _changes(world, memory, other)
        }
    if unseen := [memory for memory in concerned.values() if memory.id not in world.near]:
        world.look(unseen)
    enders = _enders(world, concerned.values())
    planned = [ended for older, newer in enders.items() if (ended := _ended(world.known[older], newer)) is not None]
    loose = [
        memory
        for memory in concerned.values()
        if memory.id not in enders and (memory.id in own or memory.superseded_by in own)
    ]
    planned += [Ended(memory) for memory in _changed_here(connection, loose)]
    effects.take_back(planned)
    return bool(planned)


def _enders(world: World, memories: Iterable[MemoryRevision]) -> dict[UUID, MemoryRevision]:
    """Return the first statement that ends each memory; of several for the same one, each ends the one before."""
    found: dict[UUID, MemoryRevision] = {}
    for older in memories:
        newer = (one for one in world.live_near(older.id) if _changes(world, one, older))
        values = [older, *sorted(newer, key=lambda one: (one.reaffirmed_at, one.content_hash))]
        for one, following in pairwise(values):
            known = found.get(one.id)
            if one.reaffirmed_at < following.reaffirmed_at and not world.pinned(one.id, following.id):
                found[one.id] = min(
                    known or following, following, key=lambda end: (end.reaffirmed_at, end.content_hash)
                )
    return found


def _ended(older: MemoryRevision, newer: MemoryRevision) -> Ended | None:
    at = ends_at(older, newer)
    if older.superseded_by == newer.id or (older.valid_to is not None and older.valid_to <= at):
        return None
    return Ended(older, newer, at, f"{CHANGED}{newer.content[:80]!r} was said later")


def _changed_here(connection: Connection, memories: Sequence[MemoryRevision]) -> list[MemoryRevision]:
    """Return the memories that only such a change ended."""
    ended = {memory.id: memory for memory in memories if memory.superseded_by is not None}
    if not ended:
        return []
    rows = connection.execute(_CHANGED_HERE, {"ids": list(ended), "changed": CHANGED})
    return [ended[memory] for memory in rows.scalars() if memory is not None]


def _changes(world: World, newer: MemoryRevision, older: MemoryRevision) -> bool:
    """Return True if `newer` was said after `older`, by a witness that is not less trusted, and changes it.

    An agent's words end nothing here: it reports steps, lists and plans. The outcome of its work does (`Endings`).
    """
    if newer.reaffirmed_at <= older.reaffirmed_at or newer.trust in OF_AGENTS:
        return False
    if TRUSTS.index(newer.trust) > TRUSTS.index(older.trust):
        return False
    return not world.pinned(newer.id, older.id) and world.changes(newer, older)
