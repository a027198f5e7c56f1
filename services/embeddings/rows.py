"""Statements of indexing: find texts without vectors, and store vectors.

A memory gets a new vector if its text or its day differs from that of its vector. Events never change: for each session
a watermark marks the last event with vectors, and it moves in the transaction that stores them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from sqlalchemy import Connection, RowMapping, text

from slowwave_server.domain.passages import passages_of
from slowwave_server.services.embeddings.texts import memory_text, passage_text

SESSIONS_AT_ONCE = 50
Vector = Sequence[float]

_DAY = "CAST(m.valid_from AT TIME ZONE 'UTC' AS date)"
_STALE = (
    " FROM slowwave.memories m LEFT JOIN slowwave.memory_vectors v ON v.memory_id = m.id AND v.space_id = :space"
    " WHERE m.status <> 'archived' AND (v.memory_id IS NULL OR v.content_hash <> m.content_hash"
    f" OR v.said_on <> {_DAY})"
)
_MEMORIES = text(
    f"SELECT m.id, m.content, encode(m.content_hash, 'hex') AS hash, {_DAY} AS day{_STALE}"
    " ORDER BY m.recorded_at DESC, m.id LIMIT :limit"
)
# A memory that was deleted or changed in the meantime must not get the vector of its old text (I10).
_KEEP_MEMORIES = text(
    "INSERT INTO slowwave.memory_vectors AS v (memory_id, space_id, scope_id, content_hash, said_on, embedding)"
    " SELECT m.id, k.id, m.scope_id, m.content_hash, d.day, d.embedding"
    " FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS d (id uuid, hash text, day date, embedding real[])"
    " JOIN slowwave.memories m ON m.id = d.id AND m.content_hash = decode(d.hash, 'hex')"
    " JOIN slowwave.vector_spaces k ON k.id = :space AND k.state <> 'retired'"
    " FOR KEY SHARE OF m, k"
    " ON CONFLICT (memory_id, space_id) DO UPDATE SET content_hash = excluded.content_hash,"
    " said_on = excluded.said_on, embedding = excluded.embedding"
)
_ARCHIVED = text(
    "DELETE FROM slowwave.memory_vectors v USING slowwave.memories m"
    " WHERE m.id = v.memory_id AND v.space_id = :space AND m.status = 'archived'"
)
_BEHIND = (
    " FROM slowwave.sessions s LEFT JOIN slowwave.vector_progress g ON g.session_id = s.id AND g.space_id = :space"
    " WHERE s.processed_until > coalesce(g.until_seq, 0)"
)
_EVENTS = text(
    "WITH behind AS MATERIALIZED ("
    f" SELECT s.id, s.processed_until, coalesce(g.until_seq, 0) AS done, s.last_seen_at{_BEHIND}"
    " ORDER BY s.last_seen_at DESC, s.id LIMIT :sessions)"
    " SELECT b.id AS session_id, b.processed_until, x.seq, x.speaker, x.said, x.parts"
    " FROM behind b LEFT JOIN LATERAL ("
    # Search finds tool events by words only: a model extracts little from listings and identifiers, and they cost as
    # much as speech.
    " SELECT e.seq, coalesce(e.name, e.role) AS speaker, coalesce(p.redacted, e.content) AS said, ("
    "  SELECT json_agg(json_build_array(o.part, o.begins, o.ends) ORDER BY o.part) FROM slowwave.passages o"
    "  WHERE o.session_id = p.session_id AND o.seq = p.seq) AS parts"
    " FROM slowwave.events e"
    " JOIN slowwave.passages p ON p.session_id = e.session_id AND p.seq = e.seq AND p.part = 0"
    " WHERE e.session_id = b.id AND e.seq > b.done AND e.seq <= b.processed_until AND e.kind <> 'tool'"
    " ORDER BY e.seq LIMIT :limit"
    ") AS x ON true ORDER BY b.last_seen_at DESC, b.id, x.seq"
)
_KEEP_EVENTS = text(
    "INSERT INTO slowwave.passage_vectors AS v (session_id, seq, part, space_id, scope_id, embedding)"
    " SELECT p.session_id, p.seq, p.part, k.id, p.scope_id, d.embedding"
    " FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS d (session bigint, seq bigint, part integer, ends integer,"
    " embedding real[])"
    # A passage of an event that was split in the meantime must not get the vector of the whole event.
    " JOIN slowwave.passages p ON p.session_id = d.session AND p.seq = d.seq AND p.part = d.part"
    " AND p.ends IS NOT DISTINCT FROM d.ends"
    " JOIN slowwave.vector_spaces k ON k.id = :space AND k.state <> 'retired'"
    " FOR KEY SHARE OF p, k"
    " ON CONFLICT (session_id, seq, part, space_id) DO UPDATE SET embedding = excluded.embedding"
)
_DONE = text(
    "INSERT INTO slowwave.vector_progress AS g (session_id, space_id, until_seq)"
    " SELECT s.id, k.id, d.until FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS d (session bigint, until bigint)"
    " JOIN slowwave.sessions s ON s.id = d.session JOIN slowwave.vector_spaces k ON k.id = :space"
    " FOR KEY SHARE OF s, k"
    " ON CONFLICT (session_id, space_id) DO UPDATE SET until_seq = greatest(g.until_seq, excluded.until_seq)"
)
_LEFT = text(f"SELECT (SELECT count(*){_STALE}), (SELECT count(*){_BEHIND})")


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A memory without a vector, and its text. hash (hexadecimal), day: values when the memory was read."""

    id: UUID
    hash: str
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage without a vector. ends: its end offset in the event's text; None if the event is not split yet."""

    session_id: int
    seq: int
    part: int
    ends: int | None
    text: str


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Passages of events of some sessions, and the new watermark of each session after they are stored."""

    passages: list[PassageText] = field(default_factory=list)
    until: dict[int, int] = field(default_factory=dict)


def stale_memories(connection: Connection, space: int, limit: int) -> list[MemoryText]:
    """Return memories without a vector of their current text, newest first."""
    rows = connection.execute(_MEMORIES, {"space": space, "limit": limit})
    return [MemoryText(row.id, row.hash, row.day, memory_text(row.content, row.day)) for row in rows]


def keep_memories(
    connection: Connection, space: int, memories: Sequence[MemoryText], vectors: Sequence[Vector | None]
) -> int:
    """Store vectors of memories; a vector of None means that the model refuses the text and is not asked again. Return
    the number stored, without memories that have changed or are deleted, and 0 for a space that was dropped.
    """
    rows = [
        {"id": str(memory.id), "hash": memory.hash, "day": memory.day.isoformat(), "embedding": _short(vector)}
        for memory, vector in zip(memories, vectors, strict=True)
    ]
    return connection.execute(_KEEP_MEMORIES, {"space": space, "rows": json.dumps(rows)}).rowcount


def drop_archived(connection: Connection, space: int) -> int:
    """Remove vectors of archived memories. If an undo restores such a memory, it gets a new vector."""
    return connection.execute(_ARCHIVED, {"space": space}).rowcount


def waiting_events(connection: Connection, space: int, limit: int) -> EventBatch:
    """Return flushed events without a vector, of the latest sessions. An empty `until`: no event is left."""
    batch = EventBatch()
    values = {"space": space, "limit": limit, "sessions": SESSIONS_AT_ONCE}
    by_session: dict[int, list[RowMapping]] = {}
    for row in connection.execute(_EVENTS, values).mappings():
        by_session.setdefault(row["session_id"], []).append(row)
    left = limit
    for session, rows in by_session.items():
        if left <= 0:
            break
        said = [row for row in rows if row["seq"] is not None][:left]
        batch.passages.extend(passage for row in said for passage in _passages(row))
        # If the read was cut, the watermark moves to the last event read; otherwise to the end, including events that
        # retention removed.
        whole = len(said) == sum(row["seq"] is not None for row in rows) and len(said) < limit
        batch.until[session] = rows[0]["processed_until"] if whole else said[-1]["seq"]
        left -= len(said)
    return batch


def _passages(row: RowMapping) -> list[PassageText]:
    """Return the passages of an event; an event that is not split yet is one passage."""
    headings = {passage.begins: passage.heading for passage in passages_of(row["said"])}
    return [
        PassageText(
            row["session_id"], row["seq"], part, ends,
            passage_text(row["said"][begins:ends], row["speaker"], headings.get(begins, "")),
        )
        for part, begins, ends in row["parts"]
    ]  # fmt: skip


def keep_events(connection: Connection, space: int, batch: EventBatch, vectors: Sequence[Vector | None]) -> int:
    """Store vectors of events and their sessions' watermarks in the caller's transaction; see `keep_memories`."""
    rows = [
        {"session": one.session_id, "seq": one.seq, "part": one.part, "ends": one.ends, "embedding": _short(vector)}
        for one, vector in zip(batch.passages, vectors, strict=True)
    ]
    kept = connection.execute(_KEEP_EVENTS, {"space": space, "rows": json.dumps(rows)}).rowcount
    done = [{"session": session, "until": until} for session, until in batch.until.items()]
    connection.execute(_DONE, {"space": space, "rows": json.dumps(done)})
    return kept


def count_left(connection: Connection, space: int) -> tuple[int, int]:
    """Count the memories without a vector, and the sessions with events without a vector."""
    memories, sessions = connection.execute(_LEFT, {"space": space}).one()
    return int(memories), int(sessions)


def _short(vector: Vector | None) -> list[float] | None:
    """Round to seven digits, because single precision holds no more."""
    return None if vector is None else [round(x, 7) for x in vector]
