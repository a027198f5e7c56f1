"""Enqueue summaries of days, with at most one message per day in the queue, and sweeps that finalise ended days.

Each summary is requested as final; if the day has not ended, it stays open. One kind of message therefore serves both
purposes, and a request for one purpose never suppresses a request for the other.

Sweeps are debounced: after a request, no other one is sent for FINALIZE_DEBOUNCE_SECONDS, even if many runs of tasks
end. The next sweep finds days that ended in the meantime.
"""

from datetime import date

from redis import Redis

from slowwave.coordination.ask_once import ask_once, begin_asked
from slowwave.coordination.keys import (
    ASKED_SECONDS,
    DAYS_QUEUE,
    FINALIZE_DEBOUNCE_SECONDS,
    FINALIZE_KEY,
    day_key,
)
from slowwave.messages import FINALIZE_DAYS, SUMMARIZE_DAY


def ask_for_summary(redis: Redis, tenant: str, agent: str, scope: str | None, day: date) -> bool:
    """Enqueue a summary of the agent's local day. Return False if a message for this day is already in the queue.

    scope: "room:NAME" or "team:NAME", None for the agent's own. Raises `InvalidName` and redis' own errors.
    """
    return ask_once(
        redis,
        day_key(tenant, agent, scope, day),
        SUMMARIZE_DAY,
        DAYS_QUEUE,
        lambda ticket: [tenant, agent, day.isoformat(), scope, ticket, True],
        seconds=ASKED_SECONDS,
    )


def begin_summary(redis: Redis, tenant: str, agent: str, scope: str | None, day: date, ticket: str) -> None:
    """Delete the ticket when the summary begins, so that a request from now on enqueues another summary."""
    begin_asked(redis, day_key(tenant, agent, scope, day), ticket)


def ask_for_finalize(redis: Redis) -> bool:
    """Send a sweep over ended days; return False if one was sent a short time ago."""
    return ask_once(redis, FINALIZE_KEY, FINALIZE_DAYS, DAYS_QUEUE, lambda _: [], seconds=FINALIZE_DEBOUNCE_SECONDS)
