"""Count failed logins of the console by name and by address, to delay attempts that guess passwords.

An attempt counts before its password is compared, and a right password removes it from the count. So simultaneous
attempts count like successive ones. The broker keeps the counts, so that several consoles count together. While the
broker is unavailable, this process pauses after each failed login, one at a time, because a person who repairs the
broker must be able to log in.
"""

import hashlib
import ipaddress
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.keys import PREFIX

WINDOW_SECONDS = 300
MOST_OF_A_NAME = 10
"""Failures for one name from one address, in WINDOW_SECONDS."""
MOST_OF_AN_ADDRESS = 50
"""Failures from one address, whoever was meant. A name alone is never locked: that would let anybody lock it."""
PAUSE_SECONDS = 1.0
SITE_BITS = 64
"""Of an IPv6 address. Whoever has one address has all of these 64 bits."""

_alone = threading.Lock()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One login attempt.

    wait_seconds: the seconds until the next attempt is allowed; 0 if this one is. counted: False if the limit was
    reached, or if the broker could not count the attempt.
    """

    wait_seconds: float
    name: str
    address: str
    counted: bool


class LoginFailures:
    """The counts in `redis`."""

    def __init__(self, redis: Redis, sleep: Callable[[float], None] = time.sleep) -> None:
        self._redis = redis
        self._sleep = sleep

    def begin(self, name: str, address: str) -> Attempt:
        """Count one more attempt. An attempt beyond the limit is not counted again."""
        limits = _limits(name, address)
        try:
            counts = self._add([key for key, _ in limits], 1)
            over = [key for (key, most), count in zip(limits, counts, strict=True) if count > most]
            if not over:
                return Attempt(0.0, name, address, counted=True)
            self._add([key for key, _ in limits], -1)
            wait = max(self._redis.pttl(key) for key in over) / 1000
        except RedisError:
            return Attempt(0.0, name, address, counted=False)
        return Attempt(max(1.0, wait), name, address, counted=False)

    def succeeded(self, attempt: Attempt) -> None:
        """Remove the attempt from the count, because the password was right."""
        if attempt.counted:
            try:
                self._add([key for key, _ in _limits(attempt.name, attempt.address)], -1)
            except RedisError:
                return

    def failed(self, attempt: Attempt) -> None:
        """Keep the attempt in the count, because the password was wrong. Pauses if the broker could not count it."""
        if not attempt.counted:
            with _alone:
                self._sleep(PAUSE_SECONDS)

    def _add(self, keys: Sequence[str], number: int) -> list[int]:
        """Add to the counts of `keys`, which expire WINDOW_SECONDS after the first attempt. Return the new counts."""
        pipeline = self._redis.pipeline(transaction=True)
        for key in keys:
            pipeline.set(key, 0, ex=WINDOW_SECONDS, nx=True)
            pipeline.incrby(key, number)
        return [int(count) for count in pipeline.execute()[1::2]]


def _limits(name: str, address: str) -> list[tuple[str, int]]:
    """Return the keys with their limits. Keys contain digests: people type passwords into the name field."""
    site = _site(address)
    both = hashlib.sha256(f"{site}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    alone = hashlib.sha256(site.encode()).hexdigest()[:32]
    return [
        (f"{PREFIX}login-failures:name:{both}", MOST_OF_A_NAME),
        (f"{PREFIX}login-failures:address:{alone}", MOST_OF_AN_ADDRESS),
    ]


def _site(address: str) -> str:
    """Return the address, or the network of SITE_BITS of an IPv6 address. IPv4 written as IPv6 counts as IPv4."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, SITE_BITS), strict=False))
