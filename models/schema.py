"""Manage the schema's revision: migrate a database to the revision that this code knows, and report a database with
another revision.

A migration names in `serves` the oldest revision whose code works on the migrated schema; by default, this is its own
revision. The result for the whole schema is stored in the database, beside its revision. So code that is older than the
schema can check whether it may continue until it is replaced.
"""

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg.errors import DeadlockDetected, LockNotAvailable
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from slowwave_server.models.base import SCHEMA
from slowwave_server.models.driver import MIGRATIONS, WrongSchema, head_revision, known_revisions

# Only migrations import Alembic: every other command only compares two revisions, and is faster without it.
if TYPE_CHECKING:
    from alembic.config import Config

OLDEST_SERVER = 18
"""The oldest major version of Postgres whose functions the schema calls: uuidv7(), casefold(), ANALYZE ONLY."""
# An arbitrary unused number: two `slowwave admin migrate` at once must not both create the tables.
MIGRATION_LOCK = 7_305_118_240_001

LOCK_SECONDS = 4.0
"""How long a migration waits for a table that is in use. Hooks that arrive meanwhile wait no longer than this."""
TRIES = 30
TURN_SECONDS = 900.0
"""How long a migration waits for another migration, which may build the index of a large table."""
_REST_SECONDS = 2.0
_BUSY = (LockNotAvailable, DeadlockDetected)
_PARTITION = re.compile(r"events_(\d+|rest)")
_NOTE = "code of revision {} and later works on this schema"
_NOTED = text(f"SELECT obj_description(to_regclass('{SCHEMA}.alembic_version'), 'pg_class')")

_HOLDER = text(
    "SELECT a.usename, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory'"
    " AND l.granted AND l.objsubid = 1 AND a.datname = current_database() AND l.database = a.datid"
    " AND l.classid::bigint << 32 | l.objid::bigint = :key"
)


class OldServer(WrongSchema):
    """The server's major version of Postgres is too old for the schema."""


class DevelopmentSchema(WrongSchema):
    """A development version between two releases made this database; no migration starts from it."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"the database is at revision {revision} of a development version, which cannot be migrated: run"
            " `slowwave memory export SCOPE DIR` with the version that made it, then `slowwave admin migrate` and"
            " `slowwave memory import SCOPE DIR` with this version on a new database"
        )


class TablesBusy(WrongSchema):
    """Other transactions held locks on the tables during all attempts of a migration; it changed nothing."""


def _config(connection: Connection | None = None) -> "Config":
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    if connection is not None:
        config.attributes["connection"] = connection
    return config


def is_described(name: str | None, kind: str, _parents: object = None) -> bool:
    """Return True if the models describe the database object of this name.

    They describe every table of the schema, with columns and keys, except partitions, which the database creates. The
    function has the form of Alembic's `include_name`.
    """
    if kind == "schema":
        return name == SCHEMA
    if kind in {"index", "unique_constraint"}:
        return False
    return kind != "table" or name is None or not _PARTITION.fullmatch(name)


def require_server(connection: Connection, number: int | None = None) -> None:
    """Raise OldServer for a server older than OLDEST_SERVER. number: server_version_num; None asks the server."""
    if number is None:
        number = connection.execute(text("SELECT current_setting('server_version_num')::integer")).scalar_one()
    if number < OLDEST_SERVER * 10_000:
        raise OldServer(
            f"Slowwave needs Postgres {OLDEST_SERVER} or later, and this server is Postgres"
            f" {number // 10_000}.{number % 10_000}: upgrade it, name another server in SLOWWAVE_DATABASE_URL, or let"
            " `slowwave up` run one"
        )


def current_revision(connection: Connection) -> str | None:
    """Return the database's revision, or None if it was never migrated."""
    table = f"{SCHEMA}.alembic_version"
    if connection.execute(text(f"SELECT to_regclass('{table}')")).scalar_one() is None:
        return None
    revision: str | None = connection.execute(text(f"SELECT version_num FROM {table}")).scalar_one_or_none()
    return revision


def migrate(
    engine: Engine,
    revision: str = "head",
    *,
    lock_seconds: float = LOCK_SECONDS,
    tries: int = TRIES,
    turn_seconds: float = TURN_SECONDS,
) -> tuple[str | None, str | None]:
    """Upgrade the database (or migrate it to `revision`), and return (before, after). Only one migration runs at a
    time, over all hosts.

    A newer schema that serves this code stays unchanged.

    All other programs continue in the meantime. The migration waits for users of a table for `lock_seconds` at a time,
    and for another migration for `turn_seconds`. Raises TablesBusy, OldServer.
    """
    with engine.connect() as connection:
        require_server(connection)
        # An index of a large table takes time, and so may another migration.
        connection.execute(text("SET statement_timeout = 0"))
        _take_turn(connection, turn_seconds)
        connection.execute(text(f"SET lock_timeout = {int(lock_seconds * 1000)}"))
        connection.commit()
        try:
            before = current_revision(connection)
            connection.commit()
            after = _move_patiently(connection, before, revision, tries)
            connection.commit()
            return before, after
        finally:
            connection.rollback()
            connection.execute(text("RESET lock_timeout"))
            connection.execute(text("RESET statement_timeout"))
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
            connection.commit()


