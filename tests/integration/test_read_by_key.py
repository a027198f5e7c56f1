"""What is asked for again and again is found by key: how much else there is, and what was planned, do not matter."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Connection, Engine, text

from slowwave.coordination.flush_queue import FlushQueue
from slowwave_server.services.memory_files.outbox import mark_failed, take_waiting
from slowwave_server.services.reports.memories import list_memories
from slowwave_server.services.reports.status import read_status
from tests.support.installation import Installation
from tests.support.recalling import NOW, read_so_far

pytestmark = pytest.mark.servers

SCOPES = 3000
WITH_MEMORIES = 100
DELIVERED = 40_000
WAITING = 5
SESSIONS = 20_000
"""A tenth of them are due."""
USES = 12
"""More often than it takes for a statement to be prepared, and for its plan to be made for any value."""

_SCOPES = (
    "INSERT INTO slowwave.scopes (tenant, kind, name) SELECT 'default', 'team', 't' || i FROM generate_series(1, :n) i"
)
_OUTBOX = (
    "INSERT INTO slowwave.outbox (memory_id, backend, scope_id, changes, delivered, queued_at)"
    " SELECT gen_random_uuid(), 'file', CASE WHEN i > :scopes THEN :one ELSE :one + i - 1 END, 1,"
    " 1, :now FROM generate_series(1, :all) AS i"
)
_WAITS = (
    "UPDATE slowwave.outbox SET delivered = 0 WHERE memory_id IN"
    " (SELECT memory_id FROM slowwave.outbox WHERE scope_id = :one ORDER BY memory_id LIMIT :waiting)"
)
MEMORIES = 3000
_MEMORIES = (
    "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance, trust,"
    " valid_from, reaffirmed_at, recorded_at, search) SELECT k.id, 'fact', 'm' || i, sha256(('m' || i)::bytea),"
    " CASE WHEN i % 1000 = 0 THEN 'review' ELSE 'active' END, 0.8, 0.5, 'user', :now, :now, :now, ''"
    " FROM slowwave.scopes k, generate_series(1, :n) i WHERE (k.kind, k.name) = ('agent', 'maya')"
)


def _read(connection: Connection, table: str) -> tuple[int, int]:
    driver: Any = connection.connection.driver_connection
    return read_so_far(driver, table)


@pytest.fixture
def scope(engine: Engine) -> int:
    """One scope of thousands, for which thousands of memories were delivered and a few wait."""
    with engine.begin() as connection:
        connection.execute(text(_SCOPES), {"n": SCOPES})
        one = int(connection.execute(text("SELECT min(id) FROM slowwave.scopes WHERE kind = 'team'")).scalar_one())
        values = {"scopes": WITH_MEMORIES, "one": one, "all": DELIVERED, "now": NOW}
        connection.execute(text(_OUTBOX), values)
        connection.execute(text("INSERT INTO slowwave.memory_backends (name) VALUES ('file')"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM (ANALYZE) slowwave.outbox, slowwave.scopes"))
        connection.execute(text(_WAITS), {"one": one, "waiting": WAITING})
    return one


def test_what_waits_is_found_among_all_that_was_delivered_however_often_it_is_asked_for(
    engine: Engine, scope: int
) -> None:
    asked: list[Callable[[Connection], object]] = [
        lambda connection: take_waiting(connection, "file", scope),
        lambda connection: mark_failed(connection, "file", scope, "no disk", NOW),
    ]
    for ask in asked:
        with engine.connect() as connection:
            connection.execute(text("SET plan_cache_mode = force_generic_plan"))
            for _ in range(USES):
                ask(connection)
                connection.commit()
            scans, rows = _read(connection, "outbox")
            ask(connection)
            now_scans, now_rows = _read(connection, "outbox")
            assert (now_scans - scans, now_rows - rows < 10 * WAITING) == (0, True)
            connection.rollback()


def test_a_status_reads_the_scopes_of_what_waits_and_no_others(engine: Engine, redis_client: Redis, scope: int) -> None:
    queue = FlushQueue(redis_client, lease_seconds=8, ticket_seconds=60)
    with engine.connect() as connection:
        before = _read(connection, "scopes")
        status = read_status(connection, queue, "default", NOW)
        after = _read(connection, "scopes")
    assert status.backends == {"file": WAITING}
    assert after[0] == before[0]
    assert after[1] - before[1] <= WAITING


def test_list_of_memories_in_review_reads_no_other_memories(engine: Engine) -> None:
    past = Installation(engine)
    past.agent("maya")
    past.scope("maya")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(_MEMORIES), {"n": MEMORIES, "now": NOW})
        connection.execute(text("VACUUM (ANALYZE) slowwave.memories"))
    with engine.connect() as connection:
        connection.execute(text("SET plan_cache_mode = force_generic_plan"))
        for _ in range(USES):
            list_memories(connection, "default", "maya", status="review", limit=25)
        connection.commit()
        scans, rows = _read(connection, "memories")
        found = list_memories(connection, "default", "maya", status="review", limit=25)
        now_scans, now_rows = _read(connection, "memories")
    assert sorted(memory.content for memory in found) == ["m1000", "m2000", "m3000"]
    assert (now_scans, now_rows - rows) == (scans, len(found))


def test_a_sweep_reads_what_it_takes_and_not_all_that_is_due(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("INSERT INTO slowwave.agents (tenant, name) SELECT 'default', 'a' || i FROM generate_series(1, :n) i"),
            {"n": SESSIONS},
        )
        connection.execute(
            text(
                "INSERT INTO slowwave.scopes (tenant, kind, name) SELECT 'default', 'agent', name FROM slowwave.agents"
            )
        )
        connection.execute(
            text(
                "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seq, dirty_since, last_seen_at,"
                " flush_due_at) SELECT a.id, k.id, 's', 1, :then, :then, CASE WHEN a.id % 10 = 0 THEN :then END"
                " FROM slowwave.agents a"
                " JOIN slowwave.scopes k ON (k.kind, k.name) = ('agent', a.name)"
            ),
            {"then": NOW - timedelta(hours=1)},
        )
        connection.execute(text("ANALYZE slowwave.sessions"))
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))  # a hundred times as many would not be read whole
        taken = connection.execute(
            text("SELECT * FROM slowwave.claim_due(20, 5, 30, 90, 600, :now)"), {"now": NOW}
        ).all()
        scans, rows = _read(connection, "sessions")
    assert len(taken) == 20
    assert scans == 0
    # Five hundred in the order of their time, of which it chooses; those that it takes twice more.
    assert rows < 700
