"""Split events that an earlier version indexed whole into passages, while search uses the old index."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, text

from slowwave_server.domain.passages import parts_of

EVENTS_AT_ONCE = 200

# If a forget or another sweep has locked a session, the next call processes it.
_WHOLE = text(
    "SELECT p.session_id, p.seq, p.scope_id, p.language, p.redacted, coalesce(p.redacted, e.content) AS said, e.kind,"
    " e.name, e.metadata ->> 'tool' AS tool, e.happened_at"
    " FROM slowwave.passages p JOIN slowwave.events e ON e.session_id = p.session_id AND e.seq = p.seq"
    " WHERE p.ends IS NULL ORDER BY p.session_id, p.seq LIMIT :limit FOR UPDATE OF p SKIP LOCKED"
)
_BEFORE = text(
    "SELECT p.seq, p.language, coalesce(p.redacted, e.content) AS said, e.kind, e.name, NULL AS tool, e.happened_at"
    " FROM slowwave.passages p JOIN slowwave.events e ON e.session_id = p.session_id AND e.seq = p.seq"
    " WHERE p.session_id = :session AND p.seq < :seq AND p.part = 0 AND e.kind <> 'tool' ORDER BY p.seq DESC LIMIT 2"
)
# An event of one passage keeps its row, and so its vector.
_ONE = text(
    "UPDATE slowwave.passages p SET search = v.search, begins = v.begins, ends = v.ends"
    " FROM slowwave.passage_search_vectors(:scope, CAST(:events AS jsonb)) AS v"
    " WHERE p.session_id = :session AND p.seq = v.seq AND p.part = v.part AND p.ends IS NULL AND v.seq = ANY(:short)"
)
_GONE = text("DELETE FROM slowwave.passages WHERE session_id = :session AND seq = ANY(:long) AND ends IS NULL")
_MANY = text(
    "INSERT INTO slowwave.passages (session_id, seq, part, begins, ends, scope_id, search, language, redacted)"
    " SELECT :session, v.seq, v.part, v.begins, v.ends, :scope, v.search, x.language,"
    " CASE WHEN v.part = 0 AND x.redacted THEN x.text END"
    " FROM slowwave.passage_search_vectors(:scope, CAST(:events AS jsonb)) AS v"
    " JOIN jsonb_to_recordset(CAST(:events AS jsonb)) AS x (seq bigint, language text, redacted boolean, text text)"
    " ON x.seq = v.seq WHERE v.seq = ANY(:long)"
)
_NO_VECTORS = text(
    "UPDATE slowwave.vector_progress SET until_seq = least(until_seq, :seq - 1) WHERE session_id = :session"
)


def cut_whole_events(engine: Engine, limit: int = EVENTS_AT_ONCE) -> int:
    """Split up to `limit` events that are indexed whole; return their number. 0: none is left or unlocked."""
    with engine.begin() as connection:
        rows = connection.execute(_WHOLE, {"limit": limit}).mappings().all()
        for session in dict.fromkeys(row["session_id"] for row in rows):
            _cut(connection, session, [row for row in rows if row["session_id"] == session])
    return len(rows)


def _cut(connection: Connection, session: int, rows: Sequence[RowMapping]) -> None:
    before = connection.execute(_BEFORE, {"session": session, "seq": rows[0]["seq"]}).mappings().all()
    events = [*(_row(row) for row in reversed(before)), *(_row(row) | _parts(row) for row in rows)]
    long = [event["seq"] for event in events if "parts" in event]
    values = {
        "session": session,
        "scope": rows[0]["scope_id"],
        "events": json.dumps(events),
        "short": [row["seq"] for row in rows if row["seq"] not in long],
        "long": long,
    }
    connection.execute(_ONE, values)
    if long:
        connection.execute(_GONE, values)
        connection.execute(_MANY, values)
        connection.execute(_NO_VECTORS, values | {"seq": min(long)})


def _row(row: RowMapping) -> dict[str, Any]:
    is_tool = row["kind"] == "tool"
    return {
        "seq": row["seq"],
        "text": row["said"],
        "speaker": (row["tool"] or "") if is_tool else row["name"] or row["kind"],
        "at": row["happened_at"].isoformat(),
        "language": row["language"],
        "tool": is_tool,
    }


def _parts(row: RowMapping) -> dict[str, Any]:
    return {"redacted": row["redacted"] is not None} | parts_of(row["said"])