def _take_turn(connection: Connection, seconds: float) -> None:
    """Take the lock of migrations. Raises TablesBusy with the login that held it all the time."""
    connection.execute(text(f"SET lock_timeout = {int(seconds * 1000)}"))
    try:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
    except OperationalError as error:
        connection.rollback()
        if not isinstance(error.orig, LockNotAvailable):
            raise
        holder = connection.execute(_HOLDER, {"key": MIGRATION_LOCK}).one_or_none()
        who = "another connection" if holder is None else f"login {holder.usename!r} (process {holder.pid} of Postgres)"
        raise TablesBusy(
            f"{who} has held the lock of migrations for {seconds:g} s, nothing was changed: wait until its migration"
            " ends, or end the connection with pg_terminate_backend, then run `slowwave admin migrate` again"
        ) from None


def _move_patiently(connection: Connection, before: str | None, revision: str, tries: int) -> str | None:
    """Migrate with retries, and return the new revision. Each attempt is one transaction."""
    for left in reversed(range(tries)):
        try:
            _move(connection, before, revision)
            after = current_revision(connection)
            if after != before:
                _note_served(connection, after)
        except OperationalError as error:
            connection.rollback()
            if not isinstance(error.orig, _BUSY):
                raise
            if left:
                time.sleep(_REST_SECONDS)
        else:
            return after
    raise TablesBusy(
        f"the tables were in use each time of {tries}, nothing was changed: look into pg_stat_activity for transactions"
        " that stay open, then run `slowwave admin migrate` again"
    )


def _move(connection: Connection, before: str | None, revision: str) -> None:
    from alembic import command  # noqa: PLC0415

    known = known_revisions()
    _refuse_development(before, known)
    if before is not None and before not in known:
        if revision == "head" and _serves(connection, known):
            return  # an older version that runs again for a while, or a late job of it
        raise WrongSchema(
            f"the database is at revision {before}, which this version does not know: "
            f"it was migrated by a newer Slowwave. Install that version, or restore a backup."
        )
    downwards = revision == "base" or (
        before in known and revision in known and known.index(revision) > known.index(before)
    )
    (command.downgrade if downwards else command.upgrade)(_config(connection), revision)


def _refuse_development(revision: str | None, known: Sequence[str]) -> None:
    """Raise DevelopmentSchema for a revision that no release has, and that is older than the newest known one."""
    if revision is not None and revision not in known and revision < known[0]:
        raise DevelopmentSchema(revision)


def oldest_served(revision: str) -> str:
    """Return the oldest revision whose code works on the schema at `revision`, by this code's migrations."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    scripts = list(ScriptDirectory.from_config(_config()).walk_revisions(head=revision))[::-1]
    return oldest_of([(script.revision, getattr(script.module, "serves", script.revision)) for script in scripts])


def oldest_of(migrations: Sequence[tuple[str, str]]) -> str:
    """Return the oldest revision whose code works after all these migrations: (revision, serves), oldest first."""
    names = [revision for revision, _ in migrations]
    oldest, needed = len(names) - 1, 0
    while oldest > 0:
        # From now on, older code works on the schema of this migration.
        needed = max(needed, names.index(migrations[oldest][1]))
        if needed >= oldest:
            break
        oldest -= 1
    return names[oldest]


def _note_served(connection: Connection, revision: str | None) -> None:
    note = "NULL" if revision is None else f"'{_NOTE.format(oldest_served(revision))}'"
    connection.execute(text(f"COMMENT ON TABLE {SCHEMA}.alembic_version IS {note}"))


def _serves(connection: Connection, known: Sequence[str]) -> bool:
    """Return True if a newer schema works with code that knows these revisions, by its own record."""
    noted = connection.execute(_NOTED).scalar_one()
    return any(noted == _NOTE.format(revision) for revision in known)


def require_current(connection: Connection) -> str:
    """Return the database's revision: this code's, or a later one on which it works. Raises WrongSchema."""
    current, head = current_revision(connection), head_revision()
    if current == head:
        return head
    known = known_revisions()
    _refuse_development(current, known)
    if current is None or current in known:
        state = "has never been migrated" if current is None else f"is at revision {current}"
        raise WrongSchema(f"the database {state}, this version needs {head}: run `slowwave admin migrate`")
    if _serves(connection, known):
        return current
    raise WrongSchema(
        f"the database is at revision {current} of a newer Slowwave, and this version, which needs {head}, does not"
        " work on it: install the newer one"
    )
