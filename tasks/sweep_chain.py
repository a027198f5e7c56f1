"""The chain of sweeps: a cycle that hit its cap sends the next one to the end of the flush queue.

So does the flush that handed on to the last parked session of its agent: what a sweep has parked is flushed one after
the other, and the next few are looked for when these are through, not while they wait.

There it is reached when the workers have taken what stands before it, so a backlog drains at their full speed, without
polling and without a queue that grows. One chain lives at a time; a lost link is replaced after LINK_SECONDS by beat.

Must not know: what a sweep does.
"""

from redis import Redis

from slowwave.coordination.keys import LINK_KEY, LINK_SECONDS, NORMAL_QUEUE
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import SWEEP_SESSIONS


def is_next_link(redis: Redis, link: str | None) -> bool:
    """Whether this sweep may run. One from beat (link None) may unless a chain is alive; a link only once."""
    if link is None:
        # A key without a lifetime is none of ours: it must not hold all sweeps up.
        return int(redis.pttl(LINK_KEY)) < 0
    current = redis.get(LINK_KEY)
    if current is not None and current != link.encode():
        return False
    redis.delete(LINK_KEY)
    return True


def continue_sweep(redis: Redis) -> None:
    """Send the next link, unless another chain has one on its way."""
    link = new_id()
    if redis.set(LINK_KEY, link, nx=True, ex=LINK_SECONDS, get=True) is None:
        publish(redis, NORMAL_QUEUE, envelope(SWEEP_SESSIONS, [link], {}, NORMAL_QUEUE, task_id=link))
