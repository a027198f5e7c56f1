"""Whether a gateway can answer: it has found Postgres at the right revision once.

From then on it stays ready: while Postgres is away, it records into its spool, which nobody would reach if all gateways
said that they were not ready.

Must not know: HTTP.
"""

import threading
import time
from collections.abc import Callable

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from slowwave_server.models.schema import WrongSchema, require_current

LOOK_SECONDS = 1.0
"""Anybody may ask, and Postgres is asked no more often."""


class Readiness:
    """Looks when it is asked, until it has found Postgres. steady: a clock that only goes forward, in seconds."""

    def __init__(self, engine: Engine, steady: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._steady = steady
        self._lock = threading.Lock()
        self._found = False
        self._looks_at = float("-inf")

    def ready(self) -> bool:
        """Whether Postgres was found."""
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
