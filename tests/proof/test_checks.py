"""What is checked after chaos can fail: each check finds what is planted for it, and nothing in a healthy world."""

import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import StaticPool

from proof.chaos import (
    checks_budget,
    checks_changes,
    checks_days,
    checks_events,
    checks_facts,
    checks_forgotten,
    checks_progress,
    checks_redis,
    checks_walls,
    checks_windows,
)
from proof.chaos.checks import Check, Finding, check_all
from proof.chaos.evidence import Evidence
from proof.chaos.journal import read
from slowwave.errors import StoreUnavailable
from slowwave_server.models.engine import make_engine
from tests.proof import healthy

pytestmark = pytest.mark.servers

Plant = Callable[[Evidence], object]


@pytest.fixture(scope="module")
def prepared(
    postgres_url: str, template_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """The healthy world: the name of its database, which nobody is connected to, and its folder."""
    name, folder = f"world_{uuid.uuid4().hex[:8]}", tmp_path_factory.mktemp("healthy")
    redis = Redis.from_url(valkey_url)
    redis.flushall()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
        healthy.fill(postgres_url.replace("/postgres?", f"/{name}?"), valkey_url, redis, folder)
        # Readers have connections of their own, which see nothing that is taken back.
        connection.execute(f"CREATE DATABASE {name}_leaky TEMPLATE {name} STRATEGY wal_log")
        yield name, folder
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP DATABASE {name}_leaky WITH (FORCE)")
    redis.close()


@pytest.fixture(scope="module")
def healthy_engine(prepared: tuple[str, Path], postgres_url: str) -> Iterator[Engine]:
    """One connection to the world on which each test has a transaction of its own, taken back at its end."""
    url = make_engine(postgres_url.replace("/postgres?", f"/{prepared[0]}?")).url
    engine = create_engine(
        url,
        poolclass=StaticPool,
        pool_reset_on_return=None,
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
    )
    yield engine
    engine.dispose()


@pytest.fixture
def evidence(
    prepared: tuple[str, Path], healthy_engine: Engine, valkey_url: str, redis_client: Redis, tmp_path: Path
) -> Iterator[Evidence]:
    """The healthy world, of this test alone."""
    folder = tmp_path / "run"
    shutil.copytree(prepared[1], folder)
    url = healthy_engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    healthy.note_settings(url, valkey_url, folder)
    with healthy_engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        yield Evidence(healthy_engine, redis_client, folder, read(folder), datetime.now(UTC), patience=0.1)
        connection.exec_driver_sql("ROLLBACK")


def sql(*statements: str) -> Plant:
    """A plant that is made of statements, each of which changes something."""

    def plant(evidence: Evidence) -> None:
        with evidence.engine.connect() as connection:
            for statement in statements:
                changed = connection.execute(text(statement)).rowcount
                assert changed != 0, f"nothing was planted: {statement}"

    return plant


def key(name: str, value: str = "1", seconds: int | None = 60) -> Plant:
    return lambda evidence: evidence.redis.set(name, value, ex=seconds)


def line(file: str, **fields: object) -> Plant:
    """A plant in a file of the run."""

    def plant(evidence: Evidence) -> None:
        path = evidence.folder / file
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(fields) + "\n")

    return plant


def forgotten_word(evidence: Evidence) -> str:
    return next(said.word for one in evidence.forgotten for said in one.call.lines if said.word)


def forgotten_in(column: str, table: str) -> Plant:
    """A word that was forgotten, in small letters, in some row."""

    def plant(evidence: Evidence) -> None:
        said = forgotten_word(evidence).lower()
        sql(f"UPDATE slowwave.{table} SET {column.format(said)}")(evidence)

    return plant


def of_another_scope(evidence: Evidence) -> None:
    """A memory of one agent holds a word that was said to another."""
    said = next(one.call.lines[0].word for one in evidence.certain if one.call.agent == "agent-1-0" and one.call.lines)
    sql(f"UPDATE slowwave.memories SET content = content || ' {said}' WHERE id = ({_MEMORY})")(evidence)


def never_told(evidence: Evidence) -> None:
    """The journal of a call is gone, so that its events are nobody's."""
    said = (
        at for at, one in enumerate(evidence.told) if one.done and one.call.kind == "turn" and one.call.producer == 1
    )
    del evidence.told[next(said)]


