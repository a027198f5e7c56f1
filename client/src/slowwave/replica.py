"""Route reads that may be slightly old: a streaming replica answers while it follows its primary, otherwise the
primary.

Only `context` and `search` use it. Calls that decide something (capture, boost, flush, consolidation, forgetting,
operators' reports) read the primary.

A replica that lost its primary would return old data for ever, so every `LOOK_SECONDS` a query checks whether the
replica follows its primary.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import Connection

from slowwave.errors import StoreUnavailable
from slowwave.offers import ThrottledLog
from slowwave.postgres import Link, Postgres

LOOK_SECONDS = 5.0
REST_SECONDS = 30.0
"""After a failure nothing is asked of the replica for so long: one that hangs costs one reply a wait, not each."""

# The receiver's row exists while it streams, and is visible even to a login that can't see its details. A replica
# without the row, such as a promoted one, is a primary.
_FOLLOWS = (
    "SELECT NOT pg_is_in_recovery() OR EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver WHERE pid IS NOT NULL)"
)

T = TypeVar("T")


class ReplicaReads:
    """Reads from the replica at `url`, or from `primary`. Threads may share one object.

    url: the URL of the replica, or "". Nothing is sent before the first read. lent: see `Postgres`. Raises
    InvalidSettings for an invalid URL.
    """

    def __init__(
        self,
        primary: Postgres,
        url: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        lent: Callable[[Link], None] | None = None,
    ) -> None:
        self._primary = primary
        self._replica = Postgres(url, "read_database_url", lent=lent) if url else None
        self._clock = clock
        self._throttled_log = ThrottledLog(clock)
        self._lock = threading.Lock()
        self._looks_at = float("-inf")
        self._rests_until = float("-inf")

    def read(self, work: Callable[[Connection[Any]], T]) -> T:
        """Return the result of `work`, on the primary if the replica fails. Raises as `Postgres.read`."""
        if self._replica is not None and self._clock() >= self._rests_until:
            try:
                self._look(self._replica)
                return self._replica.read(work)
            except StoreUnavailable as error:
                self._rests_until = self._clock() + REST_SECONDS
                self._throttled_log.warn("the primary answers, the read replica can't: %s", error)
        return self._primary.read(work)

    def close(self) -> None:
        """Close the replica's connections. The primary's connections have another owner."""
        if self._replica is not None:
            self._replica.close()

    def _look(self, replica: Postgres) -> None:
        with self._lock:
            if self._clock() < self._looks_at:
                return
        row = replica.read(lambda connection: connection.execute(_FOLLOWS).fetchone())
        if row is None or not row[0]:
            raise StoreUnavailable("it does not replicate from its primary, so its data may be old")
        with self._lock:
            self._looks_at = self._clock() + LOOK_SECONDS
