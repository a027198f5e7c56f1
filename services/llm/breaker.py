"""A circuit breaker per endpoint: after several failures in a row no worker calls it for a while, then one call tries.

An `Unanswered` counts as a failure, and so does an `AccessRefused`, because the key is wrong for every prompt. Any
other failure is an answer of the endpoint and shows that it works.
"""

import logging
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, NoReturn

from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.keys import model_breaker_key
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.llm.drivers import AccessRefused

log = logging.getLogger(__name__)

_AWAY = "the broker can't be reached, so the state of the model's endpoint is unknown"
KEPT_SECONDS = 3600.0
"""How long failures in a row are remembered while nothing is asked, and an open breaker once its time is over."""

Why = Literal["away", "refused"]

_FOLDER = files("slowwave_server.services.llm")
_ENTER = (_FOLDER / "enter_breaker.lua").read_text("utf-8")
_FAIL = (_FOLDER / "fail_breaker.lua").read_text("utf-8")


@dataclass
class Breaker:
    """The breaker of one endpoint, over all workers. limit: the number of consecutive failures that opens it;
    open_seconds: how long it stays open; trial_seconds: a time longer than any call.
    """

    redis: Redis
    endpoint: str
    limit: int
    open_seconds: float
    trial_seconds: float
    _enter: Any = field(init=False, repr=False)
    _fail: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._enter = self.redis.register_script(_ENTER)
        self._fail = self.redis.register_script(_FAIL)

    def look(self) -> None:
        """Raise the error that `enter` would raise. It writes nothing to Redis, so read access suffices."""
        why, left_ms = self._read()
        if why is not None and left_ms > 0:
            self._refuse(left_ms, why)

    def known(self) -> tuple[Why | None, float]:
        """Return the reason why the breaker is open, and the remaining seconds; (None, 0) if it is closed.

        After this time, the reason stays until a call has an answer, with 0 seconds. Raises TransientError while the
        broker, which stores the state, is unavailable.
        """
        why, left_ms = self._read()
        if why is None:
            return None, 0.0
        return "refused" if _text(why) == "refused" else "away", left_ms / 1000

    def _read(self) -> tuple[bytes | str | None, float]:
        """Return the reason why it is open (None if closed), and the milliseconds for which no call passes."""
        try:
            with self.redis.pipeline(transaction=False) as pipeline:
                pipeline.hmget(self._key, "until", "why", "trial_until")
                pipeline.time()
                (until, why, trial_until), (seconds, microseconds) = pipeline.execute()
        except RedisError:
            raise TransientError(_AWAY) from None
        if until is None:
            return None, 0.0
        now = seconds * 1000 + microseconds // 1000
        ends = [float(time) for time in (until, trial_until) if time is not None and now < float(time)]
        return why, ends[0] - now if ends else 0.0

    def enter(self, token: str) -> None:
        """Let a call pass, or raise: TransientError while the endpoint is down, AccessRefused while it refuses the key.

        token: the id of this call, which identifies the trial call of a half-open breaker.
        """
        try:
            state, left_ms, why = self._enter(
                keys=[self._key], args=[token, _ms(self.trial_seconds), _ms(KEPT_SECONDS)]
            )
        except RedisError:
            raise TransientError(_AWAY) from None
        if _text(state) == "OPEN":
            self._refuse(float(left_ms), why)

    def _refuse(self, left_ms: float, why: bytes | str) -> NoReturn:
        left = max(left_ms, 0.0) / 1000
        if _text(why) == "refused":
            raise AccessRefused(f"{self.endpoint} refuses the key; no call is sent to it for another {left:.0f} s")
        raise TransientError(
            f"{self.endpoint} failed repeatedly; no call is sent to it for another {left:.0f} s", retry_after=left
        )

    def succeeded(self) -> None:
        """Record that the endpoint has answered."""
        try:
            self.redis.delete(self._key)
        except RedisError:
            log.warning("the broker can't be reached: an answer of %s is not recorded", self.endpoint)

    def failed(self, token: str, why: Why, *, retry_after: float | None = None) -> None:
        """Record a call without an answer. retry_after: the requested seconds; an open breaker stays open as long."""
        open_ms = _ms(max(self.open_seconds, retry_after or 0.0))
        try:
            opened = self._fail(keys=[self._key], args=[token, self.limit, open_ms, why, _ms(KEPT_SECONDS)])
        except RedisError:
            log.warning("the broker can't be reached: a failure of %s is not recorded", self.endpoint)
            return
        if opened:
            log.warning("%s is not asked for %g s: it is %s", self.endpoint, open_ms / 1000, _said(why))

    @property
    def _key(self) -> str:
        return model_breaker_key(self.endpoint)


def _ms(seconds: float) -> int:
    return max(round(seconds * 1000), 1)


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _said(why: Why) -> str:
    return "away" if why == "away" else "refusing the key"