_OWN = "SELECT id FROM slowwave.scopes WHERE (tenant, kind, name) = ('default', 'agent', 'agent-0-0')"
_OTHER = "SELECT id FROM slowwave.scopes WHERE (tenant, kind, name) = ('globex', 'agent', 'agent-0-0')"
_ROOM = "SELECT id FROM slowwave.scopes WHERE (tenant, kind, name) = ('default', 'room', 'hall-0')"
_ROOM_SESSION = f"SELECT id FROM slowwave.sessions WHERE scope_id = ({_ROOM}) ORDER BY id LIMIT 1"
_SESSION = f"SELECT id FROM slowwave.sessions WHERE scope_id = ({_OWN}) ORDER BY last_seq DESC LIMIT 1"
_MEMORY = f"SELECT id FROM slowwave.memories WHERE scope_id = ({_OWN}) AND superseded_by IS NULL ORDER BY id LIMIT 1"
_ELSEWHERE = f"SELECT id FROM slowwave.memories WHERE scope_id = ({_ROOM}) ORDER BY id LIMIT 1"
_FLUSH = f"SELECT id FROM slowwave.flushes WHERE session_id = ({_SESSION}) AND stored > 0 ORDER BY from_seq LIMIT 1"
_LAST_EVENT = (
    f"session_id = ({_SESSION}) AND seq = (SELECT max(seq) FROM slowwave.events WHERE session_id = ({_SESSION}))"
)
_COPY = (
    "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, confidence, importance, trust, valid_from,"
    " reaffirmed_at, recorded_at, search) SELECT scope_id, type, content || '!', content_hash || '1'::bytea,"
    " confidence, importance, trust, valid_from, reaffirmed_at, recorded_at, search"
    f" FROM slowwave.memories WHERE id = ({_MEMORY})"
)
_LATER = "now() + interval '2 hours'"

