"""Readiness of a gateway: it is ready after it has once found Postgres at the right revision.

From then on it stays ready. While Postgres is unavailable, the gateway records into its spool; if all gateways reported
that they are not ready, no request would reach the spool.
"""

import threading
import time
from collections.abc import Callable

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from slowwave_server.models.driver import WrongSchema
from slowwave_server.models.schema import require_current

LOOK_SECONDS = 1.0
"""The least seconds between two checks of Postgres, because any client may ask for readiness."""


class Readiness:
    """Checks on demand, until it has found Postgres. steady: a monotonic clock in seconds."""

    def __init__(self, engine: Engine, steady: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._steady = steady
        self._lock = threading.Lock()
        self._found = False
        self._looks_at = float("-inf")

    def ready(self) -> bool:
        """Return whether Postgres has been found at the right revision."""
        with self._lock:
            if self._found or self._steady() < self._looks_at:
                return self._found
            self._looks_at = self._steady() + LOOK_SECONDS
        try:
            with self._engine.connect() as connection:
                require_current(connection)
        except (DBAPIError, WrongSchema):
            return False
        self._found = True
        return True
