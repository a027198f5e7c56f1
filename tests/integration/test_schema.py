"""The schema: migrations go up and down, agree with the models, and guard the workers."""

from datetime import date

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, text

from models import SCHEMA, Base
from models.engine import make_engine
from models.schema import WrongSchema, current_revision, head_revision, is_described, migrate, require_current
from slowwave import Memory, Settings

pytestmark = pytest.mark.servers


def test_models_and_migrations_describe_the_same_tables(engine: Engine) -> None:
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


def test_days_without_what_retention_removed_go_down_and_up_again(database_url: str, engine: Engine) -> None:
    with Memory(Settings(database_url=database_url)) as memory:
        for at in ("2024-04-10T09:00:00Z", "2024-04-10T10:00:00Z", "2024-04-11T09:00:00Z", "2024-04-11T10:00:00Z"):
            memory.turn_completed("maya", "monday", [{"role": "user", "content": "hello", "at": at}])
    with engine.begin() as connection:
        gone = "DELETE FROM slowwave.events e WHERE e.seq <= 3"
        assert connection.execute(text(gone)).rowcount == 3
        count = "UPDATE slowwave.session_days d SET removed = least(2, 4 - d.from_seq)"
        assert connection.execute(text(count)).rowcount == 2
    migrate(engine, "0004")
    migrate(engine)
    columns = "day, total_messages, removed, summarized, pending, from_seq, to_seq"
    with engine.connect() as connection:
        rows = connection.execute(text(f"SELECT {columns} FROM slowwave.session_days")).all()
    assert rows == [(date(2024, 4, 11), 1, 0, 0, True, 4, 4)]


def test_workers_refuse_another_revision_with_a_sentence_that_says_what_to_run(engine: Engine) -> None:
    with engine.connect() as connection:
        require_current(connection)
    migrate(engine, "0001")
    with engine.connect() as connection:
        assert current_revision(connection) == "0001"
        with pytest.raises(WrongSchema, match=r"at revision 0001, this version needs \d+: run `slowwave migrate`"):
            require_current(connection)


def test_a_database_of_a_newer_version_is_left_alone(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.alembic_version SET version_num = '9999'"))
    with pytest.raises(WrongSchema, match="does not know"):
        migrate(engine)


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
