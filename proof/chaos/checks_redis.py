"""Check Redis at rest: it has no lease, ticket, place or message, and no key of Slowwave could stay for ever."""

import time
from collections.abc import Callable, Iterable

from redis import Redis

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, some
from proof.chaos.held import held_keys, lasting_keys, messages, model_slots

_POLL_SECONDS = 0.2


def nothing_is_held(evidence: Evidence) -> list[Finding]:
    """Check that Redis has no lease, ticket or message. A sweep may be in transit at any moment: transient keys don't
    count.
    """
    client, patience = evidence.redis, evidence.patience
    return [
        *_left(client, patience, "keys are held: leases, tickets, places or marks for a rerun", held_keys),
        *_left(client, patience, "queues or lists of unacknowledged messages are not empty", messages),
        *_left(client, patience, "slots of the model are taken", model_slots),
        *_left(client, patience, "keys could stay for ever", lasting_keys),
    ]


CHECKS = (nothing_is_held,)


def _left(client: Redis, patience: float, what: str, look: Callable[[Redis], Iterable[str] | int]) -> list[Finding]:
    until = time.monotonic() + patience
    while found := look(client):
        if time.monotonic() > until:
            number = found if isinstance(found, int) else len(list(found))
            return [Finding("redis", f"{number} {what}", "" if isinstance(found, int) else some(found))]
        time.sleep(_POLL_SECONDS)
    return []
