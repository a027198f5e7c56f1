"""The current state of the broker: messages and their age, leases, tickets, the last sweep, counts of tasks.

All of it by a bounded number of calls, whatever waits there. What this user of the broker may not ask is not known.

It reads only the number of messages and the ids of the oldest messages.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha1
from importlib.resources import files
from typing import Any

from redis import Redis
from redis.exceptions import NoPermissionError, NoScriptError

from slowwave.coordination.keys import PREFIX, QUEUES
from slowwave_server.services.maintenance.heartbeat import SWEPT_KEY
from slowwave_server.services.reports.metrics import By
from slowwave_server.services.task_counts import TASKS_KEY, counts_of

UNACKED = "unacked"
"""Where Celery's transport keeps what a worker has taken and not finished."""
KEYS_A_ROUND = 2000
ROUNDS = 100
"""With more keys than these rounds see, nobody knows how many leases there are."""

_OLDEST = (files("slowwave_server.services.reports.metrics") / "oldest.lua").read_text("utf-8")
# The digest is how Redis names a script; nothing is kept secret by it.
_OLDEST_DIGEST = sha1(_OLDEST.encode(), usedforsecurity=False).hexdigest()
_TICKET = re.compile(r"[0-9a-f]{16}-(\d{16})")


@dataclass(frozen=True, slots=True)
class Broker:
    """Figures of all tenants; None: not known."""

    queue_messages: By
    queue_oldest_seconds: By
    messages_taken: int | None
    sweep_age_seconds: float | None
    broker_memory_bytes: int | None
    broker_memory_limit_bytes: int | None
    broker_keeps_messages: By | None
    tasks_total: By | None
    task_seconds_total: By | None
    flush_reclaims_total: int | None


@dataclass(frozen=True, slots=True)
class Leases:
    """Sessions by their state in Redis; None: unknown."""

    leases: int | None
    tickets: int | None
    sessions_parked: int | None


@dataclass(slots=True)
class FirstSeen:
    """When a queue's oldest message was first seen to be that, for messages that do not say when they were sent."""

    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)

    def age(self, queue: str, message: str, now: float) -> float:
        """Seconds since `message` ("" for none) was sent, at least. A flush's id ends with its time in µs."""
        if not message:
            self._seen.pop(queue, None)
            return 0.0
        if ticket := _TICKET.fullmatch(message):
            return max(0.0, now - int(ticket[1]) / 1_000_000)
        known, since = self._seen.get(queue, ("", now))
        if known != message:
            since = now
        self._seen[queue] = (message, since)
        return max(0.0, now - since)


def load_oldest(redis: Redis) -> None:
    """Load the script that answers the id of a queue's oldest message. Raises redis' own errors."""
    redis.script_load(_OLDEST)


def read_broker(redis: Redis, first_seen: FirstSeen, *, again: bool = True) -> Broker:
    """Read it in one round trip. Raises RedisError if the server does not answer.

    again: load a script that the server does not know, as far as this user may, and read once more.
    """
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.time()
        for queue in QUEUES:
            pipeline.llen(queue)
        for queue in QUEUES:
            pipeline.evalsha_ro(_OLDEST_DIGEST, 1, queue)
        pipeline.hlen(UNACKED)
        pipeline.get(SWEPT_KEY)
        pipeline.hgetall(TASKS_KEY)
        pipeline.info("memory")
        pipeline.info("persistence")
        found = pipeline.execute(raise_on_error=False)
    answers = [_permitted(answer) for answer in found]
    if again and any(isinstance(answer, NoScriptError) for answer in found):
        return _read_taught(redis, first_seen)
    time, *by_queue, taken, swept, fields, memory, persistence = answers
    lengths, oldest = by_queue[: len(QUEUES)], by_queue[len(QUEUES) :]
    now = time[0] + time[1] / 1_000_000
    counts = None if fields is None else counts_of(fields)
    return Broker(
        queue_messages={(queue,): length for queue, length in zip(QUEUES, lengths, strict=True) if length is not None},
        queue_oldest_seconds={
            (queue,): first_seen.age(queue, message.decode(), now)
            for queue, message in zip(QUEUES, oldest, strict=True)
            if message is not None
        },
        messages_taken=taken,
        sweep_age_seconds=None if swept is None else max(0.0, now - float(swept)),
        broker_memory_bytes=None if memory is None else memory.get("used_memory"),
        broker_memory_limit_bytes=None if memory is None else memory.get("maxmemory") or None,
        broker_keeps_messages=_keeps(memory, persistence),
        tasks_total=None if counts is None else counts.ended,
        task_seconds_total=None if counts is None else {(task,): took for task, took in counts.seconds.items()},
        flush_reclaims_total=None if counts is None else counts.reclaimed,
    )


def _read_taught(redis: Redis, first_seen: FirstSeen) -> Broker:
    # The exporter's own user may not load it: a worker has to, and until then no age is known.
    with suppress(NoPermissionError):
        load_oldest(redis)
    return read_broker(redis, first_seen, again=False)


def _permitted(answer: Any) -> Any:
    if isinstance(answer, NoPermissionError | NoScriptError):
        return None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _keeps(memory: Mapping[str, Any] | None, persistence: Mapping[str, Any] | None) -> By | None:
    if memory is None or persistence is None:
        return None
    evicts = memory.get("maxmemory_policy") != "noeviction"
    return {("memory",): int(not evicts), ("disk",): int(bool(persistence.get("aof_enabled")))}


def read_leases(redis: Redis, *, rounds: int = ROUNDS, keys_a_round: int = KEYS_A_ROUND) -> Leases:
    """Count them, by at most so many looks at the names of keys. Raises as `read_broker`."""
    keys: set[Any] = set()
    cursor = 0
    try:
        for _ in range(rounds):
            cursor, found = redis.scan(cursor, match=f"{PREFIX}{{*", count=keys_a_round)
            keys.update(found)
            if cursor == 0:
                return _counted(redis, keys)
    except NoPermissionError:
        pass
    return Leases(None, None, None)


def _counted(redis: Redis, keys: set[Any]) -> Leases:
    """A session's key is there while a message of it is on its way, or while its lease lives."""
    kinds = [(key, key.partition(b"}:")[2]) for key in keys]
    sessions = sum(kind.startswith(b"session:") for _, kind in kinds)
    seconds, microseconds = redis.time()
    with redis.pipeline(transaction=False) as pipeline:
        for key, kind in kinds:
            if kind == b"running":
                pipeline.zcount(key, seconds * 1000 + microseconds // 1000, "+inf")
        leases = sum(pipeline.execute())
        for key, kind in kinds:
            if kind == b"waiting":
                pipeline.zcard(key)
        parked = sum(pipeline.execute())
    return Leases(leases=leases, tickets=max(0, sessions - leases), sessions_parked=parked)
