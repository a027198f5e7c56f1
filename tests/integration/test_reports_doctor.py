"""The doctor finds each thing that can go wrong, says its cure, and stays quiet where nothing is (mistake 30)."""

from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine, insert, text, update

from slowwave.coordination.flush_queue import redis_from_url
from slowwave.coordination.keys import QUEUES, SET_ASIDE_KEY
from slowwave.settings import AutoFlush, Llm, Settings
from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.domain.health_limits import BACKLOG_SECONDS, CONFLICT_OLD, REVIEW_MANY, REVIEW_OLD
from slowwave_server.models import LlmUsage, MemoryConflict, ReviewItem, Session
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.maintenance.heartbeat import SWEPT_KEY, note_sweep
from slowwave_server.services.reports import servers, sweeping, waiting_for_people
from slowwave_server.services.reports.check import Check
from slowwave_server.services.reports.doctor import HealthProbe, examine
from slowwave_server.services.reports.metrics.broker import FirstSeen, read_broker
from slowwave_server.services.reports.spool_check import Spool, check_spool
from tests.support.installation import NOW, Installation, ago

pytestmark = pytest.mark.servers

RULES = AutoFlush()
TODAY = NOW.date()
NOWHERE = "postgresql://slowwave:hidden-word@127.0.0.1:1/slowwave"


def verdicts(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.verdict for check in checks}


def _room(redis: Redis) -> Check:
    return next(check for check in servers.check_broker(redis) if check.name == "broker room")


@pytest.fixture
def installation(engine: Engine) -> Installation:
    made = Installation(engine)
    for tenant in ("default", "acme"):
        agent, scope = made.agent("concierge", tenant=tenant), made.scope("concierge", tenant=tenant)
        made.session(agent, scope, "dirty", ("Maya", "I moved to Lisbon."), flush_due_at=ago(5))
    return made


def stranded(installation: Installation, rules: AutoFlush = RULES) -> Check:
    with installation.engine.connect() as connection:
        return sweeping.check_stranded(connection, rules, now=NOW)


def test_a_database_that_is_away_is_named_without_its_password() -> None:
    engine = make_engine(NOWHERE)
    (check,) = servers.check_postgres(engine)
    assert check.verdict == "problem"
    assert "postgresql://slowwave:***@127.0.0.1:1/slowwave" in check.finding
    assert "hidden-word" not in f"{check}"
    assert check.cure is not None


def test_a_wrong_schema_says_what_to_run(engine: Engine) -> None:
    assert verdicts(list(servers.check_postgres(engine))) == {"postgres": "ok", "schema": "ok"}
    migrate(engine, "0100")
    checks = list(servers.check_postgres(engine))
    assert verdicts(checks) == {"postgres": "ok", "schema": "problem"}
    assert (checks[1].issue, "run `slowwave admin migrate`" in checks[1].finding) == ("schema-behind", True)


def test_a_broker_that_evicts_or_forgets_is_a_problem(redis_client: Redis) -> None:
    assert verdicts(list(servers.check_broker(redis_client))) == {
        "broker": "ok",
        "broker memory": "ok",
        "broker room": "ok",
        "broker disk": "ok",
    }
    redis_client.config_set("maxmemory-policy", "allkeys-lru")
    redis_client.config_set("appendonly", "no")
    try:
        checks = list(servers.check_broker(redis_client))
    finally:
        redis_client.config_set("maxmemory-policy", "noeviction")
        redis_client.config_set("appendonly", "yes")
    found = {name: verdict for name, verdict in verdicts(checks).items() if name != "broker room"}
    assert found == {"broker": "ok", "broker memory": "problem", "broker disk": "problem"}
    assert "allkeys-lru" in checks[1].finding


@pytest.mark.parametrize(("share", "verdict"), [(0.5, "ok"), (0.9, "problem")])
def test_a_nearly_full_broker_is_a_problem(redis_client: Redis, share: float, verdict: str) -> None:
    assert "no limit is set" in _room(redis_client).finding
    used = redis_client.info("memory")["used_memory"]
    redis_client.config_set("maxmemory", int(used / share))
    try:
        room, figures = _room(redis_client), read_broker(redis_client, FirstSeen())
    finally:
        redis_client.config_set("maxmemory", 0)
    assert figures.broker_memory_limit_bytes == int(used / share)
    assert room.verdict == verdict
    assert room.issue == ("broker-full" if verdict == "problem" else None)


