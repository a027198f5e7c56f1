"""Make offers from the reply path: messages that wake workers. An offer may fail: the sweep finds all due sessions."""

from __future__ import annotations

# redis imports it, and Python refuses its first import at the end of a program, when the last offers are made.
import concurrent.futures.thread  # noqa: F401
import logging
import queue
import threading
import time
from typing import TYPE_CHECKING

from slowwave.errors import InvalidSettings
from slowwave.tracing import traceparent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

    from slowwave.coordination.flush_queue import FlushQueue
    from slowwave.coordination.outcomes import Priority
    from slowwave.identity import SessionRef
    from slowwave.settings import Settings

log = logging.getLogger(__name__)

REST_SECONDS = 5.0
"""After a failure nothing is offered for so long: a server that doesn't answer costs one reply a wait, not each."""


class ThrottledLog:
    """Logs at most one warning a minute, because the same failure comes with every call."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._silent_until = float("-inf")

    def warn(self, message: str, *details: object) -> None:
        if self._clock() >= self._silent_until:
            self._silent_until = self._clock() + 60
            log.warning(message, *details)


class Offers:
    """Offers sessions to the flush queue. flush_queue: with None, the first offer connects to `settings.broker_url`."""

    def __init__(
        self, settings: Settings, flush_queue: FlushQueue | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._queue = flush_queue
        self._redis: Redis | None = None
        self._clock = clock
        self._rests_until = float("-inf")
        self._throttled_log = ThrottledLog(clock)
        self._waiting: queue.Queue[tuple[list[tuple[SessionRef, Priority]], str | None]] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def enqueue_async(self, refs: Sequence[SessionRef], priority: Priority) -> None:
        """Offer these sessions in a thread, in the order of the calls, so that a reply does not wait."""
        if refs and self._settings.memory.auto_flush.enabled:
            # Read the traceparent here, because the span of the hook is not open in the other thread.
            self._waiting.put(([(ref, priority) for ref in refs], traceparent()))
            if self._thread is None:
                with self._lock:
                    if self._thread is None:
                        self._thread = threading.Thread(target=self._run, name="slowwave-offers", daemon=True)
                        self._thread.start()

    def enqueue(
        self, offers: Sequence[tuple[SessionRef, Priority]], *, traces: Sequence[str | None] | None = None
    ) -> None:
        """Make these offers in one round trip; an unreachable server raises nothing. traces: as in `offer_many`."""
        if not offers or not self._settings.memory.auto_flush.enabled or self._clock() < self._rests_until:
            return
        from redis.exceptions import RedisError  # noqa: PLC0415 (redis takes longer to import than all of the client)

        try:
            self.queue().offer_many(offers, traces=traces)
        except (RedisError, OSError, InvalidSettings) as error:
            self._rests_until = self._clock() + REST_SECONDS
            self._throttled_log.warn("no flush could be enqueued; the next sweep finds the due sessions: %s", error)

    def settle(self, timeout: float) -> bool:
        """Wait until all enqueued offers are made. Return False if this takes longer than `timeout` seconds."""
        with self._waiting.all_tasks_done:
            return self._waiting.all_tasks_done.wait_for(lambda: not self._waiting.unfinished_tasks, timeout)

    def close(self) -> None:
        """Close the broker's connections. The sweep makes the offers that are still queued."""
        if self._redis is not None:
            self._redis.close()

    def redis(self) -> Redis:
        """Return the broker's client, connected on first use. Raises InvalidSettings for an invalid broker_url."""
        if self._redis is None:
            from slowwave.coordination.broker import connect_broker  # noqa: PLC0415 (as above)

            try:
                self._redis = connect_broker(self._settings)
            except ValueError as error:
                raise InvalidSettings(f"broker_url can't be used: {error}") from None
        return self._redis

    def queue(self) -> FlushQueue:
        """Return the flush queue, made on first use. Raises InvalidSettings for an invalid broker_url."""
        if self._queue is None:
            from slowwave.coordination.flush_queue import FlushQueue  # noqa: PLC0415 (as above)

            flushing = self._settings.memory.auto_flush
            self._queue = FlushQueue(
                self.redis(),
                ticket_seconds=flushing.ticket_seconds,
                lease_seconds=flushing.lease_seconds,
                per_agent_concurrency=flushing.per_agent_concurrency,
            )
        return self._queue

    def _run(self) -> None:
        while True:
            calls = [self._waiting.get()]
            while not self._waiting.empty():
                calls.append(self._waiting.get())
            traces = [trace for offers, trace in calls for _ in offers]
            try:
                self.enqueue([offer for offers, _ in calls for offer in offers], traces=traces)
            except Exception:
                # Ignore the failure: the sweep finds due sessions, and the next offer tries again.
                log.exception("no flush could be enqueued")
            for _ in calls:
                self._waiting.task_done()
