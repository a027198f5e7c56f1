"""Forget evidence: score or delete memories that lose evidence, in scopes that remain.

A memory stays if some remaining evidence says it in the same words:

- A memory without such evidence is deleted. Memories that were merged into it and have evidence become independent.
- A synthesised memory that loses evidence gets its first content back, and the memories that were merged into it become
  independent.
- A memory is deleted if its only evidence is a note with nearly the same words. The note is open again and becomes a
  memory in its own words.
- If a deleted memory had ended another one, that one stays valid until the next memory that is known to end it.

The history of a remaining memory stays, but without content, because it may quote deleted text.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.candidates import first_status
from slowwave_server.domain.languages import detect
from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.consolidation.neighbours import index_blocks, load
from slowwave_server.services.memories.changes import as_json, weigh
from slowwave_server.services.memories.merging import sync_copies

REASON = "a related memory or event was forgotten"

_TABLES = (
    "CREATE TEMP TABLE hurt (id uuid PRIMARY KEY) ON COMMIT DROP",
    "CREATE TEMP TABLE related (id uuid PRIMARY KEY) ON COMMIT DROP",
    "CREATE TEMP TABLE reworded (id uuid PRIMARY KEY) ON COMMIT DROP",
    "CREATE TEMP TABLE touched_runs (run_id bigint, memory_id text) ON COMMIT DROP",
)
# Imported lines name the sessions of their sources.
_FROM_SESSIONS = (
    "SELECT i.memory_id, i.digest, jsonb_agg(p.value) FILTER (WHERE g.id IS NULL) AS others, count(g.id) AS gone"
    " FROM slowwave.memory_imports i JOIN slowwave.memories m ON m.id = i.memory_id"
    " CROSS JOIN LATERAL jsonb_array_elements(i.sources) AS p"
    " LEFT JOIN gone_sessions g ON g.name = p.value ->> 0 AND g.scope_id = m.scope_id"
    "  AND NOT EXISTS (SELECT FROM slowwave.sessions o WHERE o.scope_id = m.scope_id AND o.name = g.name"
    "   AND o.id NOT IN (SELECT id FROM gone_sessions))"
    " WHERE m.scope_id IN (SELECT scope_id FROM gone_sessions) GROUP BY i.memory_id, i.digest"
)
_HURT = (
    "INSERT INTO hurt SELECT DISTINCT x.memory_id FROM slowwave.memory_sources x"
    " JOIN gone_sessions s ON s.id = x.session_id"
    " UNION SELECT n.memory_id FROM slowwave.memory_notes n JOIN gone_items i ON i.id = n.working_id"
    f" UNION SELECT f.memory_id FROM ({_FROM_SESSIONS}) AS f WHERE f.gone > 0"
    " UNION SELECT i.memory_id FROM slowwave.memory_imports i JOIN gone_runs g ON g.id = i.run_id"
    " UNION SELECT x.memory_id FROM slowwave.memory_sources x JOIN gone_memories g ON g.id = x.via"
    " UNION SELECT x.memory_id FROM slowwave.memory_notes x JOIN gone_memories g ON g.id = x.via"
    " UNION SELECT x.memory_id FROM slowwave.memory_imports x JOIN gone_memories g ON g.id = x.via"
)
_ALL_OF_SCOPES = (
    "INSERT INTO gone_memories SELECT m.id, m.scope_id FROM slowwave.memories m JOIN gone_scopes k ON k.id = m.scope_id"
    " ON CONFLICT DO NOTHING"
)
_NOT_GONE = "DELETE FROM hurt h USING gone_memories g WHERE g.id = h.id"
# Transactions that add evidence lock the memory's row, so all evidence is visible once this lock is held.
_LOCK = (
    "SELECT m.id FROM slowwave.memories m"
    " WHERE m.id IN (SELECT id FROM hurt UNION SELECT id FROM gone_memories) ORDER BY m.id FOR UPDATE"
)
_TAKE_EVIDENCE = (
    "DELETE FROM slowwave.memory_sources x USING gone_sessions s WHERE s.id = x.session_id",
    "DELETE FROM slowwave.memory_notes n USING gone_items i WHERE i.id = n.working_id",
    "DELETE FROM slowwave.memory_imports i USING gone_runs g WHERE g.id = i.run_id",
    (
        f"DELETE FROM slowwave.memory_imports i USING ({_FROM_SESSIONS}) AS f"
        " WHERE f.memory_id = i.memory_id AND f.digest = i.digest AND f.gone > 0 AND f.others IS NULL"
    ),
    (
        f"UPDATE slowwave.memory_imports i SET sources = f.others FROM ({_FROM_SESSIONS}) AS f"
        " WHERE f.memory_id = i.memory_id AND f.digest = i.digest AND f.gone > 0 AND f.others IS NOT NULL"
    ),
)
_TAKE_COPIES = tuple(
    f"DELETE FROM slowwave.{table} x USING gone_memories g WHERE g.id = x.via"
    for table in ("memory_sources", "memory_notes", "memory_imports")
)
_UNSAID = (
    "INSERT INTO gone_memories SELECT m.id, m.scope_id FROM slowwave.memories m JOIN hurt h ON h.id = m.id WHERE"
    " NOT EXISTS (SELECT FROM slowwave.memory_sources x WHERE x.memory_id = m.id AND x.via IS NULL)"
    " AND NOT EXISTS (SELECT FROM slowwave.memory_imports x WHERE x.memory_id = m.id AND x.via IS NULL)"
    " AND NOT m.id = ANY(:noted) ON CONFLICT DO NOTHING"
)
_NOTES = (
    "SELECT n.memory_id, m.content_hash, w.content FROM hurt h JOIN slowwave.memories m ON m.id = h.id"
    " JOIN slowwave.memory_notes n ON n.memory_id = m.id AND n.via IS NULL"
    " JOIN slowwave.working_memory w ON w.id = n.working_id"
)
_RELATED = (
    "INSERT INTO related SELECT id FROM ("
    " SELECT l.source_id AS id FROM slowwave.memory_links l JOIN gone_memories g ON g.id = l.target_id"
    " UNION SELECT l.target_id FROM slowwave.memory_links l JOIN gone_memories g ON g.id = l.source_id"
    " UNION SELECT c.memory_id FROM slowwave.memory_conflicts c JOIN gone_memories g ON g.id = c.conflicting_memory_id"
    " UNION SELECT c.conflicting_memory_id FROM slowwave.memory_conflicts c JOIN gone_memories g ON g.id = c.memory_id"
    " UNION SELECT m.id FROM slowwave.memories m JOIN gone_memories g ON g.id = m.merged_into"
    " UNION SELECT m.id FROM slowwave.memories m JOIN gone_memories g ON g.id = m.superseded_by"
    ") AS r WHERE r.id NOT IN (SELECT id FROM gone_memories)"
)
# An independent memory may have the same content; an archived one does not collide with it.
_ARCHIVE = (
    "UPDATE slowwave.memories m SET status = 'archived' FROM gone_memories g WHERE g.id = m.id"
    " AND m.status <> 'archived' AND g.scope_id NOT IN (SELECT id FROM gone_scopes)"
)
_FIRST_WORDS = (
    "SELECT DISTINCT ON (c.memory_id) c.memory_id, c.before ->> 'content' AS content"
    " FROM slowwave.memory_changes c WHERE c.memory_id IN (SELECT id FROM hurt UNION SELECT id FROM related)"
    " AND c.memory_id NOT IN (SELECT id FROM gone_memories)"
    " AND c.before ? 'content' AND c.action = 'synthesised' ORDER BY c.memory_id, c.id"
)
_SAY_AGAIN = (
    "UPDATE slowwave.memories m SET content = :content, content_hash = :hash, checked_at = NULL,"
    " revision = m.revision + 1,"
    " language = :language, profile = CAST(:profile AS jsonb),"
    " search = slowwave.memory_search_vector(m.scope_id, :content, m.valid_from, m.entities, :language)"
    " WHERE m.id = :memory AND (m.status = 'archived' OR NOT EXISTS (SELECT FROM slowwave.memories o"
    "  WHERE o.scope_id = m.scope_id AND o.type = m.type AND o.content_hash = :hash AND o.status <> 'archived'"
    "  AND o.id <> m.id)) RETURNING m.id"
)
_PARTS = (
    "SELECT p.id, p.scope_id, p.type, p.content_hash, p.status, p.archive_reason, p.merged_into"
    " FROM slowwave.memories p"
    " WHERE p.merged_into = ANY(:survivors) AND p.id NOT IN (SELECT id FROM gone_memories)"
    " ORDER BY p.content_hash, p.id FOR UPDATE"
)
_TWIN = (
    "SELECT m.id FROM slowwave.memories m WHERE m.scope_id = :scope AND m.type = :type AND m.content_hash = :hash"
    " AND m.status <> 'archived' AND m.id NOT IN (SELECT id FROM gone_memories)"
)
_STAND = (
    "UPDATE slowwave.memories m SET status = :status, archive_reason = :archive_reason, merged_into = :merged_into,"
    " checked_at = NULL, revision = m.revision + 1 WHERE m.id = :memory"
)
_UNLINK = "DELETE FROM slowwave.memory_links l WHERE l.source_id = :memory AND l.predicate = 'merged_into'"
# One merged memory of each survivor is enough: `sync_copies` rebuilds the copies of all of them.
_A_PART = (
    "SELECT DISTINCT ON (p.merged_into) p.id FROM slowwave.memories p"
    " WHERE p.merged_into IN (SELECT id FROM hurt UNION SELECT id FROM related) ORDER BY p.merged_into, p.id"
)
_TO_WEIGH = (
    "SELECT m.id FROM slowwave.memories m WHERE m.id IN (SELECT id FROM hurt UNION SELECT id FROM related)"
    " ORDER BY m.id"
)
# The history of a remaining memory continues to its present state (I6), and backends are told of the change.
_TELL = (
    "INSERT INTO slowwave.memory_changes (memory_id, action, before, after, reason, made_at)"
    " SELECT m.id, CAST(:action AS text), CAST(:before AS jsonb),"
    " coalesce(CAST(:after AS jsonb), jsonb_build_object('status', m.status)), :reason, :now"
    " FROM slowwave.memories m WHERE m.id = :memory"
)
# Returns old and new values together; the lock keeps others from changing them in between.
_HOLD_ON = (
    "UPDATE slowwave.memories m SET superseded_by = was.next, valid_to = was.since, checked_at = NULL,"
    " revision = m.revision + 1 FROM (SELECT w.id, w.valid_to, w.superseded_by, n.id AS next, n.valid_from AS since"
    "  FROM gone_memories g JOIN slowwave.memories w ON w.superseded_by = g.id"
    "  JOIN slowwave.memories o ON o.id = g.id LEFT JOIN slowwave.memories n ON n.id = o.superseded_by"
    "  WHERE w.id NOT IN (SELECT id FROM gone_memories) FOR UPDATE OF w) AS was"
    " WHERE m.id = was.id RETURNING m.id, was.valid_to AS ended, was.superseded_by AS ended_by,"
    " m.valid_to, m.superseded_by"
)


@dataclass(slots=True)
class Turned:
    """Decided fields of a memory before and after a change; None for content, which the history does not keep."""

    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


class Remains:
    """The memories that remain. standing: merged memories that are independent again; reworded: synthesised memories
    with their first content again; holding: ended memories that are valid again, or for longer.
    """

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self._now = now
        self.standing: dict[UUID, Turned] = {}
        self.reworded: dict[UUID, Turned] = {}
        self.holding: dict[UUID, Turned] = {}

    def find(self) -> None:
        """Delete the evidence, and find the memories that it affects: fill gone_memories, hurt and related."""
        for statement in (*_TABLES, _ALL_OF_SCOPES, _HURT, _NOT_GONE, _LOCK, *_TAKE_EVIDENCE):
            self._run(statement)
        said = self._said_in_these_words()
        self._run(_UNSAID, noted=list(said))
        for statement in (*_TAKE_COPIES, _RELATED):
            self._run(statement)

    def settle(self) -> None:
        """Make remaining memories independent of those to be deleted. Call this before the deletion."""
        self._run(_ARCHIVE)
        tainted = self._first_words_again()
        gone = list(self._run("SELECT id FROM gone_memories").scalars())
        for part in self._run(_PARTS, survivors=[*gone, *sorted(tainted)]).all():
            self._stand(part)
        # Several memories of one chain of values may be deleted at once.
        while rows := self._run(_HOLD_ON).all():
            for row in rows:
                was = {"valid_to": row.ended, "superseded_by": row.ended_by}
                turned = self.holding.setdefault(row.id, Turned(was))
                turned.after = {"valid_to": row.valid_to, "superseded_by": row.superseded_by}

    def weigh(self) -> None:
        """Score the memories that lost evidence. Call this after all forgotten data is deleted."""
        for part in self._run(_A_PART).scalars().all():
            sync_copies(self._connection, part, self._now)
        for memory in self._run(_TO_WEIGH).scalars().all():
            weigh(self._connection, memory, self._now)
        for action, changed in (
            ("unmerged", self.standing),
            ("reworded", self.reworded),
            ("holding", self.holding),
        ):
            told = [
                {
                    "memory": memory,
                    "before": _noted(changed[memory].before),
                    "after": _noted(changed[memory].after),
                    "action": action,
                    "reason": REASON,
                    "now": self._now,
                }
                for memory in sorted(changed)
            ]
            if told:
                self._connection.execute(text(_TELL), told)
        found: dict[int, list[UUID]] = defaultdict(list)
        again = sorted({*self.standing, *self.reworded})
        for row in self._run("SELECT id, scope_id FROM slowwave.memories WHERE id = ANY(:ids)", ids=again):
            found[row.scope_id].append(row.id)
        for scope_id, memories in found.items():
            index_blocks(self._connection, scope_id, load(self._connection, scope_id, memories).values())

    def _said_in_these_words(self) -> set[UUID]:
        """Find memories that lost evidence and whose content equals a note's."""
        return {
            row.memory_id
            for row in self._run(_NOTES)
            if content_hash(redact(row.content).text) == bytes(row.content_hash)
        }

    def _first_words_again(self) -> set[UUID]:
        """Give synthesised memories their first content again. Return their ids."""
        rows = self._run(_FIRST_WORDS).all()
        for row in rows:
            words = {"memory": row.memory_id, "content": row.content, "hash": content_hash(row.content)}
            words |= {"language": detect(row.content), "profile": profile_json(row.content, "fact")}
            if self._run(_SAY_AGAIN, **words).first() is None:
                # Another memory got the same content in the meantime: keep that one.
                self._run("INSERT INTO gone_memories SELECT id, scope_id FROM slowwave.memories WHERE id = :memory",
                          memory=row.memory_id)  # fmt: skip
                self._run("DELETE FROM related WHERE id = :memory", memory=row.memory_id)
                continue
            self._run("DELETE FROM slowwave.triples WHERE memory_id = :memory", memory=row.memory_id)
            self._run("DELETE FROM slowwave.memory_blocks WHERE memory_id = :memory", memory=row.memory_id)
            for table in ("related", "reworded"):
                self._run(
                    f"INSERT INTO {table} SELECT CAST(:memory AS uuid) ON CONFLICT DO NOTHING", memory=row.memory_id
                )
            self.reworded[row.memory_id] = Turned()
        return {row.memory_id for row in rows}

    def _stand(self, part: Any) -> None:
        key = {"scope": part.scope_id, "type": part.type, "hash": part.content_hash}
        twin = self._run(_TWIN, **key).scalar()
        after: dict[str, Any] = {"status": first_status(part.type), "archive_reason": None, "merged_into": None}
        if twin is not None:
            after = {"status": "archived", "archive_reason": "merged", "merged_into": twin}
        self._run(_STAND, memory=part.id, **after)
        self._run(_UNLINK, memory=part.id)
        self.standing[part.id] = Turned({name: getattr(part, name) for name in after}, after)
        for memory in (part.id, twin):
            if memory is not None:
                self._run("INSERT INTO related SELECT CAST(:memory AS uuid) ON CONFLICT DO NOTHING", memory=memory)

    def _run(self, statement: str, **values: Any) -> Any:
        return self._connection.execute(text(statement), values)


def _noted(fields: dict[str, Any] | None) -> str | None:
    return None if fields is None else json.dumps(as_json(fields))