def test_keys_that_were_renamed_are_a_problem(redis_client: Redis) -> None:
    assert servers.check_keys(redis_client).verdict == "ok"
    client = redis_from_url(_url(redis_client))
    client.set("flush", "x")
    assert client.llen("flush") == 0, "it goes on with a new key"
    redis_client.hset(SET_ASIDE_KEY, mapping={"junk": "[" * 9999, "other": '{"key": 7}'})
    check = servers.check_keys(redis_client)
    assert (check.issue, check.finding[:22]) == ("broker-keys", "1 key renamed within a")
    assert "'flush' was of type string, not list" in check.finding
    redis_client.delete(*redis_client.keys(f"{SET_ASIDE_KEY}:*"))
    assert servers.check_keys(redis_client).verdict == "ok"


def _url(client: Redis) -> str:
    known = client.connection_pool.connection_kwargs
    return f"redis://{known['host']}:{known['port']}/{known.get('db', 0)}"


def test_a_broker_that_is_away_is_a_problem_and_what_it_holds_is_unknown() -> None:
    nowhere = redis_from_url("redis://127.0.0.1:1/0")
    assert verdicts(list(servers.check_broker(nowhere))) == {"broker": "problem"}
    assert sweeping.check_sweeps(nowhere, RULES).verdict == "unknown"
    assert sweeping.check_workers(None).verdict == "unknown"


def test_mistake_30_a_silent_beat_is_seen(redis_client: Redis) -> None:
    never = sweeping.check_sweeps(redis_client, RULES)
    assert (never.verdict, "no trace of any" in never.finding) == ("problem", True)
    note_sweep(redis_client)
    assert sweeping.check_sweeps(redis_client, RULES).verdict == "ok"
    assert redis_client.ttl(SWEPT_KEY) > 0
    redis_client.set(SWEPT_KEY, float(redis_client.get(SWEPT_KEY) or 0) - 3600)
    silent = sweeping.check_sweeps(redis_client, RULES)
    assert (silent.verdict, "1 h ago" in silent.finding) == ("problem", True)


def test_a_queue_without_a_listener_is_named() -> None:
    everything = {"main@host": frozenset(QUEUES)}
    assert sweeping.check_workers(everything).verdict == "ok"
    some = sweeping.check_workers({"main@host": frozenset(QUEUES) - {"capture", "flush.high"}})
    assert some.verdict == "problem"
    assert "flush.high, capture" in some.finding
    assert "--queues flush.high,capture" in (some.here or "")
    assert "no worker answers" in sweeping.check_workers({}).finding


def test_clocks_that_differ_are_a_problem(engine: Engine, redis_client: Redis) -> None:
    with engine.connect() as connection:
        now = connection.execute(text("SELECT now()")).scalar_one()
    wrong = servers.check_clocks(engine, redis_client, lambda: now - timedelta(hours=1))
    assert wrong.verdict == "problem"
    nowhere = servers.check_clocks(make_engine(NOWHERE), redis_client, lambda: now)
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
        assert waiting_for_people.check_quarantine(connection).verdict == "ok"
        assert waiting_for_people.check_letters(connection).verdict == "ok"
    session = installation.session(
        installation.agent("butler"), installation.scope("butler"), "s", ("Jonas", "???"), processed_until=1
    )
    installation.quarantine(session, 1, "boom")
    installation.letter("slowwave.record_turn", {}, "agent: missing")
    installation.letter("slowwave.record_turn", {}, "not even a tenant", tenant=None)
    with installation.engine.connect() as connection:
        assert waiting_for_people.check_quarantine(connection).finding == "set aside: 1 event of tenant 'default'"
        letters = waiting_for_people.check_letters(connection)
    assert letters.verdict == "problem"
    assert letters.finding == "open: 1 letter of tenant '(unreadable)', 1 letter of tenant 'default'"


def spool(files: int, rejected: int, room: int | None = 10**12) -> list[Check]:
    return list(check_spool(Spool(files, files * 2048, rejected, room), Path("/spool")))


def test_events_in_the_spool_are_a_problem() -> None:
    assert verdicts(spool(0, 0)) == {"spool": "ok"}
    (waiting,) = spool(2, 0)
    assert (waiting.issue, "2 files with 4,096 bytes" in waiting.finding) == ("spool-waits", True)
    (refused,) = spool(0, 1)
    assert (refused.issue, refused.finding) == ("spool-refused", "1 file in /spool")
    assert [check.issue for check in spool(0, 0, room=1000)] == [None, "spool-full"]
    assert verdicts(spool(0, 0, room=None)) == {"spool": "ok"}, "a folder that nobody can measure"


def backlog(installation: Installation, at: datetime = NOW) -> dict[str, str | None]:
    with installation.engine.connect() as connection:
        return {check.name: check.issue for check in sweeping.check_backlog(connection, RULES, now=at)}


