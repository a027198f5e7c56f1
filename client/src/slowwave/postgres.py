"""Connections to Postgres for hooks: few, opened on demand, with little cost beyond the network.

A pool that waits would not fit. A hook on the reply path must know at once that the server is unavailable, to spool its
events. And a library in a host's process should own neither threads nor connections that a fork would share.
"""

import select
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import error_from_result

from slowwave.errors import InvalidSettings, Refused, SlowwaveError, StoreUnavailable
from slowwave.read_timeout import ReadTimeoutConnection

MAX_CONNECTIONS = 8
"""More threads than this wait for each other; the server is shared with workers and other producers."""

WAIT_SECONDS = 10.0
STATEMENT_MS = 10_000
ANSWER_SECONDS = STATEMENT_MS / 1000 + 2
"""A server that stands still can't keep its own limit, and its host's kernel still acknowledges what is sent."""
_SETTINGS: dict[str, Any] = {
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # Detect a peer that vanished without closing the connection, even during a statement.
    "tcp_user_timeout": 15_000,
    "client_encoding": "UTF8",
}

# Retry once at once: serialization, deadlock, a row that another transaction inserted first, an outdated plan or
# statement.
_TRY_AGAIN = frozenset({"40001", "40P01", "23505", "26000", "0A000"})
# This data can never be stored: data exceptions and integrity constraints.
_REFUSED_CLASSES = frozenset({"22", "23"})
_NOT_ALLOWED = "42501"
_NOT_MIGRATED = frozenset({"3F000", "42P01", "42883"})

