"""Admit messages to a worker: only the task, its arguments, its names for monitors and its place in a trace.

A message of Celery may carry more than a task: a start time, callbacks and chains (other tasks, in other queues, sent
in the worker's name after the task), limits, a compressed body, a reply queue. With these, a client that may write to
one queue could write to all others, fill a worker's memory, or crash it by a header of a wrong type. So each message is
rebuilt from its harmless parts before Celery sees it; other messages are dropped. Headers for monitors are rebuilt,
too: names, ids and numbers, never text.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from slowwave.coordination.keys import CAPTURE_QUEUE, HIGH_QUEUE, NORMAL_QUEUE
from slowwave.coordination.queue_messages import headers_of, new_id, properties_of, shown_names
from slowwave.external_runs import READ_SESSION
from slowwave.messages import FLUSH_SESSION, PROMPT_ARRIVED, RECORD_TURN, REMEMBER, SWEEP_SESSIONS
from slowwave.tracing import HEADER, valid_traceparent
from slowwave_server.tasks.capture import REFUSED_MESSAGE

MAX_BODY_CHARACTERS = 20_000_000
"""A turn at all its limits, written as a sender would. What is larger is dropped before it is read."""
MAX_ID_CHARACTERS = 200
MAX_SHOWN_CHARACTERS = 5000

ON_CAPTURE = frozenset((RECORD_TURN, PROMPT_ARRIVED, REMEMBER, READ_SESSION))
"""What brings words in. Who may write into `capture` alone may have these run and no other; and from no other queue."""
ON_FLUSH = frozenset((FLUSH_SESSION, SWEEP_SESSIONS))
"""What clients may ask for: all that it says stands in Postgres already."""

NOT_ELSEWHERE = ON_CAPTURE | {REFUSED_MESSAGE}

_JSON = "application/json"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_BUILT_IN = "celery."
_NOTHING: tuple[Any, ...] = (None, [], {}, "")
_NO_BODY = "its body is not that of a task (Celery's protocol 2, as JSON)"
_EXTRAS = ("callbacks", "errbacks", "chain", "chord")


class Inadmissible(ValueError):
    """The message is dropped. The text gives the reason, without any text of the message."""


def admit(message: Any, queue: str) -> tuple[dict[str, Any], list[str]]:
    """Return the message in the form that a worker may take, and the removed parts. Raises Inadmissible.

    message: an entry of a queue, parsed as JSON. A content type other than JSON stays unchanged: Celery refuses such a
    message unread.
    """
    headers, properties = _mapping(message, "headers"), _mapping(message, "properties")
    task, task_id = _name(headers.get("task"), "task"), _name(headers.get("id"), "id")
    known = _may_run(task, queue)
    removed = [header for header in ("eta", "shadow", "group") if headers.get(header) is not None]
    content_type, body = message.get("content-type"), message.get("body")
    if not isinstance(body, str):
        raise Inadmissible("its body is not text")
    if len(body) > MAX_BODY_CHARACTERS:
        raise Inadmissible(f"its body has {len(body):,} characters, at most {MAX_BODY_CHARACTERS:,} are read")
    if content_type == _JSON:
        if headers.get("compression") is not None:
            raise Inadmissible("it is compressed, and a worker does not unpack what it can't size")
        args, kwargs, extras = _opened(body, properties.get("body_encoding"))
        removed += extras
        if not known:
            task, args, kwargs = REFUSED_MESSAGE, [task, args, kwargs], {}
        body = _written(args, kwargs)
        shown = _shown_args(args, queue), _shown_names(kwargs)
    else:
        # Celery refuses it by its type alone, so no part of it is needed.
        body, shown = "", ("", "")
    return {
        "body": body,
        "content-encoding": "utf-8",
        "content-type": content_type if isinstance(content_type, str) else "",
        "headers": _headers(headers, task, task_id, shown),
        "properties": _properties(properties, task_id, queue),
    }, removed


def _headers(given: Mapping[str, Any], task: str, task_id: str, shown: tuple[str, str]) -> dict[str, Any]:
    # The trace of the work: hexadecimal digits of known length, or nothing.
    trace = valid_traceparent(given.get(HEADER))
    own = {
        "expires": _short(given.get("expires"), 64) or None,
        "origin": _short(given.get("origin"), MAX_ID_CHARACTERS),
    }
    # Texts for monitors are rebuilt, because Celery's own senders include the values of all arguments.
    headers = headers_of(task, task_id, *shown) | own | {"ignore_result": True}
    return headers if trace is None else headers | {HEADER: trace}


def _properties(given: Mapping[str, Any], task_id: str, queue: str) -> dict[str, Any]:
    # A returned message goes to its own queue, whatever its header says. It gets a new delivery tag, because a tag
    # that is in use would replace the message with this tag.
    properties = properties_of(queue, task_id) | {"delivery_tag": new_id()}
    delivery = given.get("delivery_info")
    if isinstance(delivery, Mapping) and delivery.get("redelivered") is True:
        properties["delivery_info"]["redelivered"] = True
    return properties


def _may_run(task: str, queue: str) -> bool:
    """Return True if the queue may carry this task. On `capture` the result is False, so that the message becomes a
    dead letter, because its content must not be lost; for other queues raises Inadmissible.
    """
    if task.startswith(_BUILT_IN):
        raise Inadmissible("it names a task of Celery itself, which runs other tasks")
    if queue == CAPTURE_QUEUE:
        return task in ON_CAPTURE
    meant = {HIGH_QUEUE: ON_FLUSH, NORMAL_QUEUE: ON_FLUSH}.get(queue)
    if task in NOT_ELSEWHERE if meant is None else task not in meant:
        raise Inadmissible(f"its task is none of those that {queue} carries")
    return True


def _opened(body: str, encoding: Any) -> tuple[list[Any], dict[str, Any], list[str]]:
    """Return the args and kwargs of a body, and the names of its other parts."""
    try:
        text = base64.b64decode(body, validate=True) if encoding == "base64" else body
        args, kwargs, extras = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise Inadmissible(_NO_BODY) from None
    if not isinstance(args, list) or not isinstance(kwargs, dict) or not isinstance(extras, dict | None):
        raise Inadmissible(_NO_BODY)
    return args, kwargs, [extra for extra in _EXTRAS if (extras or {}).get(extra) not in _NOTHING]


def _written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return a body with only these arguments. JSON has no NaN."""
    try:
        return json.dumps([args, kwargs, dict.fromkeys(_EXTRAS)], allow_nan=False)
    except (ValueError, RecursionError):
        raise Inadmissible(_NO_BODY) from None


