"""How much the use of a memory raises or lowers its importance.

The gain is a function of the set of facts and of the time alone, so any order of arrival gives the same number (I9):

- A conversation counts once: as used if a reply used the memory, else as shown. Each further one counts for less.
- Conversations that were shown the memory and did not use it lower it, but only beyond a few for free, and beyond a few
  more for each use. So being shown, because the memory ranks high or for any other reason, never raises it.
- Facts fade: after 30 days a fact counts half, after 180 days not at all.
"""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

MAX_GAIN = 0.3
"""The gain stays below this, however often the memory is used."""
MAX_LOSS = 0.2
"""The loss stays below this, however often the memory is shown in vain."""
HALF_LIFE = timedelta(days=30)
KEPT = timedelta(days=180)
"""An older fact does not count."""

_HALF_USED = 2.0
_FREE = 5.0
_FREE_PER_USE = 5.0
_HALF_IDLE = 10.0


class Use(NamedTuple):
    """What one conversation did with a memory.

    conversation: its number; None for all unknown ones together. shown_at: when a context last showed the memory;
    used_at: when a reply last used it; None if it did not. Aware times.
    """

    conversation: int | None
    shown_at: datetime | None
    used_at: datetime | None


def use_gain(uses: Iterable[Use], now: datetime) -> float:
    """The change of importance, from -MAX_LOSS to MAX_GAIN."""
    used_at: dict[int | None, datetime] = {}
    shown_at: dict[int | None, datetime] = {}
    for one in uses:
        for latest, at in ((used_at, one.used_at), (shown_at, one.shown_at)):
            if at is not None:
                latest[one.conversation] = max(at, latest.get(one.conversation, at))
    # fsum, because a plain sum depends on the order in its last digits.
    used = math.fsum(_weight(at, now) for at in used_at.values())
    ignored = math.fsum(_weight(at, now) for conversation, at in shown_at.items() if conversation not in used_at)
    idle = max(0.0, ignored - _FREE - _FREE_PER_USE * used)
    return round(MAX_GAIN * used / (used + _HALF_USED) - MAX_LOSS * idle / (idle + _HALF_IDLE), 3)


def _weight(at: datetime, now: datetime) -> float:
    age = max(now - at, timedelta())
    return 0.0 if age > KEPT else 0.5 ** (age / HALF_LIFE)
