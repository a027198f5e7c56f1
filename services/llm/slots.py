"""Limit the number of model calls over all workers: each call takes a slot with a lease, and returns it.

If a worker dies, its slot stays taken until the lease ends. FLUSHALL frees the slots of running calls, so until these
end, there may be twice as many calls.
"""

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any
from uuid import uuid4

from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.keys import MODEL_SLOTS_KEY
from slowwave_server.domain.failures import TransientError

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.5
"""Between two looks for a free slot, twice as long each time, spread by chance. A call takes seconds."""

_TAKE = (files("slowwave_server.services.llm") / "take_slot.lua").read_text("utf-8")


@dataclass
class Slots:
    """At most `limit` slots. lease_seconds: a time longer than any call. wait_seconds: the longest wait for a free
    slot.

    pause: waits this many seconds; jitter: returns a number from 0 to 1.
    """

    redis: Redis
    limit: int
    lease_seconds: float
    wait_seconds: float
    pause: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    _take: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._take = self.redis.register_script(_TAKE)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a slot for the block. Raises TransientError if no slot is free in time or Redis is unavailable."""
        token = uuid4().hex
        try:
            self._wait(token)
            yield
        finally:
            self._give_back(token)

    def _wait(self, token: str) -> None:
        """Take a slot, and wait while all are taken. The waiting time is the sum of the pauses."""
        waited, pause = 0.0, FIRST_PAUSE_SECONDS
        while (left_ms := self._try(token)) is not None:
            if waited >= self.wait_seconds:
                # This is the latest time; probably a slot is free before.
                retry_after = min(left_ms / 1000, self.wait_seconds)
                raise TransientError(f"all {self.limit} concurrent calls are running", retry_after=retry_after)
            rest = min(pause * (0.5 + self.jitter() / 2), self.wait_seconds - waited)
            self.pause(rest)
            waited += rest
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _try(self, token: str) -> int | None:
        """Take a slot and return None, or return the milliseconds until the first lease ends."""
        try:
            taken, left_ms = self._take(
                keys=[MODEL_SLOTS_KEY], args=[token, self.limit, max(round(self.lease_seconds * 1000), 1)]
            )
        except RedisError:
            raise TransientError("the broker can't be reached, so the number of running calls is unknown") from None
        return None if taken else int(left_ms)

    def _give_back(self, token: str) -> None:
        try:
            self.redis.zrem(MODEL_SLOTS_KEY, token)
        except RedisError:
            log.warning("a slot could not be returned: it is free again in %g s", self.lease_seconds)
