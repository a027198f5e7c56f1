"""Nothing of what a reader asks for depends on statistics, of which a young or a restored database has none."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.recalling import NOW, Shelf, context, reading, search

pytestmark = [pytest.mark.servers, pytest.mark.new_database]

MEMORIES = 6000
CONFLICTS = 600


@pytest.fixture
def shelf(database_url: str) -> Iterator[Shelf]:
    """Many memories, a fifth of them contested, of which Postgres has counted nothing."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        shelf = Shelf(connection)
        scope = shelf.scope()
        shelf.sql(
            "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance,"
            " trust, valid_from, reaffirmed_at, recorded_at, search)"
            " SELECT %s, 'fact', c, sha256(c::bytea), 'active', 0.8, (i %% 97) / 100.0, 'user', n, n, n,"
            " slowwave.memory_search_vector(%s, c, n, '{}') FROM generate_series(1, %s) AS i,"
            " LATERAL (SELECT %s::timestamptz - i * interval '1 hour' AS n, 'Walk ' || i || ' by the lake' AS c) AS t",
            *(scope, scope, MEMORIES, NOW),
        )
        shelf.sql(
            "INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence)"
            " SELECT %s, m.id, lead(m.id) OVER (ORDER BY m.valid_from DESC), 'one of them', '{}'"
            " FROM slowwave.memories m ORDER BY m.valid_from DESC LIMIT %s",
            *(scope, CONFLICTS),
        )
        shelf.sql(
            "INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence,"
            " status) SELECT %s, m.id, lead(m.id, 2) OVER (ORDER BY m.valid_from DESC), 'decided', '{}', 'resolved'"
            " FROM slowwave.memories m ORDER BY m.valid_from DESC LIMIT %s",
            *(scope, CONFLICTS),
        )
        yield shelf


def test_a_context_reads_a_few_memories_and_contradictions(shelf: Shelf) -> None:
    with reading(shelf, "memories") as memories, reading(shelf, "memory_conflicts") as conflicts:
        known = context(shelf.connection, "default", "maya", now=NOW, days=1)
        # Sixty from either end of the scope, those that are shown once more, both sides of some 150 contradictions.
        assert memories()[0] == 0
        assert memories()[1] < 600
        assert conflicts()[1] < CONFLICTS
    assert known.memories
    assert len(known.conflicts) == 8


def test_a_search_reads_no_more_than_it_may(shelf: Shelf) -> None:
    with reading(shelf, "memories") as memories:
        hits = search(shelf.connection, "default", "maya", "what was 700?")
        assert memories()[0] == 0
        # Counting stops at 2,000 and searching at 1,500; the best 300 are read again by their keys.
        assert memories()[1] <= 3900
    assert "Walk 700 by the lake" in [hit.content for hit in hits]
