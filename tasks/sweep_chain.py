"""The chain of sweeps: a cycle that hit its cap sends the next sweep to the end of the flush queue.

A flush also sends a sweep after it handed on to the last parked session of its agent. Parked sessions are flushed one
after the other, and a sweep looks for the next few only when they are finished, not while they wait.

Workers reach the link after the messages before it, so a backlog drains at their full speed, without polling and
without a growing queue. Only one chain exists at a time; beat replaces a lost link after LINK_SECONDS.
"""

from redis import Redis

from slowwave.coordination.keys import LINK_KEY, LINK_SECONDS, NORMAL_QUEUE
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import SWEEP_SESSIONS


def is_next_link(redis: Redis, link: str | None) -> bool:
    """Return True if this sweep may run. A sweep from beat (link None) may run unless a chain exists; a link may run
    once.
    """
    if link is None:
        # A key without a lifetime is not from Slowwave: it must not block all sweeps.
        return int(redis.pttl(LINK_KEY)) < 0
    current = redis.get(LINK_KEY)
    if current is not None and current != link.encode():
        return False
    redis.delete(LINK_KEY)
    return True


def continue_sweep(redis: Redis) -> None:
    """Send the next link, unless another chain has already sent one."""
    link = new_id()
    if redis.set(LINK_KEY, link, nx=True, ex=LINK_SECONDS, get=True) is None:
        publish(redis, NORMAL_QUEUE, envelope(SWEEP_SESSIONS, [link], {}, NORMAL_QUEUE, task_id=link))
