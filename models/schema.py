"""The schema's revision: bring a database to the one that this code knows, and say when it is at another.

Must not know: which process asks.
"""

import re
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from models.base import SCHEMA

MIGRATIONS = Path(__file__).parent / "migrations"
# Any number that nobody else uses: two `slowwave migrate` at once must not both create the tables.
MIGRATION_LOCK = 7_305_118_240_001


_PARTITION = re.compile(r"events_(\d+|rest)")


class WrongSchema(Exception):
    """The database is at another revision than this code; the message says which command to run."""


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    if connection is not None:
        config.attributes["connection"] = connection
    return config


def is_described(name: str | None, kind: str, _parents: object = None) -> bool:
    """Whether the models describe what has this name in the database: all of the schema but partitions, which the
    database makes as it grows. As Alembic's `include_name` asks.
    """
    if kind == "schema":
        return name == SCHEMA
    return kind != "table" or name is None or not _PARTITION.fullmatch(name)


def head_revision() -> str:
    """The revision that this code was written for."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise WrongSchema(f"no migrations in {MIGRATIONS}: this installation is incomplete, install it again")
    return head


def current_revision(connection: Connection) -> str | None:
    """The revision that the database is at; None where it was never migrated."""
    return MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA}).get_current_revision()


def migrate(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Upgrade the database (or bring it to `revision`) and answer (before, after). One at a time across hosts."""
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
        connection.commit()
        try:
            before = current_revision(connection)
            connection.commit()
            _move(connection, before, revision)
            connection.commit()
            return before, current_revision(connection)
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
            connection.commit()


def _move(connection: Connection, before: str | None, revision: str) -> None:
    script = ScriptDirectory.from_config(_config())
    known = [r.revision for r in script.walk_revisions()]
    if before is not None and before not in known:
        raise WrongSchema(
            f"the database is at revision {before}, which this version does not know: "
            f"it was migrated by a newer Slowwave. Install that version, or restore a backup."
        )
    downwards = revision == "base" or (
        before in known and revision in known and known.index(revision) > known.index(before)
    )
    (command.downgrade if downwards else command.upgrade)(_config(connection), revision)


def require_current(connection: Connection) -> None:
    """Raise WrongSchema unless the database is at this code's revision."""
    current, head = current_revision(connection), head_revision()
    if current == head:
        return
    state = "has never been migrated" if current is None else f"is at revision {current}"
    raise WrongSchema(f"the database {state}, this version needs {head}: run `slowwave migrate`")
