"""The switch: in one transaction, memories get the new extractor's statements as evidence, or nothing changes.

the same statement     keeps its memory, with its new source events
a new statement        becomes a new memory, in the inbox
a lost statement       its memory is archived, unless it has other evidence: a note, a file, another
conversation; memories that it had ended are valid again, until a pass decides
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave.errors import SlowwaveError
from slowwave_server.domain.rebuilding import Plan, compare, together
from slowwave_server.domain.similarity import Thresholds
from slowwave_server.services.consolidation.effects import Effects
from slowwave_server.services.consolidation.endings import Endings, settle_endings
from slowwave_server.services.consolidation.neighbours import load
from slowwave_server.services.consolidation.scope_lock import lock_scope
from slowwave_server.services.consolidation.world import World
from slowwave_server.services.memories.changes import Ledger, change_memory, note_change, weigh
from slowwave_server.services.memories.merging import EVIDENCE, sync_copies
from slowwave_server.services.rebuild import evidence
from slowwave_server.services.rebuild.existing import existing_memories, known_elsewhere, scopes_of
from slowwave_server.services.rebuild.staging import statements
from slowwave_server.services.review.closing import close_conflict, close_item

REASON = "another extractor read the same events"

_HOLD = text(
    "SELECT a.id FROM slowwave.rebuilds r JOIN slowwave.agents a ON a.id = r.agent_id"
    " WHERE r.id = :rebuild AND r.state = 'staging' FOR UPDATE OF r FOR SHARE OF a"
)
# Lock rows in the same order as flushes do.
_LOCK = text(
    "SELECT m.id, m.confidence, m.importance FROM slowwave.memories m WHERE m.id = ANY(:ids)"
    " ORDER BY m.scope_id, m.type, m.content_hash, m.id FOR UPDATE"
)
_WORTH = text("SELECT m.confidence, m.importance FROM slowwave.memories m WHERE m.id = :id")
_FAMILY = text(
    "SELECT m.id FROM slowwave.memories m WHERE m.merged_into = ANY(:ids)"
    " UNION SELECT m.id FROM slowwave.memories m WHERE m.id = ANY(:ids) AND m.merged_into IS NOT NULL"
)
_SURVIVORS = text(
    "SELECT DISTINCT m.merged_into FROM slowwave.memories m WHERE m.id = ANY(:ids) AND m.merged_into IS NOT NULL"
)
_UNSAID = text(
    "SELECT m.id, m.revision FROM slowwave.memories m WHERE m.id = ANY(:ids) AND m.status <> 'archived'"
    + "".join(f" AND NOT EXISTS (SELECT FROM slowwave.{table} x WHERE x.memory_id = m.id)" for table in EVIDENCE)
    + " ORDER BY m.scope_id, m.type, m.content_hash, m.id"
)
_ENDED_BY = text(
    "SELECT m.id, m.revision FROM slowwave.memories m WHERE m.superseded_by = ANY(:ids) AND m.id <> ALL(:ids)"
    " ORDER BY m.id"
)
_SCOPES = text(
    "SELECT m.scope_id, array_agg(m.id ORDER BY m.id) FROM slowwave.memories m WHERE m.id = ANY(:ids)"
    " GROUP BY m.scope_id ORDER BY m.scope_id"
)
_CONFLICTS = text(
    "SELECT c.id, c.scope_id,"
    " CASE WHEN c.memory_id = ANY(:ids) THEN c.memory_id ELSE c.conflicting_memory_id END AS memory"
    " FROM slowwave.memory_conflicts c WHERE c.status = 'open'"
    " AND (c.memory_id = ANY(:ids) OR c.conflicting_memory_id = ANY(:ids)) ORDER BY c.id"
)
_QUESTIONS = text(
    "SELECT i.id, i.scope_id, coalesce(i.memory_id, c.memory_id) AS memory FROM slowwave.review_items i"
    " LEFT JOIN slowwave.memory_conflicts c ON c.id = i.conflict_id WHERE i.state = 'open'"
    " AND (i.memory_id = ANY(:ids) OR c.memory_id = ANY(:ids) OR c.conflicting_memory_id = ANY(:ids)) ORDER BY i.id"
)
_REMEMBER = text(
    "UPDATE slowwave.rebuild_windows w SET candidates = '[]', was = jsonb_build_object('extractor', f.extractor,"
    " 'version', f.extractor_version, 'fallback', f.fallback, 'why', f.fallback_why, 'dropped', f.dropped)"
    " FROM slowwave.flushes f WHERE w.rebuild_id = :rebuild AND f.session_id = w.session_id AND f.from_seq = w.from_seq"
)
_LEDGER = text(
    "UPDATE slowwave.flushes f SET extractor = w.extractor, extractor_version = w.extractor_version, fallback = NULL,"
    " fallback_why = NULL, dropped = w.dropped, tokens = f.tokens + w.tokens"
    " FROM slowwave.rebuild_windows w WHERE w.rebuild_id = :rebuild AND f.session_id = w.session_id"
    " AND f.from_seq = w.from_seq"
)
_DONE = text("UPDATE slowwave.rebuilds SET state = 'switched', run_id = :run WHERE id = :rebuild")


class CannotSwitch(SlowwaveError):
    """The rebuild can't be switched now; memories are unchanged, and windows read so far are kept."""


