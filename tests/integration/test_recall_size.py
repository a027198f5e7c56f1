"""In a scope of 20,000 documents: rare words name the candidates, through the index, and little is read."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Engine, text

from slowwave.recall.ranking import RANKING
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.search.statistics import refresh_statistics, scopes_to_refresh
from tests.support.recalling import NOW, Shelf, context, reading, search

pytestmark = [pytest.mark.long, pytest.mark.servers]

HALF = 10_000
# Every sentence holds "walk"; one in five a colour word, one in a hundred a number word, one in a thousand a heron.
SENTENCE = """'Today walk ' || CASE mod(i, 5) WHEN 0 THEN 'crimson ' WHEN 1 THEN 'azure ' ELSE '' END
    || 'tree' || mod(i, 100) || CASE mod(i, 1000) WHEN 7 THEN ' heron' ELSE '' END || ' w' || i"""


@pytest.fixture
def plain(database_url: str, engine: Engine) -> Iterator[Shelf]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        shelf = Shelf(connection)
        shelf.say("small", "A heron in another scope, on a walk.", agent="jonas")
        shelf.say("s", "x")
        yield shelf


@pytest.fixture
def large(plain: Shelf) -> Shelf:
    shelf = plain
    scope = shelf.scope()
    session = shelf.sql("SELECT id FROM slowwave.sessions WHERE name = 's'")[0]["id"]
    shelf.sql(
        f"INSERT INTO slowwave.events (session_id, seq, turn, kind, role, content, happened_at, recorded_at, day)"
        f" SELECT %s, i, i, 'user', 'user', {SENTENCE}, n, n, n::date"
        f" FROM generate_series(2, %s) AS i, LATERAL (SELECT %s::timestamptz - i * interval '1 hour' AS n) AS t",
        *(session, HALF, NOW),
    )
    shelf.sql(
        "INSERT INTO slowwave.passages (session_id, seq, scope_id, search)"
        " SELECT session_id, seq, %s, slowwave.passage_search_vector(%s, content, name, happened_at)"
        " FROM slowwave.events WHERE session_id = %s AND seq > 1",
        *(scope, scope, session),
    )
    shelf.sql(
        f"INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance,"
        f" trust, valid_from, reaffirmed_at, recorded_at, search)"
        f" SELECT %s, 'fact', c, sha256(c::bytea), 'active', 0.8, (i %% 97) / 100.0, 'user', n, n, n,"
        f" slowwave.memory_search_vector(%s, c, n, '{{}}')"
        f" FROM generate_series(1, %s) AS i, LATERAL (SELECT %s::timestamptz - i * interval '1 hour' AS n,"
        f" {SENTENCE} || ' kept' AS c) AS t",
        *(scope, scope, HALF, NOW),
    )
    shelf.sql("ANALYZE")
    flush(shelf, 2, HALF)
    return shelf


def flush(shelf: Shelf, first: int, last: int) -> None:
    """A line of the ledger, and the watermark."""
    shelf.sql(
        "INSERT INTO slowwave.flushes (session_id, from_seq, to_seq, outcome, extractor, extractor_version, attempt,"
        " oldest_recorded_at, started_at, committed_at)"
        " SELECT id, %s, %s, 'stored', 'rules', '1', 1, %s, %s, %s FROM slowwave.sessions"
        " WHERE name = 's'",
        *(first, last, NOW, NOW, NOW),
    )
    shelf.sql("UPDATE slowwave.sessions SET last_seq = %s, processed_until = %s WHERE name = 's'", last, last)


def count(engine: Engine, scope: int) -> int:
    with engine.begin() as connection:
        return refresh_statistics(connection, scope, NOW)


def test_search_reads_the_rare_words_through_the_index(large: Shelf, engine: Engine) -> None:
    count(engine, large.scope())
    with reading(large, "passages") as passages, reading(large, "memories") as memories:
        hits = search(large.connection, "default", "maya", "heron on a crimson walk by tree7")
        for scans, rows in (passages(), memories()):
            assert scans == 0
            assert 0 < rows < 500
    assert len(hits) == 10
    assert all("heron" in hit.content for hit in hits)


def test_search_that_was_never_counted_is_bounded_too(large: Shelf) -> None:
    with reading(large, "passages") as passages, reading(large, "memories") as memories:
        hits = search(large.connection, "default", "maya", "walk")
        for scans, rows in (passages(), memories()):
            # Counting stops at 2,000 and searching at 1,500.
            assert scans == 0
            assert rows <= 4200
    assert len(hits) == 10


def test_i8_what_very_many_hold_is_looked_for_among_the_latest_of_the_scope_alone(large: Shelf, engine: Engine) -> None:
    count(engine, large.scope())
    with reading(large, "passages") as passages, reading(large, "memories") as memories:
        hits = search(large.connection, "default", "maya", "walk")
        assert (passages()[0], memories()[0]) == (0, 0)
        # Of 10,000 each: 1,000 events; 500 memories from either end, read once more where they match.
        assert passages()[1] < 1100
        assert memories()[1] < 2700
    assert len(hits) == 10
    assert all("walk" in hit.content for hit in hits)

    # As if there were a hundred times as many: even who holds them together is too much to look up.
    large.sql("UPDATE slowwave.common_terms SET documents = documents * 100")
    large.sql("UPDATE slowwave.scopes SET counted_documents = counted_documents * 100 WHERE id = %s", large.scope())
    with reading(large, "passages") as passages, reading(large, "memories") as memories:
        hits = search(large.connection, "default", "maya", "a crimson walk today")
        assert passages()[1] < 1100
        assert memories()[1] < 2700
    assert len(hits) == 10
    assert all("walk crimson" in hit.content for hit in hits)
    # I8: of another scope they are those of that scope, and no other is read for them.
    small = large.scope("jonas")
    with reading(large, "passages") as passages, reading(large, "memories") as memories:
        rows = large.sql(
            "SELECT * FROM"
            " slowwave.search(%s, '', %s::text[]::tsquery[], '{2}', '{wal}', 2, NULL, true, 10, %s, false, %s)",
            *([small], [f"'{small}:walk'"], RANKING.to_json(), f"'{small}:walk' | '{large.scope()}:walk'"),
        )
        assert passages()[1] + memories()[1] < 10
    assert [row["content"] for row in rows] == ["A heron in another scope, on a walk."]


def test_context_reads_a_few_of_many_dirty_sessions_open_days_and_agents(plain: Shelf) -> None:
    plain.sql(
        "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seq, dirty_since, last_seen_at)"
        " SELECT s.agent_id, s.scope_id, 'many' || i, 1, %s, %s::timestamptz + i * interval '1 second'"
        " FROM slowwave.sessions s, generate_series(1, 500) AS i WHERE s.name = 's'",
        *(NOW, NOW),
    )
    plain.sql(
        "INSERT INTO slowwave.events (session_id, seq, turn, kind, role, content, happened_at, recorded_at, day)"
        " SELECT id, 1, 1, 'user', 'user', 'In ' || name, last_seen_at, last_seen_at, last_seen_at::date"
        " FROM slowwave.sessions WHERE name LIKE 'many%%'"
    )
    plain.sql(
        "INSERT INTO slowwave.session_days (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq,"
        " summarized, pending) SELECT id, d, agent_id, scope_id, 1, 1, 1, 0, true"
        " FROM slowwave.sessions, unnest(%s::date[]) AS d WHERE name LIKE 'many%%'",
        [NOW.date(), NOW.date() - timedelta(days=1)],
    )
    plain.sql(
        "INSERT INTO slowwave.agents (tenant, name) SELECT 'default', 'one' || i FROM generate_series(1, 500) AS i"
    )
    plain.sql(
        "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text, lines,"
        " made_by, summarizer) SELECT a.id, %s, %s, v, false, 1, 1, 'Version ' || v || '.', '[]', 'rules', 'rules/1'"
        " FROM slowwave.agents a, generate_series(1, 2) AS v WHERE a.name LIKE 'one%%'",
        *(plain.scope(), NOW.date()),
    )
    plain.sql("ANALYZE slowwave.sessions, slowwave.session_days, slowwave.day_summaries")
    tables = (reading(plain, name) for name in ("sessions", "session_days", "day_summaries"))
    with next(tables) as sessions, next(tables) as days, next(tables) as summaries:
        known = context(plain.connection, "default", "maya", now=NOW + timedelta(hours=1), days=2)
        # 50 of each day, each with its session, and the last six dirty ones.
        assert 100 <= days()[1] < 120
        assert sessions()[1] < 300
        # Two versions of sixty agents, and of each the newer one with its lines.
        assert 60 <= summaries()[1] < 200
    assert "In many500" in str(known)
    assert ("Version 2." in str(known), "Version 1." in str(known)) == (True, False)


def test_a_question_of_common_words_finds_documents_that_hold_them_together(large: Shelf, engine: Engine) -> None:
    count(engine, large.scope())
    hits = search(large.connection, "default", "maya", "a walk by the crimson tree35")
    assert all("crimson tree35" in hit.content for hit in hits)
    assert search(large.connection, "default", "maya", "walk")


def test_common_words_are_those_of_many_documents_in_their_scope_alone(large: Shelf, engine: Engine) -> None:
    scope = large.scope()
    counted = count(engine, scope)
    common = {row["term"]: row["documents"] for row in large.sql("SELECT * FROM slowwave.common_terms")}
    assert counted == len(common)
    assert {row["scope_id"] for row in large.sql("SELECT scope_id FROM slowwave.common_terms")} == {scope}
    assert common["walk"] == 2 * HALF - 1
    assert common["crimson"] == pytest.approx(2 * HALF / 5, abs=3)
    assert common["tree7"] == pytest.approx(2 * HALF / 100, abs=3)
    assert "heron" not in common
    (row,) = large.sql("SELECT * FROM slowwave.scopes WHERE id = %s", scope)
    assert (row["counted_documents"], row["counted_at"]) == (2 * HALF, NOW)
    assert 6 < row["counted_mean_length"] < 12


def test_scopes_are_counted_when_they_are_large_and_again_when_they_have_grown(large: Shelf, engine: Engine) -> None:
    def due() -> list[int]:
        with engine.begin() as connection:
            return list(scopes_to_refresh(connection))

    scope = large.scope()
    assert due() == [scope]
    count(engine, scope)
    assert due() == []
    flush(large, HALF + 1, HALF + 1098)
    assert due() == []
    flush(large, HALF + 1099, HALF + 1100)
    assert due() == [scope]


def test_growth_is_read_off_the_flushes_since_the_last_look(large: Shelf, engine: Engine) -> None:
    for seq in range(HALF + 1, HALF + 20):
        flush(large, seq, seq)
    with engine.begin() as connection:
        scopes_to_refresh(connection)
    with large.connection.transaction(), reading(large, "flushes") as flushes, reading(large, "sessions") as sessions:
        large.sql("SET LOCAL enable_seqscan = off")  # a table of twenty rows would be read whole
        flush(large, HALF + 20, HALF + 39)
        (before,) = large.sql("SELECT flushed_events AS events FROM slowwave.scopes WHERE id = %s", large.scope())
        seen = flushes(), sessions()
        large.sql("SELECT slowwave.update_scope_counters(100)")
        assert [now[1] - then[1] for now, then in zip((flushes(), sessions()), seen, strict=True)] == [1, 1]
        (after,) = large.sql("SELECT flushed_events AS events FROM slowwave.scopes WHERE id = %s", large.scope())
        assert after["events"] - before["events"] == 20
        large.sql("SELECT slowwave.update_scope_counters(100)")
        assert large.sql("SELECT flushed_events AS events FROM slowwave.scopes WHERE id = %s", large.scope()) == [after]


def test_a_scope_that_somebody_forgets_from_is_not_counted_meanwhile(large: Shelf, engine: Engine) -> None:
    scope = large.scope()
    with engine.connect() as forgetting:
        forgetting.execute(text("SELECT FROM slowwave.scopes WHERE id = :id FOR NO KEY UPDATE"), {"id": scope})
        assert count(engine, scope) == 0
        forgetting.rollback()
    # Whoever only refers to the scope, as a capture does, neither waits nor is waited for.
    with engine.connect() as capturing:
        capturing.execute(text("SELECT FROM slowwave.scopes WHERE id = :id FOR KEY SHARE"), {"id": scope})
        assert count(engine, scope) > 0
        capturing.rollback()


def test_forgetting_a_session_keeps_the_counts_of_common_words(large: Shelf, engine: Engine) -> None:
    scope = large.scope()
    large.say("t", *(f"Today walk crimson tree{n % 100} quokka" for n in range(80)))
    large.sql(
        "INSERT INTO slowwave.passages (session_id, seq, scope_id, search)"
        " SELECT e.session_id, e.seq, %s, slowwave.passage_search_vector(%s, e.content, e.name, e.happened_at)"
        " FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id WHERE s.name = 't'"
        " ON CONFLICT DO NOTHING",
        *(scope, scope),
    )
    with engine.begin() as connection:
        assert list(scopes_to_refresh(connection)) == [scope]
    count(engine, scope)
    words = "SELECT term, documents FROM slowwave.common_terms WHERE scope_id = %s"
    before = {row["term"]: row["documents"] for row in large.sql(words, scope)}
    assert before["quokka"] == 80
    erase(engine, Target.of_session("default", "maya", "t"), clock=lambda: NOW, by="test", dry_run=False)
    after = {row["term"]: row["documents"] for row in large.sql(words, scope)}
    # I10: no word outlives the last who said it; the others are counted anew at the next look, and hold until then.
    assert "quokka" not in after
    assert after["walk"] == before["walk"] - 80
    assert after["crimson"] == before["crimson"] - 80
    with engine.begin() as connection:
        assert list(scopes_to_refresh(connection)) == [scope]


def test_a_word_that_is_no_longer_common_is_forgotten(large: Shelf, engine: Engine) -> None:
    scope = large.scope()
    count(engine, scope)
    large.sql("DELETE FROM slowwave.passages")
    large.sql("UPDATE slowwave.memories SET status = 'archived' WHERE content LIKE '%%crimson%%'")
    count(engine, scope)
    common = {row["term"] for row in large.sql("SELECT term FROM slowwave.common_terms")}
    assert "crimson" not in common
    assert "walk" in common


def test_an_unknown_scope_has_no_common_words(engine: Engine) -> None:
    assert count(engine, 404) == 0


def test_context_reads_both_ends_of_the_scope_through_indexes(large: Shelf, engine: Engine) -> None:
    count(engine, large.scope())
    with reading(large, "memories") as memories:
        known = context(large.connection, "default", "maya", now=NOW, days=1)
        scans, rows = memories()
    assert scans == 0
    assert rows < 400
    assert len(known.memories) == 15
    assert all(NOW - hit.valid_from <= timedelta(days=1) for hit in known.recent)
    assert len(known.recent) > 5
