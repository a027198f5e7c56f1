"""Forgetting in Redis: remove messages with forgotten data from queues and workers.

A message that a worker holds stays in `unacked` until it is acknowledged, and its worker has a copy. So the ids of all
removed messages are stored for FORGOTTEN_SECONDS, and a task with text checks them before it works (`was_forgotten`).

Every function raises `redis.exceptions.RedisError`.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any, cast
from urllib.parse import quote

from redis import Redis

from slowwave.coordination.key_kinds import PRIORITIES, PRIORITY_MARK
from slowwave.coordination.keys import OUR_KINDS, PREFIX, QUEUES, agent_keys, forgotten_key
from slowwave_server.services.forget.forgotten import Forgotten
from slowwave_server.services.task_payloads import PAYLOADS

FORGOTTEN_SECONDS = 7 * 86_400
"""How long the id of a message that was taken out is remembered: longer than any worker holds one."""

UNACKED = "unacked"
UNACKED_INDEX = "unacked_index"
# The suffixes under which the transport stores messages of other priorities.
LISTS = tuple(f"{queue}{suffix}" for queue in QUEUES for suffix in ("", *(f"{PRIORITY_MARK}{p}" for p in PRIORITIES)))
MAX_PASSES = 20


def count_messages(redis: Redis, forgotten: Forgotten, tenant: str) -> int:
    """Count the messages to remove. tenant: the tenant of messages that name none."""
    queued = sum(covers_message(raw, forgotten, tenant) for _, raw in _queued(redis))
    return queued + sum(covers_message(raw, forgotten, tenant) for _, raw in _held(redis))


def take_messages(redis: Redis, forgotten: Forgotten, tenant: str) -> int:
    """Remove the messages until no more are found. Return their number. tenant: the tenant of messages that name none.

    A message may move from a queue to a worker or back during a search, so the search is repeated until it finds none.
    """
    taken: set[str | bytes] = set()
    for _ in range(MAX_PASSES):
        found = 0
        for name, raw in list(_queued(redis)):
            if covers_message(raw, forgotten, tenant):
                taken.add(_note(redis, raw))
                found += int(redis.lrem(name, 1, cast("str", raw)))
        for tag, raw in list(_held(redis)):
            if covers_message(raw, forgotten, tenant):
                taken.add(_note(redis, raw))
                found += int(redis.hdel(UNACKED, tag))
                redis.zrem(UNACKED_INDEX, tag)
        if not found:
            break
    return len(taken)


def take_keys(redis: Redis, forgotten: Forgotten) -> int:
    """Delete the tickets, leases and queue places with these names. Return the number of deleted keys."""
    if forgotten.agent is not None and forgotten.session is None:
        return _delete(redis, _keys_of_agent(redis, forgotten.tenant, forgotten.agent))
    keys = 0
    sessions = forgotten.sessions if forgotten.session is None else {(forgotten.agent or "", forgotten.session)}
    for agent, session in sessions:
        of_agent = agent_keys(forgotten.tenant, agent)
        keys += int(redis.delete(of_agent.session_prefix + session.encode()))
        for places in (of_agent.running, of_agent.waiting, of_agent.queued_high, of_agent.queued_normal):
            redis.zrem(places, session)
    if forgotten.scope is not None:
        keys += _delete(redis, _keys_of_scope(redis, forgotten.tenant, forgotten.scope))
    return keys


def drop_answers(redis: Redis, tenant: str) -> None:
    """Delete the stored HTTP answers for repeated requests of a tenant, because they may contain forgotten data."""
    pattern = f"{PREFIX}gateway:answer:{quote(tenant, safe='')}:*"
    for key in redis.scan_iter(match=pattern, count=1000):
        redis.delete(key)


def was_forgotten(redis: Redis, message_id: str) -> bool:
    """Return True if the message with this id was removed after a worker received it."""
    return bool(redis.exists(forgotten_key(message_id)))


def covers_message(raw: bytes | str, forgotten: Forgotten, tenant: str) -> bool:
    """Return True if a message contains these names, an unreadable one if its text contains the name."""
    try:
        message = json.loads(raw)
        task = message["headers"]["task"]
        args, kwargs = _body(message)[:2]
    except (ValueError, TypeError, LookupError):
        return forgotten.may_be_in(raw.decode(errors="replace") if isinstance(raw, bytes) else raw)
    return forgotten.covers_arguments(_named(task, args, kwargs), tenant)


def _named(task: str, args: Any, kwargs: Any) -> dict[str, Any]:
    payload = PAYLOADS.get(task)
    names = ("tenant", "agent", "session") if payload is None else tuple(payload.model_fields)
    positional = dict(zip(names, args, strict=False)) if isinstance(args, list) else {}
    return positional | (kwargs if isinstance(kwargs, dict) else {})


def _body(message: Any) -> Any:
    body = message["body"]
    if message.get("properties", {}).get("body_encoding") == "base64":
        body = base64.b64decode(body)
    return json.loads(body)


def _queued(redis: Redis) -> Iterator[tuple[str, bytes | str]]:
    for name in LISTS:
        for raw in redis.lrange(name, 0, -1):
            yield name, raw


def _held(redis: Redis) -> Iterator[tuple[bytes | str, bytes | str]]:
    """Yield messages that workers hold: the delivery tag, and the message in its queued form."""
    for tag, value in redis.hscan_iter(UNACKED):
        try:
            message, *_ = json.loads(value)
            yield tag, json.dumps(message)
        except (ValueError, TypeError):
            yield tag, value


def _note(redis: Redis, raw: bytes | str) -> str | bytes:
    """Store the id of a removed message."""
    try:
        message_id = str(json.loads(raw)["headers"]["id"])
    except (ValueError, TypeError, LookupError):
        return raw
    redis.set(forgotten_key(message_id), 1, ex=FORGOTTEN_SECONDS)
    return message_id


def _keys_of_agent(redis: Redis, tenant: str, agent: str) -> list[Any]:
    keys = _keys_with(redis, TENANT=quote(tenant, safe=""), AGENT=quote(agent, safe=""))
    return [*keys, *_keys_of_scope(redis, tenant, f"agent:{agent}")]


def _keys_of_scope(redis: Redis, tenant: str, scope: str) -> list[Any]:
    kind, _, name = scope.partition(":")
    return _keys_with(redis, TENANT=quote(tenant, safe=""), SCOPE=f"{kind}:{quote(name, safe='')}")


def _keys_with(redis: Redis, **values: str) -> list[Any]:
    """Return the keys of every kind whose name contains all of these words."""
    found: list[Any] = []
    for kind in OUR_KINDS:
        if kind.words >= values.keys():
            pattern = kind.with_values(values)
            found += redis.scan_iter(pattern, count=1000) if "*" in pattern else [pattern]
    return found


def _delete(redis: Redis, keys: Sequence[Any]) -> int:
    return int(redis.delete(*keys)) if keys else 0
