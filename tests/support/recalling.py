"""What tests of reading share: a database into which conversations and memories are put as a flush would leave them.

Only the tables and the vector functions are used, so that these tests fail for what reading does and nothing else.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import psycopg
from psycopg.rows import TupleRow, dict_row

from slowwave import recall
from slowwave.recall import Context, Hit, QuestionVector
from slowwave.recall_requests import ContextRequest, SearchRequest
from slowwave_server.domain.languages import detect, detect_each
from slowwave_server.domain.passages import parts_of

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
Source = tuple[str, int]


@dataclass
class Shelf:
    """Agents, sessions and memories of one test. Scopes: None for the agent's own, "room:NAME" or "team:NAME"."""

    connection: psycopg.Connection[TupleRow]

    def sql(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        with self.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def scope(self, agent: str = "maya", scope: str | None = None, tenant: str = "default") -> int:
        kind, name = ("agent", agent) if scope is None else scope.split(":", 1)
        self.sql("INSERT INTO slowwave.agents (tenant, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", tenant, agent)
        self.sql(
            "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            *(tenant, kind, name),
        )
        rows = self.sql(
            "SELECT id FROM slowwave.scopes WHERE (tenant, kind, name) = (%s, %s, %s)", *(tenant, kind, name)
        )
        return int(rows[0]["id"])

    def say(
        self,
        session: str,
        *lines: str,
        agent: str = "maya",
        scope: str | None = None,
        tenant: str = "default",
        flushed: bool = True,
        at: datetime = NOW - timedelta(days=5),
        speaker: str | None = None,
    ) -> None:
        """Add lines to a session, a minute apart; flushed ones are indexed, the others wait."""
        scope_id = self.scope(agent, scope, tenant)
        self.sql(
            "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seen_at)"
            " SELECT a.id, %s, %s, %s FROM slowwave.agents a WHERE (a.tenant, a.name) = (%s, %s)"
            " ON CONFLICT DO NOTHING",
            *(scope_id, session, at, tenant, agent),
        )
        row = self._session(session, agent, tenant)
        begin = row["last_seq"]
        for place, line in enumerate(lines, start=begin + 1):
            moment = at + timedelta(minutes=place)
            self.sql(
                "INSERT INTO slowwave.events (session_id, seq, turn, kind, role, name, content, happened_at,"
                " recorded_at, day) VALUES (%s, %s, %s, 'user', 'user', %s, %s, %s, %s, %s)",
                *(row["id"], place, place, speaker, line, moment, moment, moment.date()),
            )
        self.sql(
            "UPDATE slowwave.sessions SET last_seq = %s, last_seen_at = %s, dirty_since = coalesce(dirty_since, %s)"
            " WHERE id = %s",
            *(begin + len(lines), at + timedelta(minutes=begin + len(lines)), at, row["id"]),
        )
        if flushed:
            self.flush(session, agent, tenant)

    def flush(self, session: str, agent: str = "maya", tenant: str = "default") -> None:
        """Index what waits, as a flush without an extractor."""
        row = self._session(session, agent, tenant)
        events = self.sql(
            "SELECT seq, content, coalesce(name, role) AS speaker, happened_at FROM slowwave.events"
            " WHERE session_id = %s AND seq > %s - 2 ORDER BY seq",
            *(row["id"], row["processed_until"]),
        )
        languages = detect_each([e["content"] for e in events])
        passages = [
            {"seq": e["seq"], "text": e["content"], "speaker": e["speaker"], "at": e["happened_at"].isoformat()}
            | {"language": language}
            | parts_of(e["content"])
            for e, language in zip(events, languages, strict=True)
        ]
        self.sql(
            "INSERT INTO slowwave.passages (session_id, seq, part, begins, ends, scope_id, search, language)"
            " SELECT %s, v.seq, v.part, v.begins, v.ends, %s, v.search, x.language"
            " FROM slowwave.passage_search_vectors(%s, %s) AS v"
            " JOIN jsonb_to_recordset(%s) AS x (seq bigint, language text) ON x.seq = v.seq WHERE v.seq > %s",
            *(row["id"], row["scope_id"], row["scope_id"], json.dumps(passages), json.dumps(passages)),
            row["processed_until"],
        )
        self.sql("UPDATE slowwave.sessions SET processed_until = last_seq, dirty_since = NULL WHERE id = %s", row["id"])

    def keep(
        self,
        content: str,
        *sources: Source,
        agent: str = "maya",
        scope: str | None = None,
        tenant: str = "default",
        status: str = "active",
        importance: float = 0.5,
        since: datetime = NOW - timedelta(days=5),
        superseded_by: str | None = None,
    ) -> str:
        """Add a memory and answer its id."""
        scope_id = self.scope(agent, scope, tenant)
        (row,) = self.sql(
            "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance,"
            " trust, valid_from, reaffirmed_at, valid_to, recorded_at, superseded_by, language, search)"
            " VALUES (%s, 'fact', %s, %s, %s, 0.8, %s, 'user', %s, %s, %s, %s, %s, %s,"
            " slowwave.memory_search_vector(%s, %s, %s, '{}', %s)) RETURNING id",
            *(scope_id, content, sha256(content.encode()).digest(), status, importance, since, since),
            *(since + timedelta(days=1) if superseded_by else None, NOW, superseded_by, detect(content)),
            *(scope_id, content, since, detect(content)),
        )
        for session, seq in sources:
            self.sql(
                "INSERT INTO slowwave.memory_sources (memory_id, session_id, seq, confidence, importance, trust,"
                " holds_from) VALUES (%s, %s, %s, 0.8, %s, 'user', %s)",
                *(row["id"], self._session(session, agent, tenant)["id"], seq, importance, since),
            )
        return str(row["id"])

    def _session(self, session: str, agent: str, tenant: str) -> dict[str, Any]:
        (row,) = self.sql(
            "SELECT s.* FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
            " WHERE (a.tenant, a.name, s.name) = (%s, %s, %s)",
            *(tenant, agent, session),
        )
        return row


def search(
    connection: psycopg.Connection[Any],
    tenant: str,
    agent: str,
    query: str,
    *,
    vector: QuestionVector | None = None,
    **wanted: Any,
) -> list[Hit]:
    """Search with the arguments of `Memory.search`, best first; without `now`, times in the query are ignored."""
    request = SearchRequest(agent=agent, query=query, **{"order": "relevance"} | wanted)
    return recall.search(connection, tenant, request, vector)


def context(
    connection: psycopg.Connection[Any],
    tenant: str,
    agent: str,
    *,
    vector: QuestionVector | None = None,
    **wanted: Any,
) -> Context:
    """Read a context with the arguments of `Memory.context`."""
    return recall.context(connection, tenant, ContextRequest(agent=agent, **wanted), vector=vector)


def read_so_far(connection: psycopg.Connection[Any], table: str) -> tuple[int, int]:
    """Sequential scans of the table, and rows of it that were fetched through indexes, in this transaction so far."""
    query = (
        "SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE schemaname = 'slowwave' AND relname = %s"
    )
    ((scans, rows),) = connection.execute(query, (table,)).fetchall()
    return scans, rows


@contextmanager
def reading(shelf: Shelf, table: str) -> Iterator[Callable[[], tuple[int, int]]]:
    """A transaction, and a function that answers `read_so_far` of the table since it began."""
    with shelf.connection.transaction():
        scans, rows = read_so_far(shelf.connection, table)

        def since() -> tuple[int, int]:
            now_scans, now_rows = read_so_far(shelf.connection, table)
            return now_scans - scans, now_rows - rows

        yield since