PLANTS: list[tuple[str, Check, Plant]] = [
    ("an event is gone", checks_events.recorded_once, sql(f"DELETE FROM slowwave.events WHERE {_LAST_EVENT}")),
    (
        "a text differs",
        checks_events.recorded_once,
        sql(f"UPDATE slowwave.events SET content = 'x' WHERE {_LAST_EVENT}"),
    ),
    ("an event nobody said", checks_events.recorded_once, never_told),
    (
        "an event twice",
        checks_events.recorded_once,
        sql(
            "INSERT INTO slowwave.events (session_id, seq, turn, kind, role, content, happened_at, recorded_at, day,"
            " key) SELECT session_id, seq + 1, turn, kind, role, content, happened_at, recorded_at, day, key || 'x'"
            f" FROM slowwave.events WHERE {_LAST_EVENT}"
        ),
    ),
    (
        "half a call",
        checks_events.recorded_whole,
        sql(
            "DELETE FROM slowwave.events WHERE key ="
            " (SELECT min(key) FROM slowwave.events WHERE right(key, 2) = chr(58) || '1')"
        ),
    ),
    ("a note is gone", checks_events.noted_once, sql("UPDATE slowwave.working_memory SET key = 'x' || key")),
    (
        "a number is left out",
        checks_events.numbered_without_gaps,
        sql(f"UPDATE slowwave.sessions SET last_seq = last_seq + 1 WHERE id = ({_SESSION})"),
    ),
    ("an entry in a spool", checks_events.nothing_set_aside, line("spool-0/a.jsonl", agent="maya")),
    ("a refused entry", checks_events.nothing_set_aside, line("spool-0/a.jsonl.rejected", agent="maya")),
    (
        "a dead letter",
        checks_events.nothing_set_aside,
        sql("INSERT INTO slowwave.dead_letters (task, payload, error) VALUES ('t', '{}', 'e')"),
    ),
    (
        "a gap between windows",
        checks_windows.windows_in_order,
        sql(f"UPDATE slowwave.flushes SET from_seq = from_seq + 1 WHERE id = ({_FLUSH})"),
    ),
    (
        "two windows over one event",
        checks_windows.windows_in_order,
        sql(f"UPDATE slowwave.flushes SET to_seq = to_seq + 1 WHERE id = ({_FLUSH})"),
    ),
    (
        "a watermark behind its ledger",
        checks_windows.windows_in_order,
        sql(f"UPDATE slowwave.sessions SET processed_until = processed_until - 1 WHERE id = ({_SESSION})"),
    ),
    (
        "a ledger that counts wrong",
        checks_windows.ledger_adds_up,
        sql(f"UPDATE slowwave.flushes SET stored = stored + 1 WHERE id = ({_FLUSH})"),
    ),
    (
        "a source that no window brought",
        checks_windows.ledger_adds_up,
        sql("UPDATE slowwave.memory_sources SET seq = seq + 1000 WHERE seq = 1"),
    ),
    ("a memory from nowhere", checks_windows.ledger_adds_up, sql(_COPY)),
    ("an event that search lacks", checks_windows.ledger_adds_up, sql("DELETE FROM slowwave.passages WHERE seq = 1")),
    (
        "an event that was given up",
        checks_windows.nothing_given_up,
        sql(f"UPDATE slowwave.flushes SET outcome = 'quarantined' WHERE id = ({_FLUSH})"),
    ),
    ("a memory twice", checks_windows.remembered_once, sql(_COPY)),
    (
        "a statement that was dropped",
        checks_windows.remembered_once,
        sql(f"UPDATE slowwave.memories SET content = 'x' WHERE id = ({_MEMORY})"),
    ),
    (
        "a dirty session",
        checks_progress.nothing_waits,
        sql(
            "UPDATE slowwave.sessions SET processed_until = 0, dirty_since = now(), flush_due_at = now()"
            f" WHERE id = ({_SESSION})"
        ),
    ),
    (
        "a session that nobody comes for",
        checks_progress.nothing_waits,
        sql(f"UPDATE slowwave.sessions SET flush_due_at = now() - interval '1 hour' WHERE id = ({_SESSION})"),
    ),
    (
        "a session put off far ahead",
        checks_progress.nothing_waits,
        sql(f"UPDATE slowwave.sessions SET not_before = {_LATER} WHERE id = ({_SESSION})"),
    ),
    (
        "a run without a master",
        checks_progress.nothing_waits,
        sql(
            "INSERT INTO slowwave.maintenance_runs (kind, status, started_at, lease_until)"
            " VALUES ('light', 'running', now(), now() - interval '1 hour')"
        ),
    ),
    (
        "two flushes at once",
        checks_progress.one_at_a_time,
        sql(
            "UPDATE slowwave.flushes SET started_at = started_at - interval '1 hour' WHERE session_id IN"
            f" (SELECT id FROM slowwave.sessions WHERE scope_id = ({_OWN}))"
        ),
    ),
    (
        "a day that counts wrong",
        checks_days.days_count_their_events,
        sql("UPDATE slowwave.session_days SET total_messages = total_messages + 1, pending = true"),
    ),
    (
        "an event under another day",
        checks_days.days_count_their_events,
        sql(f"UPDATE slowwave.events SET day = day - 1 WHERE {_LAST_EVENT}"),
    ),
    (
        "a final day that leaves out an event",
        checks_days.final_days_are_whole,
        sql("UPDATE slowwave.days SET last_summarized_total = last_summarized_total - 1 WHERE status = 'final'"),
    ),
    (
        "a day that is over and open",
        checks_days.final_days_are_whole,
        sql("UPDATE slowwave.days SET status = 'open' WHERE day < current_date - 1"),
    ),
    (
        "a change without a word",
        checks_changes.changes_lead_to_what_is,
        sql("UPDATE slowwave.memories SET valid_to = now() WHERE superseded_by IS NOT NULL"),
    ),
    (
        "a change that begins elsewhere",
        checks_changes.changes_lead_to_what_is,
        sql(
            "INSERT INTO slowwave.memory_changes (memory_id, action, before, after, reason, made_at) SELECT id,"
            " 'promoted', '{\"status\": \"review\"}', jsonb_build_object('status', status), 'x', now()"
            f" FROM slowwave.memories WHERE id = ({_MEMORY})"
        ),
    ),
    (
        "a memory that went in silence",
        checks_changes.nothing_goes_in_silence,
        sql(f"UPDATE slowwave.memory_changes SET memory_id = gen_random_uuid() WHERE memory_id = ({_MEMORY})"),
    ),
    (
        "a conflict with one side",
        checks_changes.nothing_goes_in_silence,
        sql(
            "UPDATE slowwave.memories SET status = 'archived', archive_reason = 'x' WHERE id IN"
            " (SELECT memory_id FROM slowwave.memory_conflicts WHERE status = 'open')"
        ),
    ),
    (
        "a call that is open",
        checks_budget.everything_is_settled,
        sql("UPDATE slowwave.llm_calls SET outcome = NULL, tokens_settled = NULL"),
    ),
    (
        "a call that was not set aside",
        checks_budget.everything_is_settled,
        sql("UPDATE slowwave.llm_calls SET tokens_settled = tokens_reserved + 1"),
    ),
    (
        "a sum that lost a call",
        checks_budget.everything_is_settled,
        sql("UPDATE slowwave.llm_usage SET tokens_settled = tokens_settled - 1"),
    ),
    ("a cap that was passed", checks_budget.caps_hold, sql("UPDATE slowwave.llm_usage SET tokens_settled = 5001")),
    (
        "a call that nobody paid",
        checks_budget.as_the_endpoint_counted,
        line("model-calls.jsonl", at="", status=200, input=10, output=10, cut=False),
    ),
    ("a word of another scope", checks_walls.no_word_crosses, of_another_scope),
    (
        "an old value that holds",
        checks_facts.latest_value_holds,
        sql("UPDATE slowwave.memories SET valid_to = NULL, superseded_by = NULL WHERE superseded_by IS NOT NULL"),
    ),
    (
        "no value that holds",
        checks_facts.latest_value_holds,
        sql("UPDATE slowwave.memories SET valid_to = now() WHERE content LIKE '%favourite%' AND valid_to IS NULL"),
    ),
    (
        "a forgotten word in a text",
        checks_forgotten.nothing_is_left,
        forgotten_in("text = text || '{}'", "day_summaries"),
    ),
    (
        "a forgotten word in JSON",
        checks_forgotten.nothing_is_left,
        forgotten_in("stats = '[\"{}\"]'", "maintenance_runs"),
    ),
    (
        "a forgotten word in a message",
        checks_forgotten.nothing_is_left,
        lambda evidence: evidence.redis.rpush("capture", json.dumps({"said": forgotten_word(evidence)})),
    ),
    (
        "a forgotten word in a file",
        checks_forgotten.nothing_is_left,
        lambda evidence: line("files/daily.md", said=forgotten_word(evidence))(evidence),
    ),
    (
        "a word in a log",
        checks_forgotten.logs_hold_nothing_said,
        lambda evidence: line(
            "logs/worker.log", error=next(one.call.lines[0].word for one in evidence.certain if one.call.lines)
        )(evidence),
    ),
    ("a fence that fell", checks_forgotten.fences_stand, sql("DELETE FROM slowwave.erased_names")),
    ("an epoch that stood still", checks_forgotten.fences_stand, sql("UPDATE slowwave.agents SET epoch = 0")),
    ("a ticket", checks_redis.nothing_is_held, key("slowwave:{default/maya}:session:s", "pending normal x")),
    ("a lease", checks_redis.nothing_is_held, key("slowwave:{default/maya}:session:s", "running normal - x")),
    (
        "an entry of running ones",
        checks_redis.nothing_is_held,
        lambda evidence: evidence.redis.zadd("slowwave:{default/maya}:running", {"s": 9e12}),
    ),
    (
        "a place to wait in",
        checks_redis.nothing_is_held,
        lambda evidence: evidence.redis.zadd("slowwave:{default/maya}:waiting", {"s": 1}),
    ),
    ("a message", checks_redis.nothing_is_held, lambda evidence: evidence.redis.lpush("flush", "{}")),
    ("a message with a worker", checks_redis.nothing_is_held, lambda e: e.redis.hset("unacked", "a", "{}")),
    ("its place in the index", checks_redis.nothing_is_held, lambda e: e.redis.zadd("unacked_index", {"a": 1})),
    ("a slot of the model", checks_redis.nothing_is_held, lambda e: e.redis.zadd("slowwave:model:slots", {"a": 9e12})),
    ("a key for ever", checks_redis.nothing_is_held, key("slowwave:swept", seconds=None)),
]


