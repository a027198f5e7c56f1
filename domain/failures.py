"""What to do when a flush fails: wait, look at less, or set one event aside. Never: move on as if nothing were.

Must not know: exceptions of any library, the clock, where attempts are counted.
"""

from dataclasses import dataclass
from enum import StrEnum

FIRST_DELAY_SECONDS = 2.0
LONGEST_DELAY_SECONDS = 300.0
LONGEST_RETRY_AFTER_SECONDS = 3600.0
"""Nothing waits longer than this because a server asked for it: then it is asked again."""


class FailureKind(StrEnum):
    """Who is to blame. `transient`: the surroundings (network, rate limit, a server that is away); waiting helps and
    no attempt is used up. `poison`: the window itself, as far as one can tell; trying for ever would not help.
    """

    TRANSIENT = "transient"
    POISON = "poison"


class TransientError(Exception):
    """What an extractor raises when the surroundings failed and not the window. Anything else it raises is poison.

    retry_after: seconds that the other side asked for, or None.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WindowTaken(Exception):
    """Another worker committed the window while this one waited for the model's answer: nothing is left to do."""


class Action(StrEnum):
    """The decision: try the same window later, halve it, or quarantine its only event."""

    WAIT = "wait"
    HALVE = "halve"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Decision:
    """delay_seconds counts from now and is 0 unless waiting; window_limit is the next window's bound, in events."""

    action: Action
    delay_seconds: float = 0.0
    window_limit: int | None = None


def backoff(failures: int, jitter: float, *, retry_after: float | None = None) -> float:
    """Seconds to wait after the `failures`-th failure in a row (1, 2, …): 2, 4, 8 … 300, spread by `jitter` in 0..1.

    Full jitter on the upper half, so that sessions that failed together do not come back together. A server's own
    `retry_after` is a floor, up to an hour.
    """
    ceiling = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * (1 << min(max(failures - 1, 0), 16)))
    delay = ceiling / 2 + ceiling / 2 * min(max(jitter, 0.0), 1.0)
    return max(delay, min(retry_after or 0.0, LONGEST_RETRY_AFTER_SECONDS))


def decide(
    kind: FailureKind,
    *,
    attempts: int,
    failures: int,
    window_events: int,
    bisecting: bool,
    max_retries: int,
    jitter: float,
    retry_after: float | None = None,
) -> Decision:
    """Decide on a failed window.

    attempts: how often this window was started, this time included; failures: how often in a row it failed for any
    reason, this time included; window_events: how many events it held; bisecting: a larger window failed before and
    this one is a part of it, so it is halved at once.
    """
    if kind is FailureKind.TRANSIENT:
        return Decision(Action.WAIT, backoff(failures, jitter, retry_after=retry_after))
    if window_events > 1 and (bisecting or attempts > max_retries):
        return Decision(Action.HALVE, window_limit=window_events // 2)
    if attempts <= max_retries:
        return Decision(Action.WAIT, backoff(attempts, jitter))
    return Decision(Action.QUARANTINE)
