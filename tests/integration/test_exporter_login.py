"""The exporter's own login and its user of the broker: all figures, and not a word (I8)."""

import hashlib
import json
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from redis import Redis
from redis.exceptions import NoPermissionError
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.keys import QUEUES
from slowwave.coordination.queue_messages import envelope, publish
from slowwave.identity import SessionRef
from slowwave.settings import Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.broker_users import broker_user
from slowwave_server.services.access.figures import COLUMNS, EXPORTER, exporters, lacking_figures
from slowwave_server.services.access.grants import apply_grants, in_use, lacking
from slowwave_server.services.access.logins import KnownLogin, LoginRefused, add_login, known_logins, remove_login
from slowwave_server.services.maintenance.heartbeat import note_sweep
from slowwave_server.services.task_counts import note_task
from slowwave_server.workers.shared.listening import listening
from tests.support.scraping import filled, scrape, sources

pytestmark = pytest.mark.servers

WORD = "a-word-of-tests"


@pytest.fixture
def login(engine: Engine) -> Iterator[str]:
    """A registered exporter; gone afterwards, but for its group, which is the server's."""
    name = f"watcher_{uuid.uuid4().hex[:10]}"
    with engine.begin() as connection:
        apply_grants(connection)
        assert not in_use(connection)
        assert add_login(connection, name, "exporter", None)
    yield name
    with engine.begin() as connection:
        for statement in (f"DROP OWNED BY {name}", f"DROP ROLE {name}"):
            connection.exec_driver_sql(statement)


@pytest.fixture
def watcher(redis_client: Redis) -> Iterator[Redis]:
    user = broker_user("exporter", "watcher")
    redis_client.execute_command(*user.command(hashlib.sha256(WORD.encode()).hexdigest()).split())
    port = redis_client.connection_pool.connection_kwargs["port"]
    yield redis_from_url(f"redis://watcher:{WORD}@127.0.0.1:{port}/0")
    redis_client.execute_command("ACL", "DELUSER", "watcher")


def as_login(engine: Engine, login: str) -> str:
    return make_url(engine.url).set(drivername="postgresql", username=login).render_as_string(hide_password=False)


def test_the_exporters_login_reads_every_figure(
    engine: Engine, login: str, redis_client: Redis, watcher: Redis
) -> None:
    filled(engine)
    queue = FlushQueue(redis_client)
    queue.offer(SessionRef("acme", "concierge", "waits"), "normal")
    publish(redis_client, "days", envelope("slowwave.finalize_days", [], {}, "days", task_id="t1"))
    note_sweep(redis_client)
    note_task(redis_client, "slowwave.flush_session", {"stored": 1}, 0.1)
    owner = scrape(sources(engine, redis_client))
    as_watcher = make_engine(as_login(engine, login))
    own = scrape(sources(as_watcher, watcher))
    as_watcher.dispose()
    missing = owner.keys() - own.keys()
    assert missing == {'queue_oldest_seconds{queue="capture"}'}, "the only messages that hold words"
    timed = ("age", "scrape", "clock", "oldest", "bytes", "memory", "sweep")
    steady = {name for name in own if not any(word in name for word in timed)}
    assert {name: own[name] for name in steady} == {name: owner[name] for name in steady}
    assert own['queue_messages{queue="capture"}'] == 0
    assert len(steady) > 50


def test_i8_the_exporters_login_reads_no_word_and_writes_nothing(engine: Engine, login: str) -> None:
    filled(engine)
    given = {(table, column) for table, columns in COLUMNS.items() for column in columns.split(", ")}
    with psycopg.connect(as_login(engine, login), autocommit=True) as connection:
        rows = connection.execute(
            "SELECT c.relname, a.attname, has_column_privilege(c.oid, a.attnum, 'SELECT'),"
            " has_any_column_privilege(c.oid, 'INSERT, UPDATE') OR has_table_privilege(c.oid, 'DELETE, TRUNCATE')"
            " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
            " WHERE c.relnamespace = 'slowwave'::regnamespace AND c.relkind IN ('r', 'p', 'v')"
        ).fetchall()
        assert {(table, column) for table, column, may_read, _ in rows if may_read} == given
        assert not [table for table, _, _, may_write in rows if may_write]
        functions = connection.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'slowwave'::regnamespace"
            " AND has_function_privilege(oid, 'EXECUTE') AND prorettype <> 'trigger'::regtype"
        ).fetchall()
        assert functions == [("current_tenant",)]
        for statement in ("SELECT content FROM slowwave.events", "SELECT name FROM slowwave.sessions"):
            with pytest.raises(InsufficientPrivilege):
                connection.execute(statement)


def test_an_exporter_is_listed_removed_and_kept_by_a_migration(engine: Engine, login: str) -> None:
    with engine.begin() as connection:
        assert KnownLogin(login, "exporter", None, exists=True) in known_logins(connection)
        assert in_use(connection)
        assert lacking(connection) == []
        connection.exec_driver_sql(f"REVOKE SELECT (held) ON slowwave.memory_files FROM {EXPORTER}")
        assert lacking_figures(connection) == lacking(connection) == ["memory_files"]
        apply_grants(connection)
        assert lacking(connection) == []
        with pytest.raises(LoginRefused, match="owns the tables"):
            add_login(connection, str(engine.url.username), "exporter", None)
        assert remove_login(connection, login)
        assert login not in exporters(connection)
        assert not remove_login(connection, login)
        assert add_login(connection, login, "worker", None) is False
        with pytest.raises(LoginRefused, match="remove it first"):
            add_login(connection, login, "exporter", None)
        assert remove_login(connection, login)
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(as_login(engine, login))


def test_i8_the_exporters_user_reads_no_message_and_writes_nothing(redis_client: Redis, watcher: Redis) -> None:
    for queue in QUEUES:
        publish(redis_client, queue, json.dumps({"body": "My bicycle is green.", "headers": {"id": "x"}}))
    for command in (
        ("LINDEX", "capture", "0"),
        ("LRANGE", "flush", "0", "-1"),
        ("RPOP", "flush"),
        ("LPUSH", "flush", "x"),
        ("DEL", "capture"),
        ("SET", "slowwave:swept", "1"),
        ("HINCRBY", "slowwave:tasks", "x", "1"),
        ("EVAL_RO", "return redis.call('LINDEX', KEYS[1], 0)", "1", "capture"),
        ("EVAL", "return 1", "0"),
        ("GET", "other"),
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("KEYS", "*"),
    ):
        with pytest.raises(NoPermissionError):
            assert watcher.execute_command(*command) is None, command
    port = redis_client.connection_pool.connection_kwargs["port"]
    settings = Settings(broker_url=f"redis://watcher:{WORD}@127.0.0.1:{port}/0")
    assert listening(watcher, settings) == {}, "it may ask who listens"
