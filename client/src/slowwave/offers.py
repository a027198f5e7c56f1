"""Telling the workers, from the reply path: a wake-up that may fail, since the sweep finds whatever is due.

Must not know: Postgres, what makes a flush due.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from slowwave.errors import InvalidSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slowwave.coordination.answers import Priority
    from slowwave.coordination.flush_queue import FlushQueue
    from slowwave.identity import SessionRef
    from slowwave.settings import Settings

log = logging.getLogger(__name__)

REST_SECONDS = 5.0
"""After a failure nothing is offered for so long: a server that doesn't answer costs one reply a wait, not each."""


class Complaints:
    """Says a thing once a minute at most; the same trouble comes with every call."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._quiet_until = float("-inf")

    def say(self, message: str, *details: object) -> None:
        if self._clock() >= self._quiet_until:
            self._quiet_until = self._clock() + 60
            log.warning(message, *details)


class Offers:
    """Offers sessions to the flush queue. `queue`: None connects to `settings.broker_url` at the first offer."""

    def __init__(
        self, settings: Settings, queue: FlushQueue | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._queue = queue
        self._clock = clock
        self._rests_until = float("-inf")
        self._complaints = Complaints(clock)

    def offer(self, refs: Sequence[SessionRef], priority: Priority) -> None:
        """Offer these sessions in one round trip. Never raises for a server that can't be reached."""
        if not refs or not self._settings.memory.auto_flush.enabled or self._clock() < self._rests_until:
            return
        from redis.exceptions import RedisError  # noqa: PLC0415 (redis takes longer to import than all of the client)

        try:
            queue = self.queue()
            if len(refs) == 1:
                queue.offer(refs[0], priority)
            else:
                queue.offer_many([(ref, priority) for ref in refs])
        except (RedisError, OSError) as error:
            self._rests_until = self._clock() + REST_SECONDS
            self._complaints.say("no flush could be offered, the sweep will find what is due: %s", error)

    def queue(self) -> FlushQueue:
        """The flush queue, made when it is first asked for. Raises InvalidSettings for a broker_url of no use."""
        if self._queue is None:
            from slowwave.coordination.flush_queue import FlushQueue, redis_from_url  # noqa: PLC0415 (as above)

            flushing = self._settings.memory.auto_flush
            try:
                redis = redis_from_url(self._settings.broker_url)
            except ValueError as error:
                raise InvalidSettings(f"broker_url can't be used: {error}") from None
            self._queue = FlushQueue(
                redis,
                ticket_seconds=flushing.ticket_seconds,
                lease_seconds=flushing.lease_seconds,
                per_agent_concurrency=flushing.per_agent_concurrency,
            )
        return self._queue
