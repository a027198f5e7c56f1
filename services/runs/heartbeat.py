"""Renew the lease of a run while its work continues."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from slowwave_server.models.errors import first_line
from slowwave_server.services.runs.store import Run, renew_run

log = logging.getLogger(__name__)

_RENEWALS = 3
"""How often a lease is renewed in its own life: two renewals may fail before it ends."""


class RunHeartbeat:
    """Renews the lease of a run in a thread. lost: another process has taken over the run."""

    def __init__(self, engine: Engine, run: Run, clock: Callable[[], datetime]) -> None:
        self._engine = engine
        self._run = run
        self._clock = clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lease of run {run.id}", daemon=True)
        self.lost = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._run.lease_seconds / _RENEWALS):
            try:
                with self._engine.begin() as connection:
                    self.lost = not renew_run(connection, self._run, self._clock())
            except DBAPIError as error:
                log.warning("the lease of run %s was not renewed: %s", self._run.id, first_line(error))
            if self.lost:
                log.warning("the lease of run %s is lost: another took its work over", self._run.id)
                return
