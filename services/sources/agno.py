"""Read sessions of Agno through its own store and session API, for its SQLite and Postgres databases."""

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from slowwave.errors import InvalidSettings
from slowwave.integrations.agno_runs import is_private, key_of, said_in
from slowwave.settings import Agno
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.sources.protocol import KeptRun, KeptSession

CONNECT_SECONDS = 5
INSTALL = (
    "memory.source is agno, and the package agno is not installed: "
    "install the extra `agno` of slowwave-server (docs/install.md)"
)
MEANT = "sqlite:///FILE or postgresql://USER@HOST/DATABASE is meant"
# The process that runs it still adds messages.
_UNDER_WAY = ("PENDING", "RUNNING")


class AgnoSource:
    """Reads the store that `memory.agno` names. It is opened at the first read, which takes a second.

    Raises InvalidSettings if the settings name no readable store, or Agno is not installed.
    """

    name = "agno"

    def __init__(self, settings: Agno) -> None:
        self._url = _checked(settings.db_url)
        self._table = settings.session_table or None
        if find_spec("agno") is None:
            raise InvalidSettings(INSTALL)
        self._lock = threading.Lock()
        self._store: Any = None

    def read(self, session: str, runs: frozenset[str]) -> KeptSession | None:
        """Return a session with those of `runs` that it has, or None if it does not exist. Raises TransientError."""
        try:
            store = self._open()
            # If Agno can't reach its store, it answers as if the store were empty.
            with store.db_engine.connect():
                pass
            kept = store.get_session(session_id=session, session_type=None)
        except (SQLAlchemyError, OSError) as error:
            raise TransientError(f"Agno's store can't be read: {type(error).__name__}") from error
        if kept is None or not hasattr(kept, "get_messages"):
            return None
        # From Agno's history: messages of the user and the agent, without those of a team's members.
        history = frozenset(key_of(message) for message in kept.get_chat_history())
        return KeptSession(
            is_private(kept), tuple(_kept(run, history) for run in kept.runs or () if run.run_id in runs)
        )

    def close(self) -> None:
        """Close connections; a read opens new ones."""
        with self._lock:
            if self._store is not None:
                self._store.db_engine.dispose()

    def _open(self) -> Any:
        with self._lock:
            if self._store is None:
                make = _sqlite if _is_sqlite(self._url) else _postgres
                self._store = make(self._url, self._table)
            return self._store


def _checked(given: str) -> URL:
    if not given:
        raise InvalidSettings(f"memory.source is agno, so memory.agno.db_url must say where its sessions are: {MEANT}")
    try:
        url = make_url(given)
    except ArgumentError:
        raise InvalidSettings(f"memory.agno.db_url can't be read as a URL: {MEANT}") from None
    if not _is_sqlite(url) and url.get_backend_name() not in {"postgresql", "postgres"}:
        raise InvalidSettings(f"memory.agno.db_url: {MEANT}, not {url.get_backend_name()}://")
    if _is_sqlite(url) and not url.database:
        raise InvalidSettings("memory.agno.db_url: a database in memory can't be shared; use sqlite:///FILE")
    return url


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _sqlite(url: URL, table: str | None) -> Any:
    file = Path(url.database or "").expanduser()
    if not file.is_file():
        # Otherwise an empty database would be created.
        raise FileNotFoundError(str(file))
    from agno.db.sqlite import SqliteDb  # noqa: PLC0415 (takes a second)

    return SqliteDb(db_url=url.set(drivername="sqlite", database=str(file)).render_as_string(), session_table=table)


def _postgres(url: URL, table: str | None) -> Any:
    from agno.db.postgres import PostgresDb  # noqa: PLC0415 (as above)

    driven = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in driven.query:
        driven = driven.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    # Only Agno creates its tables.
    whole = driven.render_as_string(hide_password=False)
    return PostgresDb(db_url=whole, session_table=table, create_schema=False)


def _kept(run: Any, history: frozenset[str]) -> KeptRun:
    status = str(getattr(run.status, "value", run.status)).upper()
    private = is_private(run)
    # For tools, the history contains only the calls.
    said = [] if private else said_in(run)
    messages = tuple(message for message in said if message["role"] == "tool" or message["key"] in history)
    return KeptRun(run.run_id, status not in _UNDER_WAY, private, messages)
