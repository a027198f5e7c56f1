"""Ask for consolidation passes over a scope, once while one is queued (`ask_once.py`)."""

from redis import Redis

from slowwave.coordination.ask_once import as_asked, ask_once, begin_asked
from slowwave.coordination.keys import ASKED_SECONDS, CONSOLIDATE_QUEUE, consolidation_key
from slowwave.messages import CONSOLIDATE_SCOPE, PassMode


def ask_for_pass(redis: Redis, tenant: str, kind: str, name: str, mode: PassMode = "working") -> bool:
    """Send a task that runs a pass over the scope (kind: agent, room, team). Return False if one is already queued."""
    return ask_once(
        redis,
        consolidation_key(mode, tenant, kind, name),
        CONSOLIDATE_SCOPE,
        CONSOLIDATE_QUEUE,
        lambda ticket: [*as_asked(kind, name), mode, tenant, ticket],
        seconds=ASKED_SECONDS,
    )


def begin_pass(redis: Redis, tenant: str, kind: str, name: str, mode: PassMode, ticket: str) -> None:
    """Note that the pass with this ticket begins. A later request sends another message."""
    begin_asked(redis, consolidation_key(mode, tenant, kind, name), ticket)
