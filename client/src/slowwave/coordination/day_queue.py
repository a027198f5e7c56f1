"""Asking for summaries of days, each once while it is on its way (`asking.py`), and for sweeps that finalise.

A summary and a final summary of one day are two asks: the first must not swallow the second, which alone ends the day.

Sweeps are debounced: after one was asked for, no other is for FINALIZE_DEBOUNCE_SECONDS, however many runs of tasks
end. What a sweep would have found then, the next one finds.

Must not know: what a summary says, when a day is due, Celery, Postgres.
"""

from datetime import date

from redis import Redis

from slowwave.coordination.asking import ask_once, begin_asked
from slowwave.coordination.keys import (
    ASKED_SECONDS,
    DAYS_QUEUE,
    FINALIZE_DEBOUNCE_SECONDS,
    FINALIZE_KEY,
    day_key,
)
from slowwave.messages import FINALIZE_DAYS, SUMMARIZE_DAY


def ask_for_summary(
    redis: Redis, tenant: str, agent: str, scope: str | None, day: date, *, final: bool = False
) -> bool:
    """Send a summary of the agent's local day, unless one is on its way: then the answer is False.

    scope: "room:NAME" or "team:NAME", None for the agent's own. Raises `InvalidName` and redis' own errors.
    """
    return ask_once(
        redis,
        day_key(tenant, agent, scope, day, final=final),
        SUMMARIZE_DAY,
        DAYS_QUEUE,
        lambda ticket: [tenant, agent, day.isoformat(), scope, ticket, final],
        seconds=ASKED_SECONDS,
    )


def begin_summary(
    redis: Redis, tenant: str, agent: str, scope: str | None, day: date, ticket: str, *, final: bool = False
) -> None:
    """Note that the summary with this ticket begins: who asks from here on asks for another one."""
    begin_asked(redis, day_key(tenant, agent, scope, day, final=final), ticket)


def ask_for_finalize(redis: Redis) -> bool:
    """Send a sweep over days that have ended, unless one was asked for a short time ago: then the answer is False."""
    return ask_once(redis, FINALIZE_KEY, FINALIZE_DAYS, DAYS_QUEUE, lambda _: [], seconds=FINALIZE_DEBOUNCE_SECONDS)
