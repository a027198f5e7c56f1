"""Messages that start a task: Celery's protocol 2 in kombu's envelope for Redis, written without either library.

A worker takes such a message with BRPOP from the list that has the queue's name. The body is plain JSON text: kombu
decodes base64 only if `body_encoding` says so. There is no `eta`: delayed work has a due time in Postgres, which the
sweep reads, and no message waits in a worker's memory.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redis import Redis

from slowwave.tracing import HEADER, traceparent

FLUSH_TASK = "slowwave.flush_session"

_ORIGIN = "slowwave"
_NO_CALLBACKS: dict[str, None] = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


def new_id() -> str:
    """Return a fresh id (32 hexadecimal digits) for a ticket, a task or a token. Safe in forked processes."""
    return os.urandom(16).hex()


def shown_names(names: Iterable[str]) -> str:
    """Return the names of keyword arguments as monitors show them, in place of the values."""
    return f"{{{', '.join(names)}}}"


def envelope(
    task_name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    queue: str,
    *,
    task_id: str,
) -> str:
    """The message as JSON text, ready for `publish`.

    `args` and `kwargs` hold JSON values. Monitors show the values of `args` but only the names of `kwargs`. So callers
    pass ids by position and text by keyword, and no dashboard shows a conversation.

    The message carries the current span, which becomes the parent of the task's span.
    """
    body = json.dumps([list(args), dict(kwargs), _NO_CALLBACKS], allow_nan=False)
    shown = json.dumps(list(args), allow_nan=False)
    message = _message(task_name, queue, task_id, body=body, shown=shown, names=shown_names(sorted(kwargs)))
    if trace := traceparent():
        message["headers"][HEADER] = trace
    return json.dumps(message)


def flush_templates() -> tuple[str, str]:
    """Return a flush's envelope and body, with "@ID@", "@QUEUE@", "@BODY@" and "@ARGS@" for `offer.lua` to fill."""
    message = _message(FLUSH_TASK, "@QUEUE@", "@ID@", body="@BODY@", shown="@ARGS@")
    return json.dumps(message), json.dumps(["@ARGS@", {}, _NO_CALLBACKS])


def publish(redis: Redis, queue: str, message: str) -> None:
    """Append a message to a queue in one round trip. Raises `redis.exceptions.RedisError`."""
    redis.lpush(queue, message)


def headers_of(task: str, task_id: str, args: str, kwargs: str = "{}") -> dict[str, Any]:
    """Return the headers of a task's message. args, kwargs: its arguments as monitors show them."""
    return {
        "lang": "py",
        "task": task,
        "id": task_id,
        "shadow": None,
        "eta": None,
        "expires": None,
        "group": None,
        "group_index": None,
        "retries": 0,
        "timelimit": [None, None],
        "root_id": task_id,
        "parent_id": None,
        "argsrepr": args,
        "kwargsrepr": kwargs,
        "origin": _ORIGIN,
        "ignore_result": False,
        "replaced_task_nesting": 0,
        "stamped_headers": None,
        "stamps": {},
    }


def properties_of(queue: str, task_id: str) -> dict[str, Any]:
    """Return the properties of a message in a queue."""
    return {
        "correlation_id": task_id,
        "reply_to": "",
        "delivery_mode": 2,
        # Without an exchange, a message that was rejected or lost its worker returns directly to its queue.
        "delivery_info": {"exchange": "", "routing_key": queue},
        "priority": 0,
        "delivery_tag": task_id,
    }


def _message(task_name: str, queue: str, task_id: str, *, body: str, shown: str, names: str = "{}") -> dict[str, Any]:
    return {
        "body": body,
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": headers_of(task_name, task_id, shown, names),
        "properties": properties_of(queue, task_id),
    }
