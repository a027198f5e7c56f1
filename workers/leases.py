"""Keep the leases of this process's running flushes: one thread renews all registered leases."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef

log = logging.getLogger(__name__)


class LeaseThread:
    """Renews every registered lease three times in its lifetime. The thread starts with the first lease and never ends.

    A lost lease (FLUSHALL, a long pause) is dropped and logged; the compare-and-swap of the commit then decides.
    """

    def __init__(self, queue: FlushQueue, *, lease_seconds: float) -> None:
        self._queue = queue
        self._interval = lease_seconds / 3
        self._lock = threading.Lock()
        self._held: set[tuple[SessionRef, str]] = set()
        self._pid = 0
        self._timer = threading.Event()  # never set: the thread only waits

    @contextmanager
    def keep(self, ref: SessionRef, token: str) -> Iterator[None]:
        """Renew the lease while the block runs."""
        lease = (ref, token)
        with self._lock:
            self._held.add(lease)
            if self._pid != os.getpid():
                self._start()
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(lease)

    def _start(self) -> None:
        self._pid = os.getpid()
        threading.Thread(target=self._run, name="leases", daemon=True).start()

    def _run(self) -> None:
        while not self._timer.wait(self._interval):
            self.renew_all()

    def renew_all(self) -> None:
        """Renew all held leases in one round trip."""
        with self._lock:
            held = list(self._held)
        if not held:
            return
        try:
            answers = self._queue.renew_many(held)
        except RedisError as error:
            log.warning("leases could not be renewed: %s", error)
            return
        for lease, ours in zip(held, answers, strict=True):
            if not ours:
                log.warning("the lease of %s/%s is lost", lease[0].agent, lease[0].session)
                with self._lock:
                    self._held.discard(lease)
