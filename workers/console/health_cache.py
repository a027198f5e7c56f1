"""Cache the doctor's findings for a few seconds, because a page should not wait a second for all workers."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from slowwave_server.services.reports.check import Check
from slowwave_server.services.reports.doctor import HealthProbe, examine

FRESH_SECONDS = 1.0
"""If a snapshot is older, a new check starts. All viewers of a console share it, however many they are."""
OLD_SECONDS = 120.0
"""If a snapshot is older, no page shows it: the page waits for a new check."""

Workers = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class HealthSnapshot:
    """The result of one health check. workers: the queues of those that answered; None without the broker."""

    at: datetime
    checks: tuple[Check, ...]
    workers: Workers | None


class HealthCache:
    """Runs health checks on demand, one at a time for all callers. steady: a monotonic clock in seconds."""

    def __init__(self, patient: HealthProbe, steady: Callable[[], float] = time.monotonic) -> None:
        self._patient = patient
        self._steady = steady
        self._lock = threading.Lock()
        self._seen: tuple[float, HealthSnapshot] | None = None
        self._looking: threading.Thread | None = None
        self._failed: Exception | None = None

    def latest(self, *, again: bool = False, wait_seconds: float = 0.0) -> HealthSnapshot:
        """Return the latest snapshot, which a check may be about to replace.

        wait_seconds: the longest wait for this check, if the latest snapshot is at most OLD_SECONDS old; without such a
        snapshot, the call waits for the check. again: True to wait for a check that starts at this call or is already
        running, however long it takes. Raises the error of a check that failed, if no snapshot is recent enough.
        """
        with self._lock:
            seen, now = self._seen, self._steady()
            age = float("inf") if seen is None else now - seen[0]
            if (again or age > FRESH_SECONDS) and self._looking is None:
                self._looking = threading.Thread(target=self._look, name="console-watch", daemon=True)
                self._looking.start()
            looking = self._looking
        if seen is not None and age <= OLD_SECONDS and not again:
            if looking is not None:
                looking.join(wait_seconds)
            return seen[1] if self._seen is None else self._seen[1]
        if looking is not None:
            looking.join()
        with self._lock:
            if self._failed is not None:
                raise self._failed
            if self._seen is None:
                raise RuntimeError("a check ended without a result")
            return self._seen[1]

    def _look(self) -> None:
        began = self._steady()
        asked: list[Workers | None] = []

        def listening() -> Workers | None:
            asked.append(self._patient.listening())
            return asked[-1]

        patient = HealthProbe(
            self._patient.settings, self._patient.engine, self._patient.redis, listening, self._patient.clock
        )
        failed: Exception | None = None
        checks: tuple[Check, ...] = ()
        try:
            checks = tuple(examine(patient))
        except Exception as error:  # noqa: BLE001 (the waiting thread raises it again)
            failed = error
        with self._lock:
            self._failed, self._looking = failed, None
            if failed is None:
                seen = HealthSnapshot(self._patient.clock(), checks, asked[-1] if asked else None)
                self._seen = (began, seen)