@dataclass(frozen=True, slots=True)
class Switched:
    """The result of a switch. reweighed: memories that stay, with other source events or other scores."""

    created: frozenset[UUID]
    archived: frozenset[UUID]
    reweighed: int
    unchanged: int


def switch(ledger: Ledger, rebuild: int) -> Switched:
    """Switch, in the caller's transaction. Raises CannotSwitch."""
    if ledger.connection.execute(_HOLD, {"rebuild": rebuild}).first() is None:
        raise CannotSwitch("the rebuild is gone: its agent was forgotten, or another one took its place; ask again")
    found, said = existing_memories(ledger.connection, rebuild), together(statements(ledger.connection, rebuild))
    for scope in scopes_of(found, said):
        if not lock_scope(ledger.connection, scope):
            raise CannotSwitch("a pass is at the same memories: ask again after it, nothing is read twice")
    plan = compare(found, said, known_elsewhere(ledger.connection, said))
    made = _rest(ledger, rebuild, plan)
    archived = _archive(ledger, plan.rest)
    _follow(ledger, archived)
    _end(ledger, made)
    for statement in (_REMEMBER, _LEDGER):
        ledger.connection.execute(statement, {"rebuild": rebuild})
    ledger.connection.execute(_DONE, {"rebuild": rebuild, "run": ledger.author.run_id})
    reweighed = len(set(plan.rest) - archived)
    return Switched(frozenset(made), frozenset(archived), reweighed, len(plan.same))


def _rest(ledger: Ledger, rebuild: int, plan: Plan) -> Collection[UUID]:
    """Replace the sources of memories. Return the new memories."""
    worth = {row.id: row for row in ledger.connection.execute(_LOCK, {"ids": list(plan.rest)})}
    evidence.take(ledger.connection, ledger.author.run_id, rebuild, plan.rest)
    made = evidence.create(ledger, plan.create, reason=REASON)
    evidence.give(ledger.connection, ledger.author.run_id, rebuild, {**plan.rest, **made})
    weigh_family(ledger.connection, {*plan.rest, *made}, ledger.now)
    for memory in sorted(worth):
        before, after = worth[memory], ledger.connection.execute(_WORTH, {"id": memory}).one()
        note_change(
            ledger,
            memory,
            action="sourced",
            before={"confidence": before.confidence, "importance": before.importance},
            after={"confidence": after.confidence, "importance": after.importance},
            reason=REASON,
        )
    return made


def weigh_family(connection: Connection, memories: Iterable[UUID], now: datetime) -> None:
    """Score memories that lost or gained sources, and memories that got copies of these sources by a merge."""
    ids = sorted(set(memories))
    for part in sorted(connection.execute(_FAMILY, {"ids": ids}).scalars()):
        sync_copies(connection, part, now)
    for memory in ids:
        weigh(connection, memory, now)


def _archive(ledger: Ledger, memories: Iterable[UUID]) -> set[UUID]:
    """Archive those without sources among these memories and their survivors."""
    ids = list(memories)
    ids += ledger.connection.execute(_SURVIVORS, {"ids": ids}).scalars()
    gone = ledger.connection.execute(_UNSAID, {"ids": ids}).all()
    for row in gone:
        fields = {"status": "archived", "archive_reason": "rebuilt"}
        change_memory(ledger, row.id, row.revision, fields, action="archived", reason=REASON)
    return {row.id for row in gone}


def _end(ledger: Ledger, made: Collection[UUID]) -> None:
    """End memories because of the new ones, and new ones because of others, as after a flush."""
    scopes = ledger.connection.execute(_SCOPES, {"ids": list(made)}).all() if made else []
    for scope_id, ids in scopes:
        world = World(ledger.connection, scope_id, Thresholds())
        known = sorted(load(ledger.connection, scope_id, ids).values(), key=lambda memory: memory.order)
        endings = Endings(ledger.connection, scope_id, world.pin, world.pinned)
        settle_endings(Effects(ledger, scope_id), endings, known)


def _follow(ledger: Ledger, archived: Collection[UUID]) -> None:
    """Handle references to removed memories: values that they had ended, conflicts and questions about them."""
    ids = {"ids": list(archived)}
    reason = "what it had to do with is not said any more, as another extractor reads it"
    for row in ledger.connection.execute(_ENDED_BY, ids).all():
        fields = {"valid_to": None, "superseded_by": None}
        change_memory(ledger, row.id, row.revision, fields, action="reopened", reason=reason)
    for row in ledger.connection.execute(_QUESTIONS, ids).all():
        close_item(ledger, row.scope_id, row.id, state="expired", reason=reason, memory=row.memory)
    for row in ledger.connection.execute(_CONFLICTS, ids).all():
        close_conflict(ledger, row.scope_id, row.id, status="dismissed", resolution=reason, memory=row.memory)
