"""Enqueue a task once: while its message is in the queue, further requests send no second message.

    nothing ── ask ──▶ asked (a ticket, for ASKED_SECONDS) ── ask ──▶ asked: no message
       ▲                          │
       └── a worker begins it ────┘   so an ask during the work sends the next message

If Redis fails, the functions raise `redis.exceptions.RedisError`. A failed request only delays the work, because beat,
Celery's scheduler, requests all due work again.
"""

from collections.abc import Callable, Sequence
from typing import Any

from redis import Redis

from slowwave.coordination.queue_messages import envelope, new_id, publish


def ask_once(
    redis: Redis, key: str, task: str, queue: str, arguments: Callable[[str], Sequence[Any]], *, seconds: int
) -> bool:
    """Send the task's message, unless a message with this key is already in the queue.

    Args:
        redis: the broker.
        key: the Redis key that identifies the work.
        task: the task's name.
        queue: the queue.
        arguments: builds the task's positional arguments from a ticket.
        seconds: how long an unprocessed message counts as queued.

    Returns:
        True if a message was sent.
    """
    ticket = new_id()
    # With GET a key of a wrong type is an error, and is set aside; without, it would count as an ask for ever.
    if redis.set(key, ticket, nx=True, ex=seconds, get=True) is not None:
        return False
    publish(redis, queue, envelope(task, arguments(ticket), {}, queue, task_id=ticket))
    return True


def as_asked(kind: str, name: str) -> tuple[str | None, str | None]:
    """A scope as payloads name it: (agent, None) for an agent's own, (None, "room:NAME") or (None, "team:NAME")."""
    return (name, None) if kind == "agent" else (None, f"{kind}:{name}")


def begin_asked(redis: Redis, key: str, ticket: str) -> None:
    """Delete the ticket when the work begins, so that a request from now on sends the next message."""
    # Not one step, and need not be: a ticket that changes in between costs a message that finds nothing to do.
    # Anybody may write a ticket into a message; a lone surrogate is no error, and no ticket of ours.
    if redis.get(key) in {ticket, ticket.encode("utf-8", "surrogatepass")}:
        redis.delete(key)
