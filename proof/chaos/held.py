"""Leases, tickets, places and messages in Redis. After all work is done, none is left."""

from collections.abc import Callable, Iterator
from typing import Any

from redis import Redis

from slowwave.coordination.keys import MODEL_SLOTS_KEY, PREFIX, QUEUES
from slowwave_server.services.forget.broker import UNACKED, UNACKED_INDEX


def held_keys(client: Redis) -> list[str]:
    """Return tickets, leases, marks for a rerun (part of leases) and places in which a session waits for its agent."""
    return [_name(key) for key in client.scan_iter(f"{PREFIX}{{*", count=1000) if not _has_ended(client, _name(key))]


def messages(client: Redis) -> dict[str, int]:
    """Return the number of messages in each queue or with a worker; only nonzero numbers."""
    depths = {name: int(client.llen(name)) for name in QUEUES}
    depths[UNACKED] = int(client.hlen(UNACKED))
    depths[UNACKED_INDEX] = int(client.zcard(UNACKED_INDEX))
    return {name: depth for name, depth in depths.items() if depth}


def lasting_keys(client: Redis) -> list[str]:
    """Return keys of Slowwave that could stay for ever."""
    return [_name(key) for key in client.scan_iter(f"{PREFIX}*", count=1000) if client.ttl(key) == -1]


def model_slots(client: Redis) -> int:
    """Return model calls that count as running."""
    return int(client.zcount(MODEL_SLOTS_KEY, _now_ms(client), "+inf"))


def _has_ended(client: Redis, key: str) -> bool:
    """Return True if all leases or tickets of this set have expired; expired entries don't count."""
    return key.endswith((":running", ":queued:high", ":queued:normal")) and not client.zcount(
        key, _now_ms(client), "+inf"
    )


def _now_ms(client: Redis) -> int:
    seconds, microseconds = client.time()
    return int(seconds) * 1000 + int(microseconds) // 1000


def _name(key: bytes | str) -> str:
    return key.decode() if isinstance(key, bytes) else key


def everything(client: Redis) -> Iterator[tuple[str, str]]:
    """Return all keys of this database with their whole content, as text."""
    readers: dict[str, Callable[[str], Any]] = {
        "string": client.get,
        "list": lambda key: client.lrange(key, 0, -1),
        "hash": client.hgetall,
        "zset": lambda key: client.zrange(key, 0, -1),
        "set": client.smembers,
    }
    for raw in client.scan_iter(count=1000):
        key = _name(raw)
        reader = readers.get(_name(client.type(key)))
        yield key, f"{key} {reader(key) if reader else ''}"
