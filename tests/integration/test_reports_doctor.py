"""The doctor finds each thing that can go wrong, says its cure, and stays quiet where nothing is (mistake 30)."""

from datetime import timedelta

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from models.engine import make_engine
from models.schema import migrate
from services.reports import doctor
from services.reports.doctor import Check
from slowwave.coordination.flush_queue import redis_from_url
from slowwave.coordination.heartbeat import SWEPT_KEY, note_sweep
from slowwave.coordination.keys import QUEUES
from slowwave.settings import AutoFlush
from slowwave.spool import Spooled
from tests.installation import NOW, Installation, ago

pytestmark = pytest.mark.servers

RULES = AutoFlush()
NOWHERE = "postgresql://slowwave:hidden-word@127.0.0.1:1/slowwave"


def verdicts(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.verdict for check in checks}


@pytest.fixture
def installation(engine: Engine) -> Installation:
    made = Installation(engine)
    for tenant in ("default", "acme"):
        agent, scope = made.agent("concierge", tenant=tenant), made.scope("concierge", tenant=tenant)
        made.session(agent, scope, "dirty", ("Maya", "I moved to Lisbon."), flush_due_at=ago(5))
    return made


def stranded(installation: Installation, rules: AutoFlush = RULES) -> Check:
    with installation.engine.connect() as connection:
        return doctor.check_stranded(connection, rules, now=NOW)


def test_a_database_that_is_away_is_named_without_its_password() -> None:
    engine = make_engine(NOWHERE)
    (check,) = doctor.check_postgres(engine)
    assert check.verdict == "problem"
    assert "postgresql://slowwave:***@127.0.0.1:1/slowwave" in check.finding
    assert "hidden-word" not in f"{check}"
    assert check.cure is not None


def test_a_wrong_schema_says_what_to_run(engine: Engine) -> None:
    assert verdicts(list(doctor.check_postgres(engine))) == {"postgres": "ok", "schema": "ok"}
    migrate(engine, "0001")
    checks = list(doctor.check_postgres(engine))
    assert verdicts(checks) == {"postgres": "ok", "schema": "problem"}
    assert "slowwave migrate" in (checks[1].cure or "")


def test_a_broker_that_evicts_or_forgets_is_a_problem(redis_client: Redis) -> None:
    assert verdicts(list(doctor.check_broker(redis_client))) == {
        "broker": "ok",
        "broker memory": "ok",
        "broker disk": "ok",
    }
    redis_client.config_set("maxmemory-policy", "allkeys-lru")
    redis_client.config_set("appendonly", "no")
    try:
        checks = list(doctor.check_broker(redis_client))
    finally:
        redis_client.config_set("maxmemory-policy", "noeviction")
        redis_client.config_set("appendonly", "yes")
    assert verdicts(checks) == {"broker": "ok", "broker memory": "problem", "broker disk": "problem"}
    assert "allkeys-lru" in checks[1].finding


def test_a_broker_that_is_away_is_a_problem_and_what_it_holds_is_unknown() -> None:
    nowhere = redis_from_url("redis://127.0.0.1:1/0")
    assert verdicts(list(doctor.check_broker(nowhere))) == {"broker": "problem"}
    assert doctor.check_sweeps(nowhere, RULES).verdict == "unknown"
    assert doctor.check_workers(None).verdict == "unknown"


def test_mistake_30_a_silent_beat_is_seen(redis_client: Redis) -> None:
    never = doctor.check_sweeps(redis_client, RULES)
    assert (never.verdict, "no trace of any" in never.finding) == ("problem", True)
    note_sweep(redis_client)
    assert doctor.check_sweeps(redis_client, RULES).verdict == "ok"
    assert redis_client.ttl(SWEPT_KEY) > 0
    redis_client.set(SWEPT_KEY, float(redis_client.get(SWEPT_KEY) or 0) - 3600)
    silent = doctor.check_sweeps(redis_client, RULES)
    assert (silent.verdict, "1 h ago" in silent.finding) == ("problem", True)