Row = tuple[bytes | None, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A statement that each connection prepares once, under the statement's name; parameters are $1, $2 and so on."""

    name: bytes
    sql: bytes


class NotPermitted(StoreUnavailable):
    """Postgres answers, but this login lacks the right for the statement."""


class Link:
    """One connection with its prepared statements. entered: the owner for which the connection works, or None."""

    def __init__(self, url: str, answer_seconds: float) -> None:
        self.connection = ReadTimeoutConnection.connect(url, autocommit=True)
        self.connection.answer_seconds = answer_seconds
        self._answer_ms = round(answer_seconds * 1000)
        try:
            self.connection.execute(f"SET statement_timeout = {STATEMENT_MS}")
        except psycopg.Error:
            self.connection.close()
            raise
        self.entered: str | None = None
        self._known: set[bytes] = set()
        self._socket = select.poll()
        self._socket.register(self.connection.pgconn.socket)

    @property
    def usable(self) -> bool:
        return (
            self.connection.pgconn.status == pq.ConnStatus.OK
            and self.connection.pgconn.transaction_status == pq.TransactionStatus.IDLE
        )

    def call(self, statement: PreparedStatement, parameters: Sequence[bytes]) -> list[Row]:
        """Run a statement through libpq, because psycopg's cursor costs more than Postgres does for a small call."""
        self.send(statement, parameters)
        return self.answer()

    def send(self, statement: PreparedStatement, parameters: Sequence[bytes]) -> None:
        """Begin a call, which `answer` ends. In between, the connection can't be used for other calls."""
        self._teach(statement)
        self.connection.pgconn.send_query_prepared(statement.name, parameters)

    def answer(self) -> list[Row]:
        """Wait for the result. Raises psycopg.OperationalError for a server that does not answer."""
        return self._rows(self._result())

    def _result(self) -> pq.abc.PGresult:
        pgconn = self.connection.pgconn
        # The connection is non-blocking, so long data may be sent in parts.
        while pgconn.flush():
            self._wait(select.POLLIN | select.POLLOUT)
        last: pq.abc.PGresult | None = None
        while True:
            while pgconn.is_busy():
                self._wait(select.POLLIN)
            result = pgconn.get_result()
            if result is None:
                break
            # Rows are sent before their transaction commits. If an error follows them, such as a server shutdown, the
            # transaction is rolled back.
            last = result
        if last is None:
            raise psycopg.OperationalError("the server answered nothing")
        return last

    def _wait(self, events: int) -> None:
        """Wait with a timeout: a plain call of libpq would wait for ever, and a reply may depend on it."""
        self._socket.modify(self.connection.pgconn.socket, events)
        if not self._socket.poll(self._answer_ms):
            raise psycopg.OperationalError(f"no answer within {self._answer_ms / 1000:g} s")
        self.connection.pgconn.consume_input()

    def _teach(self, statement: PreparedStatement) -> None:
        if statement.name not in self._known:
            self.connection.pgconn.send_prepare(statement.name, statement.sql)
            self._answered(self._result(), pq.ExecStatus.COMMAND_OK)
            self._known.add(statement.name)

    def _rows(self, result: pq.abc.PGresult) -> list[Row]:
        self._answered(result, pq.ExecStatus.TUPLES_OK)
        columns = range(result.nfields)
        return [tuple(result.get_value(row, column) for column in columns) for row in range(result.ntuples)]

    def _answered(self, result: pq.abc.PGresult, wanted: int) -> None:
        if result.status != wanted:
            raise error_from_result(result, encoding="utf-8")


class Postgres:
    """Up to eight connections to `url`, each used by one thread at a time. Nothing is sent before the first call.

    setting: the setting's name for an error about an invalid URL. answer_seconds: the seconds without an answer after
    which a statement and its connection are abandoned. lent: a function that is called with each connection before a
    caller gets it; the caller gets its exceptions.
    """

    def __init__(
        self,
        url: str,
        setting: str = "database_url",
        *,
        answer_seconds: float = ANSWER_SECONDS,
        lent: Callable[[Link], None] | None = None,
    ) -> None:
        self._answer_seconds = answer_seconds
        self._lent = lent
        try:
            given = conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            raise InvalidSettings(f"{setting} can't be read: {error}") from None
        # A value in the URL wins over these defaults.
        self._url = make_conninfo(url, **{key: value for key, value in _SETTINGS.items() if key not in given})
        self._idle: list[Link] = []
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._closed = False

    def call(self, statement: PreparedStatement, parameters: Sequence[bytes]) -> list[Row]:
        """Run a prepared statement in its own transaction, and return its rows as text.

        After a broken connection, a deadlock and similar failures it runs once more, so `statement` must be idempotent.
        Raises `Refused` and `StoreUnavailable`.
        """
        try:
            with self._link() as link:
                return link.call(statement, parameters)
        except psycopg.Error as error:
            broken = _broken(error)
            if not broken and error.sqlstate not in _TRY_AGAIN:
                raise _verdict(error) from error
        try:
            with self._link(fresh=broken) as link:
                return link.call(statement, parameters)
        except psycopg.Error as error:
            raise _verdict(error) from error

    def begin(self, statement: PreparedStatement, parameters: Sequence[bytes]) -> Callable[[], list[Row]]:
        """Send a statement as `call` does, without waiting. The caller must call the returned function exactly once; it
        waits.

        The server works while the caller does other work, without a second thread. Raises as `call` does.
        """
        held = ExitStack()
        try:
            link = held.enter_context(self._link())
            link.send(statement, parameters)
        except psycopg.Error:
            held.close()
            return lambda: self.call(statement, parameters)

        def end() -> list[Row]:
            try:
                with held:
                    return link.answer()
            except psycopg.Error as error:
                if not _broken(error) and error.sqlstate not in _TRY_AGAIN:
                    raise _verdict(error) from error
            return self.call(statement, parameters)

        return end

    def read(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Return the result of `work` on a connection (autocommit). If the connection is broken, repeat it once on a
        new one.

        Raises `Refused` and `StoreUnavailable`, and the exceptions of `work`.
        """
        try:
            with self._link() as link:
                return work(link.connection)
        except psycopg.Error as error:
            if not _broken(error):
                raise _verdict(error) from error
        try:
            with self._link(fresh=True) as link:
                return work(link.connection)
        except psycopg.Error as error:
            raise _verdict(error) from error

    def close(self) -> None:
        """Close idle connections; a lent connection is closed when it is returned."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for link in idle:
            link.connection.close()

    @contextmanager
    def _link(self, *, fresh: bool = False) -> Iterator[Link]:
        if not self._room.acquire(timeout=WAIT_SECONDS):
            raise StoreUnavailable(f"all {MAX_CONNECTIONS} connections have been busy for {WAIT_SECONDS:g} s")
        link: Link | None = None
        try:
            link = self._take(fresh=fresh)
            if self._lent is not None:
                self._lent(link)
            yield link
        finally:
            if link is not None:
                self._give_back(link)
            self._room.release()

    def _take(self, *, fresh: bool) -> Link:
        with self._lock:
            # After a break, the other idle connections are probably broken too, so close them as well.
            broken, self._idle = (self._idle, []) if fresh else ([], self._idle)
            link = self._idle.pop() if self._idle else None
        for other in broken:
            other.connection.close()
        if link is not None:
            if link.usable:
                return link
            link.connection.close()
        try:
            return Link(self._url, self._answer_seconds)
        except psycopg.Error as error:
            raise _verdict(error) from error

    def _give_back(self, link: Link) -> None:
        with self._lock:
            if link.usable and not self._closed:
                self._idle.append(link)
                return
        link.connection.close()


def _broken(error: psycopg.Error) -> bool:
    # Without an error code the connection broke; class 57P means that the server shuts down or restarts.
    return error.sqlstate is None or error.sqlstate.startswith("57P")


def _verdict(error: psycopg.Error) -> SlowwaveError:
    """Return the exception for a failure; an unknown one counts as temporary, so that no data is discarded."""
    code = error.sqlstate
    text = str(error).strip() or type(error).__name__
    if code is not None and code[:2] in _REFUSED_CLASSES and code not in _TRY_AGAIN:
        return Refused(f"Postgres refuses it ({code}): {text}")
    if code in _NOT_MIGRATED:
        return StoreUnavailable(
            f"the database lacks Slowwave's tables or functions, run `slowwave admin migrate`: {text}"
        )
    if code == _NOT_ALLOWED:
        return NotPermitted(f"this login may not do that; `slowwave admin roles list` shows whose tenant it is: {text}")
    return StoreUnavailable(f"Postgres can't be used: {text}")
