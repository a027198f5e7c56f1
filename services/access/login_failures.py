"""How often logins of the console failed lately, by name and by address; who guesses waits.

The broker keeps the counts, so that several consoles count together. While it is away, logins of this process are let
through one at a time, with a pause after each that fails: whoever has to mend the broker must get in.

Must not know: passwords, pages.
"""

import hashlib
import threading
import time
from collections.abc import Callable

from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.keys import PREFIX

WINDOW_SECONDS = 300
MOST_OF_A_NAME = 10
"""Failures for one name from one address, in WINDOW_SECONDS."""
MOST_OF_AN_ADDRESS = 50
"""Failures from one address, whoever was meant. A name alone is never locked: that would let anybody lock it."""
PAUSE_SECONDS = 1.0

_alone = threading.Lock()


class LoginFailures:
    """The counts, in `redis`."""

    def __init__(self, redis: Redis, sleep: Callable[[float], None] = time.sleep) -> None:
        self._redis = redis
        self._sleep = sleep

    def wait_seconds(self, name: str, address: str) -> float:
        """How long to wait before the next try; 0 for not at all."""
        try:
            for key, most in _keys(name, address):
                if int(self._redis.get(key) or 0) >= most:
                    return max(1.0, self._redis.pttl(key) / 1000)
        except RedisError:
            return 0.0
        return 0.0

    def note(self, name: str, address: str) -> None:
        """One more failed."""
        try:
            pipeline = self._redis.pipeline(transaction=True)
            for key, _ in _keys(name, address):
                pipeline.set(key, 0, ex=WINDOW_SECONDS, nx=True)
                pipeline.incr(key)
            pipeline.execute()
        except RedisError:
            with _alone:
                self._sleep(PAUSE_SECONDS)


def _keys(name: str, address: str) -> list[tuple[str, int]]:
    """Digests: what somebody typed as a name may have been their password."""
    both = hashlib.sha256(f"{address}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    alone = hashlib.sha256(address.encode()).hexdigest()[:32]
    return [
        (f"{PREFIX}login-failures:name:{both}", MOST_OF_A_NAME),
        (f"{PREFIX}login-failures:address:{alone}", MOST_OF_AN_ADDRESS),
    ]