def _shown_args(args: Sequence[Any], queue: str) -> str:
    """Return the arguments for monitors: ids, but none for `capture`, whose arguments may have text."""
    if queue != CAPTURE_QUEUE:
        return json.dumps(args)[:MAX_SHOWN_CHARACTERS]
    return f"[{len(args)} not shown]" if args else "[]"


def _shown_names(kwargs: Mapping[str, Any]) -> str:
    """Return the names of arguments for monitors, as `queue_messages.envelope` writes them."""
    names = (name if _NAME.fullmatch(name) else "?" for name in sorted(kwargs))
    return shown_names(names)[:MAX_SHOWN_CHARACTERS]


def _mapping(message: Any, key: str) -> Mapping[str, Any]:
    found = message.get(key) if isinstance(message, Mapping) else None
    if not isinstance(found, Mapping):
        raise Inadmissible(f"it has no {key}")
    return found


def _name(value: Any, what: str) -> str:
    """Return a name that is safe in a log: without line breaks, control characters and invisible characters."""
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= MAX_ID_CHARACTERS:
        raise Inadmissible(f"its {what} is no word of at most {MAX_ID_CHARACTERS} characters")
    return value


def _short(value: Any, limit: int) -> str:
    """Return a shortened text for monitors; other values are omitted."""
    return value[:limit] if isinstance(value, str) else ""
