"""Remove and add the sources of memories at a switch, and record both, so that an undo can restore them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.languages import detect
from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.rebuilding import RebuiltStatement, Witness
from slowwave_server.services.memories.changes import Ledger
from slowwave_server.services.rebuild.existing import IN_WINDOWS

_COLUMNS = "memory_id, session_id, seq, confidence, importance, trust, holds_from"
_NOTE = text(
    f"INSERT INTO slowwave.rebuild_evidence (run_id, before, {_COLUMNS})"
    " SELECT :run, :before, x.memory_id, x.session_id, x.seq, x.confidence, x.importance, x.trust, x.holds_from"
    f"{IN_WINDOWS} WHERE w.rebuild_id = :rebuild AND x.memory_id = ANY(:ids)"
)
_TAKE = text(
    "DELETE FROM slowwave.memory_sources x USING slowwave.rebuild_evidence e"
    " WHERE e.run_id = :run AND e.before = :before AND x.via IS NULL"
    " AND (x.memory_id, x.session_id, x.seq) = (e.memory_id, e.session_id, e.seq)"
)
_GIVE = text(
    "SELECT slowwave.add_source(:memory, :session, ARRAY[CAST(:seq AS bigint)], :confidence, :importance, :trust,"
    " :holds_from, NULL)"
)
_GIVE_BACK = text(
    "SELECT slowwave.add_source(e.memory_id, e.session_id, ARRAY[e.seq], e.confidence, e.importance, e.trust,"
    " e.holds_from, NULL) FROM slowwave.rebuild_evidence e WHERE e.run_id = :run AND e.before"
)
_CREATE = text(
    "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance, trust,"
    " entities, valid_from, reaffirmed_at, recorded_at, language, profile, search)"
    " VALUES (:scope, :type, :content, :hash, :status, :confidence, :importance, :trust, :entities, :valid_from,"
    " :valid_from, :now, :language, CAST(:profile AS jsonb),"
    " slowwave.memory_search_vector(:scope, :content, :valid_from, :entities, :language)) RETURNING id"
)
_CREATED = text(
    "INSERT INTO slowwave.memory_changes (memory_id, run_id, made_by, action, after, reason, made_at)"
    " VALUES (:id, :run, :by, 'created', CAST(:after AS jsonb), :reason, :now)"
)
_NOTED = text("SELECT DISTINCT e.memory_id FROM slowwave.rebuild_evidence e WHERE e.run_id = :run")


def take(connection: Connection, run: int, rebuild: int, memories: Iterable[UUID]) -> None:
    """Remove the windows' sources from these memories, and record them."""
    connection.execute(_NOTE, {"run": run, "rebuild": rebuild, "before": True, "ids": list(memories)})
    connection.execute(_TAKE, {"run": run, "before": True})


def give(connection: Connection, run: int, rebuild: int, rest: Mapping[UUID, Iterable[Witness]]) -> None:
    """Add these sources to memories, and record the result."""
    rows = [_row(memory, witness) for memory in sorted(rest) for witness in rest[memory]]
    if rows:
        connection.execute(_GIVE, rows)
    connection.execute(_NOTE, {"run": run, "rebuild": rebuild, "before": False, "ids": list(rest)})


def create(ledger: Ledger, new: Sequence[RebuiltStatement], *, reason: str) -> dict[UUID, frozenset[Witness]]:
    """Create memories of statements, without sources yet. Return the sources that each needs."""
    made: dict[UUID, frozenset[Witness]] = {}
    for statement in new:
        values = {
            "scope": statement.key[0],
            "type": statement.key[1],
            "hash": statement.key[2],
            "content": statement.content,
            "language": detect(statement.content),
            "profile": profile_json(statement.content, statement.key[1]),
            "status": statement.status,
            "confidence": statement.confidence,
            "importance": statement.importance,
            "trust": statement.trust,
            "entities": list(statement.entities),
            "valid_from": statement.valid_from,
            "now": ledger.now,
        }
        memory: UUID = ledger.connection.execute(_CREATE, values).scalar_one()
        after = {name: values[name] for name in ("status", "confidence", "importance")}
        after |= {
            "valid_from": statement.valid_from.isoformat(),
            "sources": sorted({witness.seq for witness in statement.witnesses}),
        }
        change = {
            "id": memory,
            "run": ledger.author.run_id,
            "by": ledger.author.by,
            "after": json.dumps(after),
            "now": ledger.now,
        }
        ledger.connection.execute(_CREATED, change | {"reason": f"{reason}: {statement.reason}"})
        made[memory] = statement.witnesses
    return made


def put_back(connection: Connection, run: int) -> set[UUID]:
    """Remove the sources that a switch added, and restore those that it removed. Return the affected memories."""
    connection.execute(_TAKE, {"run": run, "before": False})
    connection.execute(_GIVE_BACK, {"run": run})
    return set(connection.execute(_NOTED, {"run": run}).scalars())


def _row(memory: UUID, witness: Witness) -> dict[str, Any]:
    return {
        "memory": memory,
        "session": witness.session,
        "seq": witness.seq,
        "confidence": witness.confidence,
        "importance": witness.importance,
        "trust": witness.trust,
        "holds_from": witness.holds_from,
    }
