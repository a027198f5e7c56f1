"""Compute how much the use of a memory raises or lowers its importance.

The gain depends only on the set of facts and the time, so any order of arrival gives the same number (I9):

- A conversation counts once: as "used" if a reply used the memory, else as "shown". Each further conversation counts
  less.
- Conversations in which a context showed the memory and no reply used it lower the importance, but the first few do not
  count, nor do a few more for each use. So showing a memory, for a high rank or any other reason, never raises its
  importance.
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
    """The use of a memory in one conversation.

    conversation: its number; None for all unknown conversations together. shown_at: the time at which a context last
    showed the memory; used_at: the time at which a reply last used it, None if no reply did. Times are aware.
    """

    conversation: int | None
    shown_at: datetime | None
    used_at: datetime | None


def use_gain(uses: Iterable[Use], now: datetime) -> float:
    """Return the change of importance, from -MAX_LOSS to MAX_GAIN."""
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