def test_a_queue_without_a_listener_is_named() -> None:
    everything = {"main@host": frozenset(QUEUES)}
    assert doctor.check_workers(everything).verdict == "ok"
    some = doctor.check_workers({"main@host": frozenset(QUEUES) - {"capture", "flush.high"}})
    assert some.verdict == "problem"
    assert "flush.high, capture" in some.finding
    assert "-Q flush.high,capture" in (some.cure or "")
    assert "no worker answers" in doctor.check_workers({}).finding


def test_clocks_that_differ_are_a_problem(engine: Engine, redis_client: Redis) -> None:
    with engine.connect() as connection:
        now = connection.execute(text("SELECT now()")).scalar_one()
    wrong = doctor.check_clocks(engine, redis_client, lambda: now - timedelta(hours=1))
    assert wrong.verdict == "problem"
    nowhere = doctor.check_clocks(make_engine(NOWHERE), redis_client, lambda: now)
    assert nowhere.verdict == "unknown"


def test_mistake_15_what_is_overdue_while_nothing_is_flushed_is_counted_by_tenant(installation: Installation) -> None:
    assert stranded(installation).verdict == "ok"
    agent, scope = installation.agent("butler", tenant="acme"), installation.scope("butler", tenant="acme")
    session = installation.session(agent, scope, "overdue", ("Jonas", "The lift is broken."), flush_due_at=ago(60))
    found = stranded(installation)
    assert found.verdict == "problem"
    assert found.finding == "due for more than 15 s: 1 session of tenant 'acme'"
    assert stranded(installation, AutoFlush(enabled=False)).verdict == "ok"
    installation.flush(session, (1, 1), committed_at=ago(3))
    backlog = stranded(installation)
    assert (backlog.verdict, "a backlog that is being worked off" in backlog.finding) == ("ok", True)


def test_a_dirty_session_that_is_never_due_is_stranded_whatever_else_goes_on(installation: Installation) -> None:
    agent, scope = installation.agent("butler"), installation.scope("butler")
    session = installation.session(agent, scope, "lost", ("Jonas", "The lift is broken."), flush_due_at=None)
    installation.flush(session, (1, 1), committed_at=ago(3))
    found = stranded(installation)
    assert (found.verdict, found.finding) == ("problem", "dirty and never due: 1 session of tenant 'default'")


def test_what_was_set_aside_and_refused_is_counted(installation: Installation) -> None:
    with installation.engine.connect() as connection:
        assert doctor.check_quarantine(connection).verdict == "ok"
        assert doctor.check_letters(connection).verdict == "ok"
    session = installation.session(
        installation.agent("butler"), installation.scope("butler"), "s", ("Jonas", "???"), processed_until=1
    )
    installation.quarantine(session, 1, "boom")
    installation.letter("slowwave.record_turn", {}, "agent: missing")
    installation.letter("slowwave.record_turn", {}, "not even a tenant", tenant=None)
    with installation.engine.connect() as connection:
        assert doctor.check_quarantine(connection).finding == "set aside: 1 event of tenant 'default'"
        letters = doctor.check_letters(connection)
    assert letters.verdict == "problem"
    assert letters.finding == "open: 1 letter of tenant '(unreadable)', 1 letter of tenant 'default'"


def test_events_in_the_spool_are_a_problem() -> None:
    assert doctor.check_spool(Spooled(0, 0, 0), "/spool").verdict == "ok"
    waiting = doctor.check_spool(Spooled(2, 4096, 0), "/spool")
    assert (waiting.verdict, "2 files with 4,096 bytes" in waiting.finding) == ("problem", True)
    refused = doctor.check_spool(Spooled(0, 0, 1), "/spool")
    assert (refused.verdict, "1 file *.rejected in /spool" in refused.finding) == ("problem", True)