_RUN = "SELECT run_id FROM slowwave.memory_changes WHERE run_id IS NOT NULL ORDER BY id LIMIT 1"
_LINK = "SELECT min(id) FROM slowwave.memory_links"
CROSSINGS = {
    "sessions and agents of two tenants": f"sessions SET scope_id = ({_OTHER}) WHERE id = ({_SESSION})",
    "memories and their events": f"memories SET scope_id = ({_OTHER}) WHERE id = ({_MEMORY})",
    "memories and their notes": f"working_memory SET scope_id = ({_OTHER}) WHERE outcome = 'consolidated'",
    "notes and agents of two tenants": f"working_memory SET scope_id = ({_OTHER})",
    "linked memories": f"memory_links SET target_id = ({_ELSEWHERE}) WHERE id = ({_LINK})",
    "memories and what took their place": f"memories SET superseded_by = ({_ELSEWHERE}) WHERE id = ({_MEMORY})",
    "memories and what came by way of others": f"memory_sources SET via = ({_ELSEWHERE}) WHERE memory_id = ({_MEMORY})",
    "triples and their memories": f"triples SET scope_id = ({_OTHER}) WHERE scope_id <> ({_OTHER})",
    "conflicts and their memories": f"memory_conflicts SET scope_id = ({_OTHER}) WHERE scope_id <> ({_OTHER})",
    "questions and what they are about": f"review_items SET scope_id = ({_OTHER}) WHERE scope_id <> ({_OTHER})",
    "keys of neighbourhood and their memories": f"memory_blocks SET scope_id = ({_OTHER})"
    f" WHERE memory_id = ({_MEMORY})",
    "runs and the memories that they changed": f"maintenance_runs SET scope_id = ({_ROOM}) WHERE id = ({_RUN})",
    "flushes and the memories that they changed": f"flushes SET session_id = ({_ROOM_SESSION}), from_seq = 999,"
    f" to_seq = 999 WHERE id = ({_FLUSH})",
    "passages and their sessions": f"passages SET scope_id = ({_OTHER}) WHERE session_id = ({_SESSION})",
    "days of sessions and their sessions": f"session_days SET scope_id = ({_OTHER}) WHERE session_id = ({_SESSION})",
    "days and agents of two tenants": f"days SET scope_id = ({_OTHER}) WHERE scope_id = ({_OWN})",
    "summaries and agents of two tenants": f"day_summaries SET scope_id = ({_OTHER}) WHERE scope_id = ({_OWN})",
    "segments and their sessions": f"day_segments SET scope_id = ({_OTHER}) WHERE scope_id = ({_OWN})",
}


