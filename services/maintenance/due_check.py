"""Check whether a maintenance job is due. The check is cheap enough to run after every write."""

import threading
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Engine

from slowwave_server.services.maintenance.jobs import any_due


class DueCheck:
    """Checks whether a job is due, at most once in `seconds` per process, so that a write can afford it.

    After a positive result it waits for `rest_seconds`, so that the caller has time to claim the job.
    """

    def __init__(
        self, engine: Engine, *, monotonic: Callable[[], float], seconds: float = 5.0, rest_seconds: float = 60.0
    ) -> None:
        self._engine = engine
        self._monotonic = monotonic
        self._seconds = seconds
        self._rest_seconds = rest_seconds
        self._not_before = float("-inf")
        self._lock = threading.Lock()

    def is_due(self, now: datetime) -> bool:
        """Return True if a job is due. Return False without a check if the last check was too recent."""
        with self._lock:
            moment = self._monotonic()
            if moment < self._not_before:
                return False
            self._not_before = moment + self._seconds
        with self._engine.connect() as connection:
            due = any_due(connection, now)
        if due:
            self._not_before = moment + self._rest_seconds
        return due
