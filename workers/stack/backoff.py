"""Compute the delay before a dead program is started again."""

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
HEALTHY_SECONDS = 60.0
"""A program that lived at least this long has recovered: its next death counts as the first."""


def next_delay(previous: float, alive: float) -> float:
    """Return the seconds to wait. previous: the wait before this start (0: none). alive: the seconds that it lived."""
    if previous <= 0 or alive >= HEALTHY_SECONDS:
        return FIRST_SECONDS
    return min(LONGEST_SECONDS, max(FIRST_SECONDS, previous * 2))