def test_a_healthy_world_has_no_findings(evidence: Evidence) -> None:
    assert [str(finding) for finding in check_all(evidence)] == []
    assert evidence.forgotten, "there is something to find"


@pytest.mark.parametrize(("check", "plant"), [pytest.param(c, p, id=name) for name, c, p in PLANTS])
def test_each_check_finds_what_is_planted_for_it(evidence: Evidence, check: Check, plant: Plant) -> None:
    plant(evidence)
    assert check(evidence) != []


def test_a_check_that_cannot_be_made_is_a_finding_and_the_others_are_made(evidence: Evidence) -> None:
    def unanswered(_: Evidence) -> list[Finding]:
        raise StoreUnavailable("no answer within 10 s")

    def broken(_: Evidence) -> list[Finding]:
        return [Finding("I1", "an event is gone")]

    unmade, found = check_all(evidence, (unanswered, broken))
    assert str(unmade) == "unchecked: unanswered could not be made (StoreUnavailable: no answer within 10 s)"
    assert found == Finding("I1", "an event is gone")


@pytest.mark.parametrize("path", checks_walls.PATHS)
def test_i8_each_path_that_crosses_a_wall_is_found(evidence: Evidence, path: str) -> None:
    sql(f"UPDATE slowwave.{CROSSINGS[path]}")(evidence)
    assert [finding for finding in checks_walls.no_row_crosses(evidence) if finding.what.endswith(path)] != []


def test_i8_a_reader_that_is_told_too_much_or_nothing_is_found(
    prepared: tuple[str, Path], postgres_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path
) -> None:
    url = postgres_url.replace("/postgres?", f"/{prepared[0]}_leaky?")
    healthy.note_settings(url, valkey_url, tmp_path)
    engine = make_engine(url)
    evidence = Evidence(engine, redis_client, tmp_path, read(prepared[1]), datetime.now(UTC))
    with engine.begin() as connection:
        everyone = f"SELECT id FROM slowwave.scopes WHERE kind = 'agent' AND id <> ({_OWN})"
        for table in ("memories", "passages"):
            connection.execute(text(f"UPDATE slowwave.{table} SET scope_id = ({_OWN}) WHERE scope_id IN ({everyone})"))
    found = {finding.what.partition(" ")[2] for finding in checks_walls.no_reader_is_told(evidence)}
    engine.dispose()
    assert found == {
        "words were told to a reader to whom they do not belong",
        "words were not found by the reader to whom they belong",
    }


def test_i4_an_overlap_that_a_lost_lease_explains_is_told_apart(evidence: Evidence) -> None:
    plant = next(plant for name, _, plant in PLANTS if name == "two flushes at once")
    plant(evidence)
    assert checks_progress.explained_overlaps(evidence) == 0
    hour_ago = evidence.now.timestamp() - 3600
    line("faults.jsonl", number=1, kind="flushall", target="", began=hour_ago - 300, ended=hour_ago + 3600)(evidence)
    assert checks_progress.one_at_a_time(evidence) == []
    assert checks_progress.explained_overlaps(evidence) > 0
