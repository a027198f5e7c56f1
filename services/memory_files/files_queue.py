"""Asking for deliveries to the memory files of a scope, each once while it is on its way (`asking.py`).

Must not know: what a delivery writes, Celery, Postgres.
"""

from redis import Redis

from slowwave.coordination.ask_once import as_asked, ask_once, begin_asked
from slowwave.coordination.keys import ASKED_SECONDS, CONSOLIDATE_QUEUE, files_key
from slowwave.messages import DELIVER_OUTBOX


def ask_for_delivery(redis: Redis, tenant: str, kind: str, name: str) -> bool:
    """Send a delivery for the scope (kind: agent, room, team), unless one is on its way: then the answer is False.

    Raises `InvalidName` and redis' own errors, which lose nothing but time: beat asks again.
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
    """Note that the delivery with this ticket begins: who asks from here on asks for another one."""
    begin_asked(redis, files_key(tenant, kind, name), ticket)
