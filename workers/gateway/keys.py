"""Cache recently seen keys with their rights, read from Postgres and kept for a short time.

The separation of tenants does not depend on this cache, because Postgres checks the key with every row. The cache saves
a query per request, and tells which callers may record while Postgres is unavailable.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from slowwave.postgres import NotPermitted
from slowwave_server.services.access import api_keys
from slowwave_server.services.access.api_keys import USED_EVERY, find_key, note_use
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.walls import KeyRefused, acting_for

FRESH_SECONDS = 2.0
"""So long after it was revoked a key may still be answered that it may not do something else, and see nothing."""
AWAY_SECONDS = 900.0
"""While Postgres is away, a key counts that was good so long ago: what it records waits in the spool."""
MOST = 10_000
_FORM = re.compile(r"(?i:bearer) +(sw_[a-z2-7]{8}_[A-Za-z0-9_-]{43})")


def digest_of(authorization: str | None) -> str:
    """Return the digest of the key in a header `Authorization: Bearer sw_…`. Raises Problem, KeyRefused."""
    if authorization is None:
        raise Problem(
            401,
            "key-missing",
            "this path needs a key",
            cure="send the header `Authorization: Bearer sw_…`; `slowwave admin keys add` makes a key",
            headers={"WWW-Authenticate": 'Bearer realm="slowwave"'},
        )
    found = _FORM.fullmatch(authorization.strip())
    if found is None:
        raise KeyRefused
    return api_keys.digest_of(found[1]).hex()


class Keys:
    """Callers by the digests of their keys. steady: a monotonic clock in seconds."""

    def __init__(self, engine: Engine, steady: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._steady = steady
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[float, Caller]] = OrderedDict()
        self._used: dict[str, float] = {}

    def fresh(self, digest: str) -> Caller | None:
        """Return the caller of a key that was read a short time ago, without a query; None for any other key."""
        with self._lock:
            seen = self._seen.get(digest)
        return seen[1] if seen is not None and self._steady() - seen[0] < FRESH_SECONDS else None

    def caller(self, digest: str) -> Caller:
        """Return the caller of this key. Raises KeyRefused, and SQLAlchemy's errors for an unavailable server."""
        now = self._steady()
        with self._lock:
            seen = self._seen.get(digest)
        if seen is not None and now - seen[0] < FRESH_SECONDS:
            return seen[1]
        try:
            caller = self._read(digest, now)
        except (OperationalError, InterfaceError):
            if seen is None or now - seen[0] > AWAY_SECONDS:
                raise
            return seen[1]
        except KeyRefused:
            self._drop(digest)
            raise
        self._keep(digest, now, caller)
        return caller

    def recheck(self, caller: Caller, error: Exception) -> Exception:
        """Return the error of a request; KeyRefused if Postgres refused it because the key is no longer valid."""
        refused = isinstance(error, NotPermitted) or isinstance(getattr(error, "orig", error), InsufficientPrivilege)
        if not refused:
            return error
        self._drop(caller.digest)
        try:
            self.caller(caller.digest)
        except KeyRefused as gone:
            return gone
        except DBAPIError:
            pass
        return error

    def _read(self, digest: str, now: float) -> Caller:
        with acting_for(digest, again=True), self._engine.begin() as connection:
            found = find_key(connection, bytes.fromhex(digest))
            if found is None:  # revoked after it was cached
                raise KeyRefused
            if now - self._used.get(digest, float("-inf")) >= USED_EVERY.total_seconds():
                note_use(connection, found.id)
                self._used[digest] = now
        return Caller(
            found.id,
            found.name,
            found.prefix,
            found.tenant,
            tuple(found.agents),
            tuple(found.scopes),
            frozenset(found.rights),
            digest,
        )

    def _keep(self, digest: str, now: float, caller: Caller) -> None:
        with self._lock:
            self._seen[digest] = (now, caller)
            self._seen.move_to_end(digest)
            while len(self._seen) > MOST:
                gone, _ = self._seen.popitem(last=False)
                self._used.pop(gone, None)

    def _drop(self, digest: str) -> None:
        with self._lock:
            self._seen.pop(digest, None)
            self._used.pop(digest, None)
