"""Follow the feed of changes in one process: read all changes, then wait until Postgres announces new ones."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from slowwave.changes import Change, ChangePage, check_cursor, places_of, read_page
from slowwave.errors import StoreUnavailable
from slowwave.memory_requests import ChangesRequest
from slowwave.postgres import NotPermitted
from slowwave.store import Store

ANNOUNCED_SECONDS = 60.0
"""For so long one request keeps announcements on; it is repeated after half of that."""
LOOK_SECONDS = 5.0
"""An announcement may be lost, or wait for another transaction to end: the feed is read as often anyway."""
REST_SECONDS = (0.2, 5.0)
LAGGING_SECONDS = (0.02, 1.0)
"""While an older transaction keeps changes from being read, they are looked for after the first, then less often."""
_GLANCE_SECONDS = 0.5
_AWAIT = "SELECT slowwave.await_changes(%s, %s)"
_CONNECTION = {"connect_timeout": 3, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


class Following(Protocol):
    """A feed that can be followed over any transport. stopped: set it from another thread to end the iteration."""

    @property
    def stopped(self) -> threading.Event: ...

    def changes(self) -> Generator[Change, None, None]:
        """Yield each change once, in order, as it arrives."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A feed that is read from Postgres.

    places: the result of `places_of`. timeout: the seconds without a change after which the iteration ends. stopped: an
    event; set it from another thread to end the iteration.
    """

    store: Store
    tenant: str
    places: list[str] | None
    after: str | None
    timeout: float | None
    stopped: threading.Event = field(default_factory=threading.Event)

    def changes(self) -> Generator[Change, None, None]:
        return follow(self)

    def read(self, after: str | None) -> ChangePage:
        """Read one page. Raises CursorExpired, StoreUnavailable."""
        return self.store.postgres.read(lambda link: read_page(link, self.tenant, after, self.places))


def followed(store: Store, tenant: str, request: ChangesRequest) -> Followed:
    """Return the feed for `Memory.changes`. Raises InvalidName."""
    return Followed(store, tenant, places_of(request.agents, request.scopes), request.after, request.timeout)


def follow(followed: Followed) -> Generator[Change, None, None]:
    """Yield each change once, in order; wait while Postgres is down. Raises CursorExpired, NotPermitted."""
    if followed.after is not None:
        check_cursor(followed.after)
    cursor, heard = followed.after, time.monotonic()
    rest, pause = REST_SECONDS[0], LAGGING_SECONDS[0]
    while not followed.stopped.is_set():
        try:
            with closing(_Bell(followed)) as bell:
                while not followed.stopped.is_set():
                    page = followed.read(cursor)
                    cursor, rest = page.cursor, REST_SECONDS[0]
                    for change in page.changes:
                        yield change
                        heard = time.monotonic()
                    if page.more:
                        continue
                    left = _left(followed.timeout, heard)
                    if left <= 0:
                        return
                    pause = min(2 * pause, LAGGING_SECONDS[1]) if page.waits else LAGGING_SECONDS[0]
                    bell.wait(min(left, pause if page.waits else LOOK_SECONDS))
        except NotPermitted:
            raise
        except (StoreUnavailable, psycopg.Error):
            if _left(followed.timeout, heard) <= 0:
                raise
            followed.stopped.wait(rest)
            rest = min(2 * rest, REST_SECONDS[1])


async def follow_async(followed: Following) -> AsyncGenerator[Change, None]:
    """`follow` for an event loop. It uses its own thread, because it may wait for a long time."""
    changes, thread = followed.changes(), ThreadPoolExecutor(1, thread_name_prefix="slowwave-changes")
    try:
        while (change := await asyncio.get_running_loop().run_in_executor(thread, next, changes, None)) is not None:
            yield change
    finally:
        followed.stopped.set()
        thread.submit(changes.close)
        thread.shutdown(wait=False)


def _left(timeout: float | None, heard: float) -> float:
    return LOOK_SECONDS if timeout is None else heard + timeout - time.monotonic()


class _Bell:
    """A connection that is notified when a tenant's memories change."""

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        url = make_conninfo(followed.store.settings.database_url, **_CONNECTION)
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            raise StoreUnavailable(f"Postgres can't be reached: {error}") from error
        try:
            self._ask()
        except BaseException:
            self._connection.close()
            raise

    def _ask(self) -> None:
        try:
            row = self._connection.execute(_AWAIT, (self._followed.tenant, ANNOUNCED_SECONDS)).fetchone()
        except psycopg.errors.InsufficientPrivilege as error:
            raise NotPermitted(f"this login may not follow the changes of this tenant: {error}") from error
        channel = row[0] if row else ""
        self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        self._until = time.monotonic() + ANNOUNCED_SECONDS / 2

    def wait(self, seconds: float) -> None:
        """Wait until Postgres announces a change, or for this many seconds."""
        if time.monotonic() > self._until:
            self._ask()
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._followed.stopped.is_set():
            if any(True for _ in self._connection.notifies(timeout=min(left, _GLANCE_SECONDS), stop_after=1)):
                return

    def close(self) -> None:
        self._connection.close()
