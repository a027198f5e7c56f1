"""Rate limits per key and tenant, and daily quotas of recorded events, counted in Redis for all gateways.

The limits apply to keys, never to addresses, so neither a proxy nor many hosts can evade them. While Redis is
unavailable, nothing is counted.
"""

import math
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from redis import Redis
from redis.exceptions import RedisError

from slowwave.offers import ThrottledLog
from slowwave.settings_sections import Gateway
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.gateway.script_calls import ScriptCalls

PREFIX = "slowwave:gateway:"
REST_SECONDS = 5.0
"""After a failure nothing is asked of Redis for so long: one that hangs costs one request a wait, not each."""
DAY_SECONDS = 86_400


class Limits:
    """Takes a token for each request. steady: a monotonic clock in seconds."""

    def __init__(self, redis: Redis, rules: Gateway, steady: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._rules = rules
        self._steady = steady
        self._script = ScriptCalls(redis, (files(__package__) / "limits.lua").read_text("utf-8"))
        self._rates = (
            *(rules.requests_per_second, rules.burst),
            *(rules.tenant_requests_per_second, rules.tenant_burst),
        )
        self._counts = rules.requests_per_second > 0 or rules.tenant_requests_per_second > 0
        self._rests_until = float("-inf")
        self._throttled_log = ThrottledLog()

    def send(self, caller: Caller) -> Any:
        """Request the tokens without waiting. Return a value from which `take` reads the answer, or None."""
        if not self._counts or self._steady() < self._rests_until:
            return None
        return self._script.send(_buckets(caller), self._rates)

    def take(self, caller: Caller, sent: Any = None) -> dict[str, str]:
        """Take a token of the key and its tenant; return the headers. Raises Problem. sent: the result of `send`."""
        if sent is None and (not self._counts or self._steady() < self._rests_until):
            return {}
        try:
            allowed, *found = map(int, self._script.answer(sent, _buckets(caller), self._rates).split())
        except RedisError as error:
            self._failed(error)
            return {}
        headers = self._headers(found)
        if not allowed:
            raise _too_many(found, headers)
        return headers

    def _headers(self, found: list[int]) -> dict[str, str]:
        """Return the headers for the bucket with fewer tokens left."""
        bounded = [(left, full, most) for left, full, most in self._bounded(found)]
        left, full, most = min(bounded)
        return {
            "RateLimit-Limit": str(most),
            "RateLimit-Remaining": str(left),
            "RateLimit-Reset": str(math.ceil(full / 1e6)),
        }

    def _bounded(self, found: list[int]) -> list[tuple[int, int, int]]:
        rules = self._rules
        rates = ((rules.requests_per_second, rules.burst), (rules.tenant_requests_per_second, rules.tenant_burst))
        return [(found[3 * place], found[3 * place + 1], most) for place, (rate, most) in enumerate(rates) if rate > 0]

    def check_quota(self, caller: Caller, now: datetime) -> None:
        """Raise Problem if the tenant has used up its quota of events today (UTC)."""
        most = self._rules.tenant_events_per_day
        if not most or self._steady() < self._rests_until:
            return
        try:
            recorded = int(self._redis.get(_quota_key(caller.tenant, now)) or 0)
        except RedisError as error:
            self._failed(error)
            return
        if recorded >= most:
            tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
            seconds = math.ceil((tomorrow - now).total_seconds())
            detail = f"the tenant has recorded {recorded:,} events today (UTC), and may record {most:,}"
            raise Problem(
                429, "quota-used", detail, title="The daily quota is used up", headers={"Retry-After": str(seconds)}
            )

    def count(self, caller: Caller, events: int, now: datetime) -> None:
        """Count recorded events."""
        if not self._rules.tenant_events_per_day or not events or self._steady() < self._rests_until:
            return
        key = _quota_key(caller.tenant, now)
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                pipeline.incrby(key, events)
                pipeline.expire(key, 2 * DAY_SECONDS)
                pipeline.execute()
        except RedisError as error:
            self._failed(error)

    def _failed(self, error: RedisError) -> None:
        self._rests_until = self._steady() + REST_SECONDS
        self._throttled_log.warn("requests are not counted, the broker can't be asked: %s", error)


def _buckets(caller: Caller) -> tuple[str, str]:
    return f"{PREFIX}rate:key:{caller.key_id}", f"{PREFIX}rate:tenant:{quote(caller.tenant, safe='')}"


def _quota_key(tenant: str, now: datetime) -> str:
    return f"{PREFIX}events:{quote(tenant, safe='')}:{now:%Y-%m-%d}"


def _too_many(found: list[int], headers: dict[str, str]) -> Problem:
    seconds = max(1, math.ceil(max(found[2], found[5]) / 1e6))
    whose = "this key" if found[2] >= found[5] else "this key's tenant"
    return Problem(
        429,
        "too-many-requests",
        f"{whose} has asked more often than it may; ask again in {seconds} s",
        title="Too many requests",
        headers=headers | {"Retry-After": str(seconds)},
    )