def test_a_backlog_and_failing_flushes_are_told_apart(installation: Installation) -> None:
    fine = {"backlog": None, "flushes": None}
    limit = timedelta(seconds=RULES.max_dirty_age_seconds)
    assert backlog(installation) == backlog(installation, NOW + limit) == fine
    late = NOW + limit + timedelta(seconds=BACKLOG_SECONDS)
    assert backlog(installation, late) == fine | {"backlog": "backlog-grows"}
    with installation.engine.begin() as connection:
        connection.execute(update(Session).values(failures=3, not_before=late + timedelta(seconds=60)))
    assert backlog(installation, late) == fine | {"flushes": "flushes-fail"}, "what backs off does not wait for workers"
    assert backlog(installation, late + timedelta(seconds=90)) == fine | {"backlog": "backlog-grows"}


def decisions(installation: Installation, at: datetime) -> dict[str, str | None]:
    with installation.engine.connect() as connection:
        return {check.name: check.issue for check in waiting_for_people.check_decisions(connection, now=at)}


def test_questions_and_contradictions_that_nobody_looks_at_are_told(installation: Installation) -> None:
    fine = {"review": None, "conflicts": None}
    assert decisions(installation, NOW) == fine
    scope = installation.scope("butler", tenant="acme")
    pair = sorted(
        installation.memory(scope, content, []) for content in ("Jonas lives in Leeds.", "Jonas lives in Porto.")
    )
    with installation.engine.begin() as connection:
        conflict = connection.execute(
            insert(MemoryConflict)
            .values(scope_id=scope, memory_id=pair[0], conflicting_memory_id=pair[1], reason="place", created_at=NOW)
            .values(evidence={})
            .returning(MemoryConflict.id)
        ).scalar_one()
        asked = {"tier": "low", "why": "two places", "created_at": NOW, "expires_at": NOW + timedelta(days=14)}
        connection.execute(insert(ReviewItem).values(scope_id=scope, conflict_id=conflict, **asked))
    assert decisions(installation, NOW + REVIEW_OLD) == fine
    assert decisions(installation, NOW + CONFLICT_OLD) == fine | {"review": "review-old"}
    later = NOW + CONFLICT_OLD + timedelta(seconds=1)
    assert decisions(installation, later) == {"review": "review-old", "conflicts": "conflicts-old"}
    with installation.engine.begin() as connection:
        connection.execute(update(ReviewItem).values(state="expired", decided_at=later))
        many = installation.scope("crowd", tenant="acme")
        for number in range(REVIEW_MANY + 1):
            memory = installation.memory(many, f"Box {number} is full.", [])
            asked["created_at"] = later
            connection.execute(insert(ReviewItem).values(scope_id=many, memory_id=memory, **asked))
    assert decisions(installation, later)["review"] == "review-many"
    with installation.engine.begin() as connection:
        connection.execute(update(ReviewItem).values(state="expired", decided_at=later))
        connection.execute(update(MemoryConflict).values(status="dismissed", decided_at=later))
    assert decisions(installation, later) == fine


def test_i7_a_budget_that_is_spent_names_its_tenant_and_its_cap(engine: Engine) -> None:
    caps = Llm(driver="openai", model="tiny", daily_token_budget=10_000, max_output_tokens=500)

    def budget(llm: Llm) -> Check:
        with engine.connect() as connection:
            return waiting_for_people.check_budget(connection, llm, now=NOW)

    def use(tenant: str, tokens: int, *, starts: date = TODAY, agent: str = "") -> None:
        with engine.begin() as connection:
            row = {"period": "day", "starts": starts, "tokens_settled": tokens - 100, "tokens_reserved": 100}
            connection.execute(insert(LlmUsage).values(tenant=tenant, agent=agent, **row))

    use("acme", 9_500)
    use("acme", 10_000, agent="butler")
    use("acme", 10_000, starts=TODAY - timedelta(days=1))
    assert budget(caps).verdict == "ok", "its longest answer fits"
    use("default", 9_501)
    spent = budget(caps)
    assert (spent.issue, spent.finding) == ("budget-spent", "spent: the day's 10,000 tokens of tenant 'default'")
    assert budget(Llm()).verdict == "ok"


def test_the_doctor_says_a_trouble_in_the_words_of_the_catalogue(engine: Engine) -> None:
    nowhere = redis_from_url("redis://127.0.0.1:1/0")
    settings = Settings(spool=Path("/nowhere"))
    checks = list(examine(HealthProbe(settings, engine, nowhere, dict, lambda: NOW + timedelta(days=3650))))
    found = {check.issue: check for check in checks if check.issue is not None}
    assert {"broker-away", "jobs-late"} <= found.keys()
    for name, check in found.items():
        issue = HEALTH_ISSUES[name]
        assert (check.verdict, check.title, check.cure) == ("problem", issue.title, issue.cure)
    assert all(check.title is None for check in checks if check.verdict != "problem")
