"""Decide how a failed flush continues: wait, halve the window, or quarantine one event. A failure is never ignored."""

from dataclasses import dataclass
from enum import StrEnum

FIRST_DELAY_SECONDS = 2.0
LONGEST_DELAY_SECONDS = 300.0
LONGEST_RETRY_AFTER_SECONDS = 3600.0
"""The longest wait at a server's request; after that time the call is retried anyway."""


class FailureKind(StrEnum):
    """The cause of a failure. transient: the environment failed (network, rate limit, an unavailable server); waiting
    helps, and the failure uses no attempt. poison: the window itself probably fails; a retry would not help.
    """

    TRANSIENT = "transient"
    POISON = "poison"


class TransientError(Exception):
    """An extractor raises this error if the environment failed and not the window. Any other exception counts as
    poison.

    retry_after: the seconds that the server asked the caller to wait, or None.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WindowTaken(Exception):
    """Another worker committed the window while this worker waited for the model's answer, so no work is left."""


class Action(StrEnum):
    """The decision: retry the same window later, halve it, or quarantine its only event."""

    WAIT = "wait"
    HALVE = "halve"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision. delay_seconds: the wait from now; window_limit: the most events in the next window."""

    action: Action
    delay_seconds: float = 0.0
    window_limit: int | None = None


def backoff(failures: int, jitter: float, *, retry_after: float | None = None) -> float:
    """Return the seconds to wait after the `failures`-th failure in a row (1, 2, …): 2, 4, 8 … 300, spread by `jitter`
    in 0..1.

    The delay is at least half of this value, and `jitter` spreads it over the other half, so that sessions that failed
    together do not retry together. A server's `retry_after` is the minimum, up to an hour.
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
    """Decide how a failed window continues.

    attempts: the number of starts of this window, including this one; failures: the number of consecutive failures for
    any reason, including this one; window_events: its number of events; bisecting: True if this window is a part of a
    larger window that failed before, so that it is halved immediately.
    """
    if kind is FailureKind.TRANSIENT:
        return Decision(Action.WAIT, backoff(failures, jitter, retry_after=retry_after))
    if window_events > 1 and (bisecting or attempts > max_retries):
        return Decision(Action.HALVE, window_limit=window_events // 2)
    if attempts <= max_retries:
        return Decision(Action.WAIT, backoff(attempts, jitter))
    return Decision(Action.QUARANTINE)
