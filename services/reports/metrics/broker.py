"""Read the current state of the broker: messages and their age, leases, tickets, the last sweep, counts of tasks.

The number of calls is limited, whatever waits in the broker. Metrics that this user of the broker may not read are
unknown.

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
# The digest is only Redis' name for a script; it protects nothing.
_OLDEST_DIGEST = sha1(_OLDEST.encode(), usedforsecurity=False).hexdigest()
_TICKET = re.compile(r"[0-9a-f]{16}-(\d{16})")


@dataclass(frozen=True, slots=True)
class Broker:
    """Figures of all tenants; None means unknown."""

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
    """The number of sessions by their state in Redis; None means unknown."""

    leases: int | None
    tickets: int | None
    sessions_parked: int | None


@dataclass(slots=True)
class FirstSeen:
    """For messages without a send time: the time at which each message was first seen as its queue's oldest."""

    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)

    def age(self, queue: str, message: str, now: float) -> float:
        """Return the seconds since `message` ("": none) was sent, at least. A flush's id ends with its time in µs."""
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
    """Load the script that returns the id of a queue's oldest message. Raises redis' own errors."""
    redis.script_load(_OLDEST)


def read_broker(redis: Redis, first_seen: FirstSeen, *, again: bool = True) -> Broker:
    """Read the state in one round trip. Raises RedisError if the server does not answer.

    again: True to load a script that the server does not know, if this user may, and read once more.
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
    # The exporter's own user may not load the script: a worker must load it, and until then no age is known.
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
    """Count leases, with a limited number of scans of key names. Raises as `read_broker`."""
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
    """Count sessions. A session's key exists while a message for it is queued, or while its lease lives."""
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
