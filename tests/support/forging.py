"""Messages of Celery with what somebody who may write into the broker would change in them."""

import json
from collections.abc import Mapping
from typing import Any

from slowwave.coordination.queue_messages import envelope, new_id
from slowwave.messages import RECORD_TURN, REMEMBER


def turn(agent: str, content: str) -> dict[str, Any]:
    return {"agent": agent, "session": "s1", "messages": [{"role": "user", "content": content}], "key": content}


def forged(
    task: str = RECORD_TURN,
    kwargs: Mapping[str, Any] | None = None,
    *,
    queue: str = "capture",
    embed: Any = None,
    headers: Mapping[str, Any] | None = None,
    properties: Mapping[str, Any] | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """A message of ours with what an attacker changes in it."""
    message: dict[str, Any] = json.loads(envelope(task, [], kwargs or {}, queue, task_id=new_id()))
    message["headers"] |= headers or {}
    message["properties"] |= properties or {}
    if embed is not None:
        message["body"] = json.dumps([[], dict(kwargs or {}), embed])
    return message | parts


def signature(task: str, queue: str, **kwargs: Any) -> dict[str, Any]:
    return {"task": task, "args": [], "kwargs": kwargs, "options": {"queue": queue}, "subtask_type": None}


CALLBACK = signature(REMEMBER, "capture", agent="victim", content="The vault is open.", importance=1.0)

BODIES = [
    "7", "null", '"args"', '["args", {}, {}]', "[[], {}]", "[{}, {}, {}]", "[[], [], {}]", '[[], {"x": NaN}, {}]',
    '[[], {"x": 1e999}, {}]', '{"task": "slowwave.remember", "args": []}', "[" * 5000, "",
]  # fmt: skip
"""Bodies that are none of a task's."""
