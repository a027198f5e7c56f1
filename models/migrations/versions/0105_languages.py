"""Store the language of each text; index texts by language, with the parts of names and pairs of characters."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from alembic import op
from sqlalchemy import Connection, RowMapping, text

from slowwave_server.domain.languages import DEFAULT, detect, detect_each
from slowwave_server.models.functions import apply_functions, run_sql

revision = "0105"
down_revision = "0104"
branch_labels = None
depends_on = None
# The oldest revision whose code works on this schema. Text that older code flushes is indexed as English.
serves = "0100"

BATCH = 500

_COLUMNS = """
ALTER TABLE slowwave.passages ADD COLUMN language text DEFAULT 'en' NOT NULL;
ALTER TABLE slowwave.memories ADD COLUMN language text DEFAULT 'en' NOT NULL;
CREATE INDEX passages_language_idx ON slowwave.passages (scope_id, language) WHERE language <> 'en';
CREATE INDEX memories_language_idx ON slowwave.memories (scope_id, language) WHERE language <> 'en';
"""
# This migration changes the arguments or results of these functions.
_CHANGED = """
DROP FUNCTION IF EXISTS slowwave.search_vector(text, integer);
DROP FUNCTION IF EXISTS slowwave.passage_search_vector(bigint, text, text, timestamptz);
DROP FUNCTION IF EXISTS slowwave.memory_search_vector(bigint, text, timestamptz, text[]);
DROP FUNCTION IF EXISTS slowwave.store_memory(bigint, bigint, bigint, text, bytea, text, text, double precision,
    double precision, text, text[], timestamptz, bigint[], text, timestamptz);
DROP FUNCTION IF EXISTS slowwave.scope_stats(text, text[], text[], text);
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
_MEMORIES = text("SELECT m.id, m.content FROM slowwave.memories m WHERE m.id > :after ORDER BY m.id LIMIT :batch")
_INDEX_MEMORIES = text(
    "UPDATE slowwave.memories m SET search = v.search, language = x.language"
    " FROM unnest(CAST(:ids AS uuid[]), CAST(:languages AS text[])) AS x (id, language)"
    " JOIN slowwave.memories o ON o.id = x.id CROSS JOIN LATERAL ("
    "  SELECT slowwave.memory_search_vector(o.scope_id, o.content, o.valid_from, o.entities, x.language) AS search"
    " ) AS v WHERE m.id = x.id AND (m.search <> v.search OR m.language <> x.language)"
)


def upgrade() -> None:
    run_sql(_COLUMNS)
    run_sql(_CHANGED)
    apply_functions(
        "commit_flush",
        "consolidate_notes",
        "guess_language",
        "memory_search_vector",
        "passage_search_vector",
        "passage_search_vectors",
        "question_terms",
        "scope_languages",
        "scope_stats",
        "score_memory",
        "search_configuration",
        "search_vector",
        "searched_text",
        "store_candidates",
        "store_memory",
    )
    connection = op.get_bind()
    for session, scope in connection.execute(_SESSIONS).all():
        _index_session(connection, session, scope)
    _index_memories(connection)


def downgrade() -> None:
    op.execute("ALTER TABLE slowwave.passages DROP COLUMN language")
    op.execute("ALTER TABLE slowwave.memories DROP COLUMN language")


def _index_session(connection: Connection, session: int, scope: int) -> None:
    """Index the events of a session again, each with the two spoken events before it."""
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
    after = "00000000-0000-0000-0000-000000000000"
    while rows := connection.execute(_MEMORIES, {"after": after, "batch": BATCH}).all():
        values = {"ids": [row.id for row in rows], "languages": [detect(row.content) for row in rows]}
        connection.execute(_INDEX_MEMORIES, values)
        after = rows[-1].id
