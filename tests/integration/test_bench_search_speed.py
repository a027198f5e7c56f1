"""The data of the bench of search: more passages than memories, both found, with the indexes that migrations make."""

import psycopg
import pytest

from tests.support.recalling import search

pytestmark = pytest.mark.servers
PASSAGES, MEMORIES = 300, 40


def test_bench_fills_a_scope_with_more_passages_than_memories(module_database: str) -> None:
    from bench.search_speed import (  # noqa: PLC0415 (Postgres, which it imports, warns at first)
        AGENT,
        WORD_INDEXES,
        Speech,
        fill,
        invent,
    )

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
    assert counts == (PASSAGES, PASSAGES, MEMORIES, MEMORIES)
    assert hits == [memories[-1], last]
    assert (len(before), after) == (2, before)
