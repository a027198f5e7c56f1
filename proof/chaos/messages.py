"""Copy messages in the queues of the broker, remove them and put them back.

The queue `capture` is excluded: its messages are data of callers without a database.
"""

import time
from typing import Any, cast

from redis import Redis

from slowwave.coordination.keys import CAPTURE_QUEUE, QUEUES

_QUEUES = tuple(queue for queue in QUEUES if queue != CAPTURE_QUEUE)
# Queues are empty most of the time: wait this long for a message.
_WAIT_SECONDS = 3.0
_POLL_SECONDS = 0.003

Held = dict[str, list[bytes]]


def copy_all(client: Redis) -> int:
    """Put a copy of each message behind the others. Return their number."""
    _until_some(client)
    copied = 0
    for queue in _QUEUES:
        found = cast("list[bytes]", client.lrange(queue, 0, -1))
        if found:
            client.lpush(queue, *found)
            copied += len(found)
    return copied


def take_all(client: Redis) -> Held:
    """Remove all messages. Return them."""
    _until_some(client)
    with client.pipeline(transaction=True) as pipeline:
        for queue in _QUEUES:
            pipeline.lrange(queue, 0, -1)
            pipeline.delete(queue)
        answers: list[Any] = pipeline.execute()
    return {queue: answers[2 * place] for place, queue in enumerate(_QUEUES) if answers[2 * place]}


def put_back(client: Redis, held: Held) -> None:
    """Put messages back in front of the others, in their order."""
    for queue, found in held.items():
        client.rpush(queue, *found)


def _until_some(client: Redis) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not any(client.llen(queue) for queue in _QUEUES) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
