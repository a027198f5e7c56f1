"""A test meets an empty database, whatever the tests before it have left in it."""

import psycopg
import pytest
from sqlalchemy import text

from slowwave_server.models.engine import make_engine
from tests.support.clones import Clones

pytestmark = pytest.mark.servers

ADD_AGENT = "INSERT INTO slowwave.agents (tenant, name) VALUES ('default', 'maya') RETURNING id"


def add_agent(url: str) -> int:
    with psycopg.connect(url) as connection:
        (number,) = connection.execute(ADD_AGENT).fetchone() or (0,)
    return int(number)


def test_rows_and_numbers_are_gone_in_the_same_database(clones: Clones) -> None:
    with clones.one(new=True) as first:
        number = add_agent(first)
        hidden = psycopg.connect(first)
        hidden.execute("CREATE TEMP TABLE mine ()")
        hidden.commit()
    with clones.one() as second:
        assert second == first
        assert add_agent(second) == number
        with pytest.raises(psycopg.OperationalError):
            hidden.execute("SELECT 1")
    hidden.close()


@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET last_status = 'failed', enabled = NOT enabled"])
def test_rows_of_migrations_are_restored(clones: Clones, change: str) -> None:
    table = "slowwave.maintenance_jobs"
    found = []
    with clones.one(new=True) as first, psycopg.connect(first, autocommit=True) as connection:
        found.append(connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall())
        connection.execute(change.format(table))
    with clones.one() as second, psycopg.connect(second) as connection:
        assert second == first
        found.append(connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall())
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE slowwave.more ()",
        "ALTER TABLE slowwave.agents DISABLE ROW LEVEL SECURITY",
        "GRANT SELECT ON slowwave.agents TO pg_monitor",
        "COMMENT ON TABLE slowwave.alembic_version IS 'another'",
        "INSERT INTO slowwave.agents (tenant, name) VALUES ('default', 'maya'); ANALYZE slowwave.agents",
    ],
)
def test_database_that_changed_otherwise_is_used_no_more(clones: Clones, change: str) -> None:
    with clones.one(new=True) as first, psycopg.connect(first, autocommit=True) as connection:
        connection.execute(change)
    with clones.one() as second:
        assert second != first


def test_connections_of_an_engine_serve_the_next_and_have_forgotten(clones: Clones) -> None:
    backends = []
    with clones.one(new=True) as url:
        for _ in range(2):
            with clones.connected(engine := make_engine(url)), engine.begin() as connection:
                backends.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
                locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
                known = f"SELECT current_setting('work_mem'), ({locks})"
                assert connection.execute(text(known)).one() == ("4MB", 0)
                connection.execute(text("SELECT set_config('work_mem', '8MB', false), pg_advisory_lock(1)"))
    assert backends[0] == backends[1]
