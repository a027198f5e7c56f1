"""All that changed in the schema since version 0.1.0."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from alembic import op
from sqlalchemy import Connection, RowMapping, text

from slowwave_server.domain.languages import DEFAULT, detect, detect_each
from slowwave_server.domain.profile import profile_of
from slowwave_server.models.functions import apply_functions, run_sql

revision = "0127"
down_revision = "0100"
branch_labels = None
depends_on = None
# The oldest revision whose code works on this schema: code of 0.1.0 calls functions that are gone.
serves = "0127"

BASELINE = Path(__file__).parent.parent / "baseline"
BATCH = 500

# The arguments or the results of these functions change, or another function replaces them.
_CHANGED = """
DROP FUNCTION IF EXISTS slowwave.search_hybrid;
DROP FUNCTION IF EXISTS slowwave.search_text;
DROP FUNCTION IF EXISTS slowwave.nearest_vectors;
DROP FUNCTION IF EXISTS slowwave.passage_search_vectors;
DROP FUNCTION IF EXISTS slowwave.passage_search_vector(bigint, text, text, timestamptz);
DROP FUNCTION IF EXISTS slowwave.memory_search_vector(bigint, text, timestamptz, text[]);
DROP FUNCTION IF EXISTS slowwave.search_vector(text, integer);
DROP FUNCTION IF EXISTS slowwave.scope_stats(text, text[], text[], text);
DROP FUNCTION IF EXISTS slowwave.store_memory(bigint, bigint, bigint, text, bytea, text, text, double precision,
    double precision, text, text[], timestamptz, bigint[], text, timestamptz);
DROP FUNCTION IF EXISTS slowwave.read_context(text, text, text[], text[], text, timestamptz, integer, uuid[], integer,
    integer);
DROP FUNCTION IF EXISTS slowwave.remove_events(bigint, date, timestamptz, boolean, integer);
DROP FUNCTION IF EXISTS slowwave.removable_events(bigint, date, timestamptz, boolean, integer);
DROP FUNCTION IF EXISTS slowwave.begin_flush;
DROP FUNCTION IF EXISTS slowwave.commit_extraction(bigint, bigint, bigint, bigint, text, text, text, integer, jsonb,
    jsonb, integer, integer, text, integer, double precision, double precision, timestamptz, timestamptz, bigint, text,
    text, jsonb, integer);
"""
_IMPORTANT = """
DROP INDEX slowwave.memories_important_idx;
CREATE INDEX memories_important_idx ON slowwave.memories
    (scope_id, slowwave.learned_importance(importance, use_gain) DESC, valid_from DESC)
    WHERE status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
"""
# A paraphrase that was merged into a memory no longer lowers the trust in the words that stay.
_SCORE_AGAIN = """
SELECT slowwave.score_memory(m.id, clock_timestamp())
FROM slowwave.memories m WHERE m.id IN (SELECT merged_into FROM slowwave.memories WHERE merged_into IS NOT NULL);
"""
_SESSIONS = text("SELECT DISTINCT p.session_id, p.scope_id FROM slowwave.passages p ORDER BY p.session_id")
_EVENTS = text(
    "SELECT p.seq, coalesce(p.redacted, e.content) AS content, e.kind, e.name, e.metadata ->> 'tool' AS tool,"
    " e.happened_at FROM slowwave.passages p"
    " JOIN slowwave.events e ON e.session_id = p.session_id AND e.seq = p.seq"
    " WHERE p.session_id = :session AND p.seq > :after ORDER BY p.seq LIMIT :batch"
)
_INDEX = text(
    "UPDATE slowwave.passages p SET search = v.search, language = x.language"
    " FROM slowwave.passage_search_vectors(:scope, CAST(:passages AS jsonb)) AS v"
    " JOIN jsonb_to_recordset(CAST(:passages AS jsonb)) AS x (seq bigint, language text) ON x.seq = v.seq"
    " WHERE p.session_id = :session AND p.seq = v.seq AND v.seq > :after"
    " AND (p.search <> v.search OR p.language <> x.language)"
)
_MEMORIES = text(
    "SELECT m.id, m.content, m.type FROM slowwave.memories m WHERE m.id > :after ORDER BY m.id LIMIT :batch"
)
_INDEX_MEMORIES = text(
    "UPDATE slowwave.memories m SET search = v.search, language = x.language, profile = x.profile"
    " FROM unnest(CAST(:ids AS uuid[]), CAST(:languages AS text[]), CAST(:profiles AS jsonb[]))"
    "  AS x (id, language, profile)"
    " JOIN slowwave.memories o ON o.id = x.id CROSS JOIN LATERAL ("
    "  SELECT slowwave.memory_search_vector(o.scope_id, o.content, o.valid_from, o.entities, x.language) AS search"
    " ) AS v WHERE m.id = x.id AND (m.search <> v.search OR m.language <> x.language OR m.profile <> x.profile)"
)


def upgrade() -> None:
    run_sql((BASELINE / "since_0_1_0.sql").read_text(encoding="utf-8"))
    run_sql(_CHANGED)
    apply_functions()
    run_sql(_IMPORTANT)
    connection = op.get_bind()
    for session, scope in connection.execute(_SESSIONS).all():
        _index_session(connection, session, scope)
    _index_memories(connection)
    run_sql(_SCORE_AGAIN)


def downgrade() -> None:
    run_sql((BASELINE / "back_to_0_1_0.sql").read_text(encoding="utf-8"))


def _index_session(connection: Connection, session: int, scope: int) -> None:
    """Index the events of a session by their languages, each with the two spoken events before it."""
    before: list[dict[str, Any]] = []
    for rows in _batches(connection, session):
        said = [row["content"] for row in rows if row["kind"] != "tool"]
        spoken = iter(detect_each(said, [passage["text"] for passage in before]))
        passages = [_passage(row, DEFAULT if row["kind"] == "tool" else next(spoken)) for row in rows]
        values = {"session": session, "scope": scope, "after": rows[0]["seq"] - 1}
        connection.execute(_INDEX, {**values, "passages": json.dumps(before + passages)})
        before = [passage for passage in before + passages if not passage["tool"]][-2:]


def _batches(connection: Connection, session: int) -> Iterator[Sequence[RowMapping]]:
    after = 0
    while rows := connection.execute(_EVENTS, {"session": session, "after": after, "batch": BATCH}).mappings().all():
        yield rows
        after = rows[-1]["seq"]


def _passage(row: RowMapping, language: str) -> dict[str, Any]:
    is_tool = row["kind"] == "tool"
    return {
        "seq": row["seq"],
        "text": row["content"],
        "speaker": (row["tool"] or "") if is_tool else row["name"] or row["kind"],
        "at": row["happened_at"].isoformat(),
        "tool": is_tool,
        "language": language,
    }


def _index_memories(connection: Connection) -> None:
    """Index memories by their languages, and store what each one states about the speaker."""
    after = "00000000-0000-0000-0000-000000000000"
    while rows := connection.execute(_MEMORIES, {"after": after, "batch": BATCH}).all():
        profiles = [json.dumps([trait.to_json() for trait in profile_of(row.content, row.type)]) for row in rows]
        languages = [detect(row.content) for row in rows]
        values = {"ids": [row.id for row in rows], "languages": languages, "profiles": profiles}
        connection.execute(_INDEX_MEMORIES, values)
        after = rows[-1].id
