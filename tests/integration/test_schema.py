"""The schema: migrations go up and down, agree with the models, and guard the workers."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from proof.drills.catalogue import catalogue
from proof.drills.versions import NoHistory, unpack_previous
from slowwave_server.models import SCHEMA, Base
from slowwave_server.models.driver import MIGRATIONS, WrongSchema, head_revision, known_revisions
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import (
    MIGRATION_LOCK,
    OldServer,
    TablesBusy,
    _config,
    current_revision,
    is_described,
    migrate,
    oldest_of,
    oldest_served,
    require_current,
    require_server,
)
from slowwave_server.services.reports.servers import check_version
from tests.support.processes import wait_until

pytestmark = pytest.mark.servers


def test_models_and_migrations_describe_the_same_columns_and_keys(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "include_schemas": True,
                "include_name": is_described,
                "version_table_schema": SCHEMA,
            },
        )
        assert compare_metadata(context, Base.metadata) == []


def test_migrations_go_down_and_up_again(engine: Engine) -> None:
    assert migrate(engine, "base") == (head_revision(), None)
    with engine.connect() as connection:
        left = connection.execute(
            text(
                "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'slowwave'"
            )
        ).scalars()
        assert {name for name in left if not name.startswith("alembic_version")} == set()
    assert migrate(engine) == (None, head_revision())


def test_workers_refuse_another_revision_with_a_sentence_that_says_what_to_run(engine: Engine) -> None:
    with engine.connect() as connection:
        require_current(connection)
    migrate(engine, "0100")
    with engine.connect() as connection:
        assert current_revision(connection) == "0100"
        with pytest.raises(
            WrongSchema, match=r"at revision 0100, this version needs \d+: run `slowwave admin migrate`"
        ):
            require_current(connection)


@pytest.mark.parametrize("revision", ["0025", "0126"])
def test_database_of_a_development_version_is_refused(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE slowwave.alembic_version SET version_num = '{revision}'"))
    refused = rf"revision {revision} of a development .* `slowwave memory export .* `slowwave memory import SCOPE DIR`"
    with pytest.raises(WrongSchema, match=refused):
        migrate(engine)
    with engine.connect() as connection, pytest.raises(WrongSchema, match=refused):
        require_current(connection)


def test_migrated_release_has_the_catalogue_of_a_fresh_database(engine: Engine, empty_url: str, tmp_path: Path) -> None:
    try:
        previous = unpack_previous(tmp_path)
    except NoHistory as error:
        pytest.skip(f"the previous release cannot be unpacked: {error}")
    previous.migrate(empty_url)
    migrated = make_engine(empty_url)
    assert migrate(migrated) == (previous.revision, head_revision())
    assert catalogue(migrated) == catalogue(engine)
    migrated.dispose()


def test_catalogue_shows_a_function_that_no_migration_applied(engine: Engine) -> None:
    fresh = catalogue(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER FUNCTION slowwave.scope_of COST 7"))
    assert catalogue(engine) != fresh


def _as_a_newer_version_left_it(engine: Engine, note: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.alembic_version SET version_num = '9999'"))
        connection.execute(text(f"COMMENT ON TABLE slowwave.alembic_version IS '{note}'"))


def test_a_database_of_a_newer_version_is_left_alone(engine: Engine) -> None:
    _as_a_newer_version_left_it(engine, "code of revision 9999 and later works on this schema")
    with pytest.raises(WrongSchema, match="does not know"):
        migrate(engine)


def test_i3_workers_go_on_where_a_newer_schema_serves_them(engine: Engine) -> None:
    _as_a_newer_version_left_it(engine, f"code of revision {head_revision()} and later works on this schema")
    with engine.connect() as connection:
        assert require_current(connection) == "9999"
    assert migrate(engine) == ("9999", "9999")
    with pytest.raises(WrongSchema, match="does not know"):
        migrate(engine, "0100")


@pytest.mark.parametrize("oldest", ["9998", "9999"])
def test_workers_refuse_a_newer_schema_that_serves_only_later_ones(engine: Engine, oldest: str) -> None:
    _as_a_newer_version_left_it(engine, f"code of revision {oldest} and later works on this schema")
    with engine.connect() as connection, pytest.raises(WrongSchema, match="install the newer one"):
        require_current(connection)


def test_a_schema_notes_the_oldest_code_that_it_serves(engine: Engine) -> None:
    noted = text("SELECT obj_description('slowwave.alembic_version'::regclass, 'pg_class')")
    for revision in (head_revision(), "0100", head_revision()):
        migrate(engine, revision)
        with engine.connect() as connection:
            said = connection.execute(noted).scalar_one()
        assert said == f"code of revision {oldest_served(revision)} and later works on this schema"


@pytest.mark.parametrize(
    ("migrations", "oldest"),
    [
        ([("1", "1")], "1"),
        ([("1", "1"), ("2", "1")], "1"),
        ([("1", "1"), ("2", "2"), ("3", "1")], "2"),
        ([("1", "1"), ("2", "1"), ("3", "2"), ("4", "3")], "3"),
        ([("1", "1"), ("2", "1"), ("3", "1"), ("4", "2")], "2"),
    ],
)
def test_the_strictest_migration_decides_which_code_is_served(migrations: list[tuple[str, str]], oldest: str) -> None:
    assert oldest_of(migrations) == oldest


def test_every_migration_since_the_first_release_says_which_code_it_serves() -> None:
    files = [file for file in (MIGRATIONS / "versions").glob("0*.py") if file.name > "0101"]
    assert files
    assert [file.name for file in files if "\nserves = " not in file.read_text("utf-8")] == []


_WAITED = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def _longest_wait(engine: Engine) -> float:
    """Seconds. In a transaction of its own, since one sees who is active only as it first looked."""
    with engine.connect() as connection:
        return float(connection.execute(text(_WAITED)).scalar_one())


def _use(connection: Connection) -> None:
    connection.execute(text("LOCK TABLE slowwave.memories IN ACCESS SHARE MODE"))


def test_a_migration_lets_go_of_a_queue_for_a_table_that_stays_in_use_and_changes_nothing(engine: Engine) -> None:
    with engine.connect() as user:
        _use(user)
        with pytest.raises(TablesBusy, match="in use each time of 1, nothing was changed"):
            migrate(engine, "0100", lock_seconds=0.05, tries=1)
    with engine.connect() as connection:
        require_current(connection)
    assert migrate(engine, "0100") == (head_revision(), "0100")


@pytest.mark.parametrize(("number", "shown"), [(150018, "15.18"), (160011, "16.11"), (170010, "17.10")])
def test_an_older_postgres_is_refused_in_a_sentence(engine: Engine, number: int, shown: str) -> None:
    with engine.connect() as connection:
        with pytest.raises(OldServer) as caught:
            require_server(connection, number)
        found = check_version(connection, number)
        require_server(connection)
        assert check_version(connection) is None
    assert str(caught.value).startswith(f"Slowwave needs Postgres 18 or later, and this server is Postgres {shown}: ")
    assert found is not None
    assert (found.verdict, found.issue, found.finding) == ("problem", "postgres-old", str(caught.value))


def test_a_migration_names_who_holds_its_lock(engine: Engine) -> None:
    with engine.connect() as other:
        other.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
        pid = other.execute(text("SELECT pg_backend_pid()")).scalar_one()
        said = rf"login 'postgres' \(process {pid} of Postgres\) has held the lock of migrations for 0.05 s"
        with pytest.raises(TablesBusy, match=said):
            migrate(engine, turn_seconds=0.05)
        other.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
    assert migrate(engine) == (head_revision(), head_revision())


def test_a_migration_may_take_longer_than_any_statement_of_a_worker(engine: Engine, database_url: str) -> None:
    hurried = make_engine(database_url, statement_timeout_ms=100)
    with ThreadPoolExecutor(1) as pool, engine.connect() as user:
        _use(user)
        moved = pool.submit(migrate, hurried, "0100")
        wait_until(lambda: _longest_wait(engine) > 0.2, 20, "it has waited for long enough")
        user.rollback()
        assert moved.result(20) == (head_revision(), "0100")
    with hurried.connect() as connection:
        assert connection.execute(text("SHOW statement_timeout")).scalar_one() == "100ms"
        assert connection.execute(text("SHOW lock_timeout")).scalar_one() == "15s"
    hurried.dispose()


def test_an_engine_that_commits_each_statement_still_gives_transactions_to_who_asks(database_url: str) -> None:
    single = make_engine(database_url, autocommit=True)
    whole = single.execution_options(isolation_level="READ COMMITTED")
    for engine, kept in ((single, 1), (whole, 0), (single, 1)):
        with engine.connect() as connection:
            connection.execute(text("CREATE TABLE IF NOT EXISTS slowwave.scratch (n int)"))
            connection.execute(text("INSERT INTO slowwave.scratch VALUES (1)"))
            connection.rollback()
        with single.connect() as connection:
            rows = connection.execute(text("SELECT count(*) FROM slowwave.scratch")).scalar_one()
            connection.execute(text("DELETE FROM slowwave.scratch"))
        assert rows == kept
    single.dispose()


def test_revisions_are_the_numbers_of_files() -> None:
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    assert known_revisions() == tuple(script.revision for script in scripts)
