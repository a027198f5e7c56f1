"""What a tick reads does not grow with what there is: open days, stale sessions, the tables that a forget cleans.

Rows are counted by Postgres, never time.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave import Settings
from slowwave.settings import AutoFlush, Days, Sessions
from slowwave_server.services.days.book import ended_days
from slowwave_server.services.days.finalize import finalize_ended
from slowwave_server.services.flush.sweep import wake_stale
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.retention.sessions import bound_sessions
from tests.support.recalling import Shelf

pytestmark = pytest.mark.servers

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
MANY = 3000
_READ = (
    "SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint AS rows"
    " FROM pg_stat_user_tables WHERE schemaname = 'slowwave' AND relname = ANY (%s)"
)


@pytest.fixture
def shelf(database_url: str) -> Iterator[Shelf]:
    """MANY conversations, each with a day of its own behind it, dirty since a minute ago."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        shelf = Shelf(connection)
        shelf.scope()
        shelf.sql(
            "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seq, last_seen_at, dirty_since,"
            " flush_due_at) SELECT a.id, k.id, 's' || n, 1, %s, %s, %s FROM slowwave.agents a, slowwave.scopes k,"
            " generate_series(1, %s) AS n",
            *(NOW, NOW - timedelta(minutes=1), NOW + timedelta(minutes=1), MANY),
        )
        shelf.sql(
            "INSERT INTO slowwave.session_days (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq)"
            " SELECT s.id, %s::date - s.id::integer, s.agent_id, s.scope_id, 1, 1, 1 FROM slowwave.sessions s",
            NOW.date(),
        )
        shelf.sql("ANALYZE")
        yield shelf


def rows_read(shelf: Shelf, *tables: str) -> int:
    """So far, by every connection that is not in the middle of something."""
    shelf.sql("SELECT pg_stat_force_next_flush()")
    shelf.sql("SELECT pg_stat_clear_snapshot()")
    return int(shelf.sql(_READ, list(tables))[0]["rows"])


def test_stale_sessions_are_found_among_many_that_are_dirty(shelf: Shelf, engine: Engine) -> None:
    stale = NOW - timedelta(days=2)
    shelf.sql("UPDATE slowwave.sessions SET dirty_since = %s, last_seen_at = %s WHERE name = 's7'", stale, stale)
    shelf.sql("VACUUM (ANALYZE) slowwave.sessions")
    before = rows_read(shelf, "sessions")
    assert bound_sessions(engine, Sessions(), NOW).closed == 1
    assert wake_stale(engine, AutoFlush(), NOW) == 0
    engine.dispose()
    assert rows_read(shelf, "sessions") - before < 20


def test_the_first_days_that_ended_are_found_without_reading_the_others(shelf: Shelf, engine: Engine) -> None:
    before = rows_read(shelf, "session_days", "days", "agents", "scopes")
    with engine.connect() as connection:
        first = ended_days(connection, now=NOW, limit=10)
        then = ended_days(connection, now=NOW, limit=10, after=first[-1])
    engine.dispose()
    assert rows_read(shelf, "session_days", "days", "agents", "scopes") - before < 500
    days = [ref.day for ref in (*first, *then)]
    assert days == sorted(set(days))
    assert len(days) == 20
    assert days[0] == shelf.sql("SELECT min(day) AS day FROM slowwave.session_days")[0]["day"]


@pytest.mark.long  # 250 days become final; paging itself is checked above
def test_i5_every_page_of_ended_days_is_gone_through_once(shelf: Shelf, engine: Engine) -> None:
    # Days without a single event: 250 of them fill three pages.
    shelf.sql("DELETE FROM slowwave.session_days")
    shelf.sql(
        "INSERT INTO slowwave.days (agent_id, scope_id, day) SELECT a.id, k.id, %s::date - n FROM slowwave.agents a,"
        " slowwave.scopes k, generate_series(1, 250) AS n",
        NOW.date(),
    )
    done = [report.day.day for report in finalize_ended(engine, Days(), now=NOW).days]
    assert done == [date(2024, 5, 10) - timedelta(days=n) for n in range(250, 0, -1)]
    assert shelf.sql("SELECT 1 AS x FROM slowwave.days WHERE status <> 'final'") == []


def test_a_forget_reads_no_table_whole_to_clean_it(
    shelf: Shelf, engine: Engine, redis_client: Redis, database_url: str, valkey_url: str
) -> None:
    shelf.sql("VACUUM (ANALYZE) slowwave.sessions")
    analyzed = "SELECT last_vacuum, last_analyze FROM pg_stat_user_tables WHERE relid = 'slowwave.sessions'::regclass"
    (before,) = shelf.sql(analyzed)
    settings = Settings(database_url=database_url, broker_url=valkey_url)
    report = Forgetter(engine, redis_client, settings, lambda: NOW).forget(
        Target.of_session("default", "maya", "s1"), by="test"
    )
    assert report.problems == ()
    shelf.sql("SELECT pg_stat_clear_snapshot()")
    (after,) = shelf.sql(analyzed)
    assert after["last_vacuum"] > before["last_vacuum"]
    assert after["last_analyze"] == before["last_analyze"]
