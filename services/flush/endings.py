"""End memories that a flush contradicts, directly after its commit, so that an agent does not follow a plan that was
called off.

It is a separate run, so that people can explain and undo it (I6). A failure loses nothing: the next pass over the scope
checks the same memories. Most flushes affect no other memory of their scope, and one index lookup shows this.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.consolidation.values import Ended
from slowwave_server.domain.endings.sought import Sought, is_concerned, sought
from slowwave_server.domain.similarity import Thresholds
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models.engine import driver_connection
from slowwave_server.services.consolidation.effects import Effects
from slowwave_server.services.consolidation.endings import Endings, expired, holds_any
from slowwave_server.services.consolidation.neighbours import load
from slowwave_server.services.consolidation.world import World
from slowwave_server.services.memories.changes import Author, Ledger, Stale
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run

log = logging.getLogger(__name__)

TRIES = 3
BY = "flush"
_OF_FLUSH = text(
    "SELECT DISTINCT s.scope_id, c.memory_id FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    " JOIN slowwave.memory_changes c ON c.flush_id = f.id JOIN slowwave.memories m ON m.id = c.memory_id"
    " AND m.scope_id = s.scope_id WHERE f.session_id = :session AND f.from_seq = :from_seq"
)


@dataclass(frozen=True, slots=True)
class FlushedMemories:
    """The memories of a committed window: its session, its first event, its flush, and the candidates for its scope.

    repeated: the number of candidates that the scope already had.
    """

    session_id: int
    scope_id: int
    from_seq: int
    flush_id: int
    candidates: tuple[Candidate, ...]
    repeated: int


def end_after_flush(engine: Engine, flushed: FlushedMemories, now: datetime) -> int:
    """End memories because of a flush's memories, and count the changed ones. Database errors are not raised."""
    asked = sought([(one.content, one.type) for one in flushed.candidates])
    if asked is None and not flushed.repeated:
        return 0
    for _ in range(TRIES):
        try:
            return _end(engine, flushed, now) if _is_there(engine, flushed, asked) else 0
        except (Stale, OperationalError, psycopg.OperationalError):
            continue  # a pass or another flush changed one of them in between
        except (SQLAlchemyError, psycopg.Error) as error:
            log.warning("memories of a flush ended nothing: %s; the next pass looks again", type(error).__name__)
            return 0
    log.warning("memories of a flush ended nothing: they kept changing; the next pass looks again")
    return 0


def _is_there(engine: Engine, flushed: FlushedMemories, asked: Sought | None) -> bool:
    """Return False if the flush's memories certainly end no other memory of the scope and are ended by none.

    The search runs after the commit: of two concurrent flushes, the one that commits last sees the other.
    """
    if asked is None or asked.within or flushed.repeated or any(one.corrects for one in flushed.candidates):
        return True
    with driver_connection(engine) as connection:
        return holds_any(connection, flushed.scope_id, asked.types, besides=flushed.flush_id)


def _end(engine: Engine, flushed: FlushedMemories, now: datetime) -> int:
    # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
    with (
        engine.connect().execution_options(isolation_level="READ COMMITTED") as connection,
        connection.begin(),
    ):
        rows = connection.execute(_OF_FLUSH, {"session": flushed.session_id, "from_seq": flushed.from_seq}).all()
        if not rows:
            return 0
        scope_id = rows[0].scope_id
        planned = _plan(connection, scope_id, [row.memory_id for row in rows])
        if not planned:
            return 0
        run = start_run(connection, kind="other", now=now, lease_seconds=LEASE_SECONDS, scope_id=scope_id, by=BY)
        effects = Effects(Ledger(connection, Author(run.id, BY), now), scope_id)
        effects.take_back(planned)
        summary = f"{pluralize(len(planned), 'memory', 'memories')} ended, or held again, by what was said"
        finish_run(connection, run, status="completed", summary=summary, stats=dict(effects.counts), now=now)
    return len(planned)


def _plan(connection: Connection, scope_id: int, ids: Sequence[UUID]) -> list[Ended]:
    """Plan which memories end because of the flush's memories, and which of the flush's memories had ended before."""
    known = load(connection, scope_id, ids).values()
    concerned = [one for one in known if one.live and (one.valid_to is not None or is_concerned(one.content, one.type))]
    if not concerned:
        return []
    world = World(connection, scope_id, Thresholds())
    planned = Endings(connection, scope_id, world.pin, world.pinned).plan(concerned)
    done = {ended.older.id for ended in planned}
    return [*planned, *(Ended(one) for one in expired(connection, concerned) if one.id not in done)]
