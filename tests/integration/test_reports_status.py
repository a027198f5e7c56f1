"""`status` adds up, for one tenant alone (I8)."""

import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.identity import SessionRef
from slowwave_server.services.reports.status import DIRTY_READ, read_status
from tests.support.installation import NOW, Installation, ago

pytestmark = pytest.mark.servers


@pytest.fixture
def installation(engine: Engine) -> Installation:
    made = Installation(engine)
    for tenant in ("default", "other"):
        agent, scope = made.agent("concierge", tenant=tenant), made.scope("concierge", tenant=tenant)
        said = [("Maya", "I moved to Lisbon.")] * 3
        clean = made.session(agent, scope, "clean", *said, processed_until=3)
        for seq, lag in enumerate((1, 2, 9), start=1):
            made.flush(clean, (seq, seq), oldest_recorded_at=ago(60 + lag), committed_at=ago(60))
        made.flush(clean, (7, 7), outcome="no_reply", oldest_recorded_at=ago(9000), committed_at=ago(7200))
        made.session(agent, scope, "dirty", *said, processed_until=1, dirty_since=ago(90), flush_due_at=ago(5))
        made.session(agent, scope, "failing", *said, dirty_since=ago(30), not_before=ago(-9), flush_due_at=ago(-9))
        made.letter("slowwave.record_turn", {}, "agent: missing", tenant=tenant)
    return made


def test_status_counts_what_waits_and_how_long_memory_takes(installation: Installation, redis_client: Redis) -> None:
    queue = FlushQueue(redis_client)
    queue.offer(SessionRef("default", "concierge", "dirty"), "high")
    with installation.engine.connect() as connection:
        status = read_status(connection, queue, "default", NOW)
    assert status.queues is not None
    assert status.queues["flush.high"] == 1
    assert (status.dirty_sessions, status.events_waiting, status.overdue, status.backing_off) == (2, 5, 1, 1)
    assert status.oldest_dirty_seconds == 90
    assert status.flushes == {"stored": 3, "no_reply": 0, "quarantined": 0}
    assert status.lag.p50_seconds == 2
    assert status.lag.p95_seconds == pytest.approx(8.3)
    assert (status.quarantined, status.dead_letters) == (0, 1)


def test_events_in_languages_without_rules_are_counted(installation: Installation, redis_client: Redis) -> None:
    with installation.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO slowwave.passages (session_id, seq, scope_id, search, language)"
            " SELECT s.id, x.seq, s.scope_id, '', x.language FROM slowwave.sessions s"
            " JOIN slowwave.agents a ON a.id = s.agent_id AND a.tenant = 'default'"
            " CROSS JOIN unnest('{1,2,3,4,5}'::bigint[], '{pl,ko,pl,de,en}'::text[]) AS x (seq, language)"
            " WHERE s.name = 'clean'"
        )
        status = read_status(connection, FlushQueue(redis_client), "default", NOW)
        other = read_status(connection, FlushQueue(redis_client), "other", NOW)
    assert status.without_rules == {"Polish": 2, "Korean": 1}
    assert other.without_rules == {}


def test_an_empty_installation_has_no_lag_and_a_missing_broker_is_said(engine: Engine) -> None:
    queue = FlushQueue(redis_from_url("redis://127.0.0.1:1/0"))
    with engine.connect() as connection:
        status = read_status(connection, queue, "default", NOW)
    assert status.queues is None
    assert status.lag.p50_seconds is None
    assert (status.dirty_sessions, status.events_waiting, status.oldest_dirty_seconds) == (0, 0, None)


def test_a_backlog_is_counted_up_to_a_bound_and_says_so(installation: Installation, redis_client: Redis) -> None:
    with installation.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seq, dirty_since, last_seen_at)"
            " SELECT s.agent_id, s.scope_id, 'late ' || n, 2, now() - interval '1 year', now() - interval '1 year'"
            " FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id AND a.tenant = 'default'"
            " CROSS JOIN generate_series(1, %s) AS n WHERE s.name = 'dirty'",
            (DIRTY_READ,),
        )
        status = read_status(connection, FlushQueue(redis_client), "default", NOW)
        other = read_status(connection, FlushQueue(redis_client), "other", NOW)
    assert (status.dirty_sessions, status.more_dirty, status.events_waiting) == (DIRTY_READ, True, 2 * DIRTY_READ)
    assert (other.more_dirty, other.dirty_sessions) == (False, 2)
