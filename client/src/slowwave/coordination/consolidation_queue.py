"""Asking for passes over a scope: several asks while one is waiting are one message.

    nothing ── ask ──▶ asked (a ticket, for ASKED_SECONDS) ── ask ──▶ asked: nothing is sent
       ▲                          │
       └── a worker begins it ────┘   so an ask that comes while it runs sends the next one

Both functions raise `redis.exceptions.RedisError`; that loses nothing but time, since beat asks again for what is due.

Must not know: what a pass does, Celery, Postgres.
"""

from redis import Redis

from slowwave.coordination.keys import ASKED_SECONDS, CONSOLIDATE_QUEUE, consolidation_key
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import CONSOLIDATE_SCOPE, PassMode


def ask_for_pass(redis: Redis, tenant: str, kind: str, name: str, mode: PassMode = "working") -> bool:
    """Send a pass over the scope (kind: agent, room, team), unless one is on its way: then the answer is False."""
    ticket = new_id()
    if not redis.set(consolidation_key(mode, tenant, kind, name), ticket, nx=True, ex=ASKED_SECONDS):
        return False
    agent, scope = (name, None) if kind == "agent" else (None, f"{kind}:{name}")
    args = [agent, scope, mode, tenant, ticket]
    publish(redis, CONSOLIDATE_QUEUE, envelope(CONSOLIDATE_SCOPE, args, {}, CONSOLIDATE_QUEUE, task_id=ticket))
    return True


def begin_pass(redis: Redis, tenant: str, kind: str, name: str, mode: PassMode, ticket: str) -> None:
    """Note that the pass with this ticket begins: who asks from here on asks for another one."""
    key = consolidation_key(mode, tenant, kind, name)
    # Not one step, and need not be: a ticket that changes in between costs a message that finds nothing to do.
    current = redis.get(key)
    if current in {ticket, ticket.encode()}:
        redis.delete(key)
