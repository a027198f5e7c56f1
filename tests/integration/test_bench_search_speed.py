"""The data of the bench of search: more passages than memories, found by words and by vectors, with all indexes."""

import psycopg
import pytest

from slowwave_server.models.engine import make_engine
from tests.support.recalling import search

pytestmark = pytest.mark.servers
PASSAGES, MEMORIES = 300, 40


def test_bench_fills_a_scope_with_more_passages_than_memories(module_database: str) -> None:
    from bench.search_speed import (  # noqa: PLC0415 (Postgres, which it imports, warns at first)
        AGENT,
        PER_SESSION,
        WORD_INDEXES,
        Speech,
        fill,
        invent,
    )
    from bench.search_speed_vectors import fill_vectors, vectors_near  # noqa: PLC0415 (numpy is an extra)

    with psycopg.connect(module_database, autocommit=True) as connection:
        before = sorted(connection.execute(WORD_INDEXES).fetchall())
        memories = invent(speech := Speech(5), MEMORIES)
        fill(connection, speech, memories, passages=PASSAGES)
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM slowwave.passages), (SELECT count(*) FROM slowwave.events),"
            " (SELECT count(*) FROM slowwave.memories), (SELECT count(*) FROM slowwave.memory_sources)"
        ).fetchone()
        ((last,),) = connection.execute(
            "SELECT content FROM slowwave.events ORDER BY session_id DESC, seq DESC LIMIT 1"
        ).fetchall()
        hits = [search(connection, "default", AGENT, text)[0].content for text in (memories[-1], last)]
        after = sorted(connection.execute(WORD_INDEXES).fetchall())
        engine = make_engine(module_database)
        fill_vectors(connection, engine, PASSAGES, PER_SESSION)
        engine.dispose()
        (near,) = vectors_near(connection, [7], PER_SESSION)
        first = search(connection, "default", AGENT, "?", vector=near)[0]
        indexed = connection.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'").fetchone()
    assert (first.sources, indexed) == ((("session-1", 8),), (2,))
    assert counts == (PASSAGES, PASSAGES, MEMORIES, MEMORIES)
    assert hits == [memories[-1], last]
    assert (len(before), after) == (2, before)
