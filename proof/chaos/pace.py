"""The speed of one producer: an average rate, in bursts and quiet periods."""

from collections.abc import Callable
from random import Random

_SPELL_SECONDS = (0.5, 4.0)
_QUIET_SHARE = 0.3
_CATCH_UP = 4.0
"""After a quiet spell, or after servers were away, it talks so many times faster than on average, and not more."""


class Pace:
    """The pace of a producer. rate: events per second. The events of a quiet period follow after it, in a burst."""

    def __init__(
        self, rate: float, random: Random, monotonic: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._rate = rate
        self._random = random
        self._monotonic = monotonic
        self._sleep = sleep
        self._began = monotonic()
        self._said = 0
        self._spell_ends = self._began

    def spent(self, events: int) -> None:
        """Note a number of new events, and wait as long as needed."""
        self._said += events
        now = self._monotonic()
        if now >= self._spell_ends:
            length = self._random.uniform(*_SPELL_SECONDS)
            self._spell_ends = now + length
            if self._random.random() < _QUIET_SHARE:
                self._sleep(length)
        ahead = self._said / self._rate - (self._monotonic() - self._began)
        self._sleep(ahead if ahead > 0 else events / (self._rate * _CATCH_UP))
