"""Enqueue deliveries to a scope's memory files, with at most one message per scope in the queue (`ask_once.py`)."""

from redis import Redis

from slowwave.coordination.ask_once import as_asked, ask_once, begin_asked
from slowwave.coordination.keys import ASKED_SECONDS, CONSOLIDATE_QUEUE, files_key
from slowwave.messages import DELIVER_OUTBOX


def ask_for_delivery(redis: Redis, tenant: str, kind: str, name: str) -> bool:
    """Enqueue a delivery for the scope (kind: agent, room, team). Return False if a message for this scope is in the
    queue.

    Raises `InvalidName` and redis' own errors. An error of Redis only delays the delivery, because beat requests it
    again.
    """
    return ask_once(
        redis,
        files_key(tenant, kind, name),
        DELIVER_OUTBOX,
        CONSOLIDATE_QUEUE,
        lambda ticket: [*as_asked(kind, name), tenant, ticket],
        seconds=ASKED_SECONDS,
    )


def begin_delivery(redis: Redis, tenant: str, kind: str, name: str, ticket: str) -> None:
    """Delete the ticket when the delivery begins, so that a request from now on enqueues another delivery."""
    begin_asked(redis, files_key(tenant, kind, name), ticket)
