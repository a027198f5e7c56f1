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
    """Send the task's message to the queue, unless a message with this key is in it. Return True if one was sent.

    arguments: builds the positional arguments from a ticket. seconds: how long an unprocessed message counts as queued.
    """
    ticket = new_id()
    # With GET, Redis reports a key of a wrong type, and the key is renamed. Without GET, the key would block requests
    # for ever.
    if redis.set(key, ticket, nx=True, ex=seconds, get=True) is not None:
        return False
    publish(redis, queue, envelope(task, arguments(ticket), {}, queue, task_id=ticket))
    return True


def as_asked(kind: str, name: str) -> tuple[str | None, str | None]:
    """Return a scope as task arguments: (agent, None) for an agent's own, else (None, "room:NAME" or "team:NAME")."""
    return (name, None) if kind == "agent" else (None, f"{kind}:{name}")


def begin_asked(redis: Redis, key: str, ticket: str) -> None:
    """Delete the ticket when the work begins, so that the next request sends a new message."""
    # The two steps need not be atomic: if the ticket changes in between, one message too many finds no work. Any client
    # may write a ticket into a message, so a lone surrogate is treated as an unknown ticket, not as an error.
    if redis.get(key) in {ticket, ticket.encode("utf-8", "surrogatepass")}:
        redis.delete(key)
