"""Search finds emoji, words without their accents, and German compounds by their parts."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from alembic import op
from sqlalchemy import Connection, RowMapping, text

from slowwave_server.domain.passages import parts_of
from slowwave_server.models.functions import apply_functions

revision = "0131"
down_revision = "0130"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0128"

BATCH = 500

# Only German texts and texts with letters or signs beyond ASCII have new lexemes.
_SESSIONS = text(
    "SELECT DISTINCT p.session_id, p.scope_id FROM slowwave.passages p"
    " JOIN slowwave.events e ON e.session_id = p.session_id AND e.seq = p.seq"
    " WHERE p.language = 'de' OR octet_length(concat(e.content, e.name)) > length(concat(e.content, e.name))"
    " ORDER BY p.session_id"
)
_EVENTS = text(
    "SELECT p.seq, p.language, coalesce(p.redacted, e.content) AS content, e.kind, e.name,"
    " e.metadata ->> 'tool' AS tool, e.happened_at FROM slowwave.passages p"
    " JOIN slowwave.events e ON e.session_id = p.session_id AND e.seq = p.seq"
    " WHERE p.session_id = :session AND p.seq > :after AND p.part = 0 ORDER BY p.seq LIMIT :batch"
)
# An event that is not split yet (`ends` is NULL) gets its index when the worker splits it.
_INDEX = text(
    "UPDATE slowwave.passages p SET search = v.search"
    " FROM slowwave.passage_search_vectors(:scope, CAST(:events AS jsonb)) AS v"
    " WHERE p.session_id = :session AND p.seq = v.seq AND p.part = v.part AND (p.begins, p.ends) = (v.begins, v.ends)"
    " AND v.seq > :after AND p.search <> v.search"
)
_MEMORIES = text(
    "UPDATE slowwave.memories m SET search = v.search FROM ("
    "  SELECT o.id,"
    "   slowwave.memory_search_vector(o.scope_id, o.content, o.valid_from, o.entities, o.language) AS search"
    "  FROM slowwave.memories o WHERE o.language = 'de'"
    "   OR octet_length(o.content || array_to_string(o.entities, ' '))"
    "    > length(o.content || array_to_string(o.entities, ' '))"
    " ) AS v WHERE m.id = v.id AND m.search <> v.search"
)


def upgrade() -> None:
    apply_functions(
        "plain_letters", "compound_terms", "searched_text", "search_vector", "question_terms", "scope_stats"
    )
    connection = op.get_bind()
    for session, scope in connection.execute(_SESSIONS).all():
        _index_session(connection, session, scope)
    connection.execute(_MEMORIES)


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too."""


def _index_session(connection: Connection, session: int, scope: int) -> None:
    """Index the events of a session again, each with the two spoken events before it."""
    before: list[dict[str, Any]] = []
    for rows in _batches(connection, session):
        events = [_event(row) for row in rows]
        cut = [event | parts_of(event["text"]) for event in events]
        values = {"session": session, "scope": scope, "after": rows[0]["seq"] - 1}
        connection.execute(_INDEX, {**values, "events": json.dumps(before + cut)})
        before = [event for event in before + events if not event["tool"]][-2:]


def _batches(connection: Connection, session: int) -> Iterator[Sequence[RowMapping]]:
    after = 0
    while rows := connection.execute(_EVENTS, {"session": session, "after": after, "batch": BATCH}).mappings().all():
        yield rows
        after = rows[-1]["seq"]


def _event(row: RowMapping) -> dict[str, Any]:
    is_tool = row["kind"] == "tool"
    return {
        "seq": row["seq"],
        "text": row["content"],
        "speaker": (row["tool"] or "") if is_tool else row["name"] or row["kind"],
        "at": row["happened_at"].isoformat(),
        "language": row["language"],
        "tool": is_tool,
    }
