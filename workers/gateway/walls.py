"""Bind connections to API keys: when the pool lends a connection for another key than before, Postgres gets the key.

The gateway's login alone may act for no tenant. `slowwave.use_key` lets one session of Postgres act for the tenant of a
key, and every policy and entry function checks again that the key is valid. Without a key no row is visible.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
from sqlalchemy import Engine, event

from slowwave.errors import Refused
from slowwave.postgres import Link, PreparedStatement

_acting: ContextVar[str | None] = ContextVar("slowwave_acting_key", default=None)
_again: ContextVar[bool] = ContextVar("slowwave_acting_again", default=False)
_ENTERED = "slowwave_key"
_UNSURE = "unsure"
"""Of a connection that was refused another key: it may hold the one that it had."""
_USE_KEY = PreparedStatement(b"slowwave_use_key", b"SELECT slowwave.use_key($1::bytea)")
_LEAVE = PreparedStatement(b"slowwave_leave_key", b"SELECT pg_catalog.set_config('slowwave.key', '', false)")


class KeyRefused(Refused):
    """The key is unknown, was revoked, or has expired."""

    def __init__(self) -> None:
        super().__init__("this key is unknown, was revoked, or has expired")


@contextmanager
def acting_for(digest: str | None, *, again: bool = False) -> Iterator[None]:
    """Let connections that are lent in this block work for this key (its digest, in hexadecimal digits), or for none.

    again: True to check the key in Postgres even if the connection already works for this key.
    """
    acting, asked = _acting.set(digest), _again.set(again)
    try:
        yield
    finally:
        _acting.reset(acting)
        _again.reset(asked)


def act_for(digest: str) -> None:
    """Do the same until the end of this request; each request runs in its own context."""
    _acting.set(digest)


class Walls:
    """Tells the client's connections, when they are lent, for which key they work; names the key of spooled entries."""

    def current(self) -> str | None:
        """Return the key of this request."""
        return _acting.get()

    def enter(self, link: Link) -> None:
        """Let a connection of the client work for the current key. Raises KeyRefused."""
        wanted = _acting.get()
        if link.entered == wanted and not _again.get():
            return
        link.entered = _UNSURE
        try:
            if wanted is None:
                link.call(_LEAVE, ())
            else:
                link.call(_USE_KEY, (b"\\x" + wanted.encode(),))
        except psycopg.Error as error:
            raise _refusal(error) from None
        link.entered = wanted

    def deliver_for(self, key: str | None) -> Any:
        """Return a block in which entries of this key are delivered. Postgres checks the key again."""
        return acting_for(key, again=True)


def guard(engine: Engine) -> None:
    """Let the connections of an engine do the same."""

    @event.listens_for(engine, "checkout")
    def enter(connection: Any, record: Any, _proxy: Any) -> None:
        wanted = _acting.get()
        if record.info.get(_ENTERED) == wanted and not _again.get():
            return
        record.info[_ENTERED] = _UNSURE
        manual = not connection.autocommit
        if manual:  # a setting made in a transaction ends when it is rolled back
            connection.autocommit = True
        try:
            if wanted is None:
                connection.execute("SELECT pg_catalog.set_config('slowwave.key', '', false)")
            else:
                connection.execute("SELECT slowwave.use_key(%s::bytea)", (bytes.fromhex(wanted),))
        except psycopg.Error as error:
            raise _refusal(error) from None
        finally:
            if manual and not connection.closed:
                connection.autocommit = False
        record.info[_ENTERED] = wanted


def _refusal(error: psycopg.Error) -> Exception:
    return KeyRefused() if isinstance(error, psycopg.errors.InvalidAuthorizationSpecification) else error
