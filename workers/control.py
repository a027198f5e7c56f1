"""Limit remote control of workers: it may ask for state and activity, and for events, but may not give orders.

Without this, any client that may publish to the workers' channel, such as Flower and the exporter, could stop workers,
remove or add queues, or read the arguments of running tasks. Supervisors stop workers, and `slowwave worker --queues`
sets a worker's queues.
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from celery.worker import state as worker_state
from celery.worker.control import inspect_command

from slowwave.coordination.queue_messages import new_id
from slowwave_server.workers.admission import MAX_ID_CHARACTERS, Inadmissible

ANSWER_QUEUE = "reply.celery.pidbox"
"""The exchange that answers go to. An asker's queue is named after the asker and this."""
_ASKER = re.compile(r"[0-9a-f-]{1,36}")

QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "ping": {},
    "stats": {},
    "active_queues": {},
    "registered": {},
    # Names of arguments, never their values, which may contain a conversation.
    "active": {"safe": True},
    "reserved": {},
    "scheduled": {},
    "revoked": {},
    "conf": {},
    "clock": {},
    "enable_events": {},
    "disable_events": {},
    "heartbeat": {},
}
"""Every command that a worker takes, with the arguments that it takes it with, whatever the message says."""

_MAX_CHARACTERS = 100_000


def answer_queue(asker: str) -> str | None:
    """Return the queue for answers to an asker; None for a name that no asker has."""
    return f"{asker}.{ANSWER_QUEUE}" if _ASKER.fullmatch(asker) else None


def admit_question(message: Any) -> dict[str, Any]:
    """Return the message in the form that a worker may take. Raises Inadmissible."""
    asked = _body(message)
    method, to, ticket = asked.get("method"), asked.get("destination"), asked.get("ticket")
    if not isinstance(method, str) or method not in QUESTIONS:
        raise Inadmissible("it is not a question that a worker answers")
    if asked.get("pattern") is not None:
        raise Inadmissible("it names workers by a pattern: name them one by one, or ask all")
    if to is not None and not (isinstance(to, list) and all(isinstance(name, str) for name in to)):
        raise Inadmissible("its destination is not a list of workers")
    if ticket is not None and not (isinstance(ticket, str) and len(ticket) <= MAX_ID_CHARACTERS):
        raise Inadmissible("its ticket is not a word")
    body = {
        "method": method,
        "arguments": QUESTIONS[method],
        "destination": to,
        "pattern": None,
        "matcher": None,
        "ticket": ticket,
        "reply_to": _reply_to(asked.get("reply_to")),
    }
    return {
        "body": json.dumps(body),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {},
        "properties": {
            "delivery_mode": 2,
            "delivery_info": {"exchange": "celery.pidbox", "routing_key": ""},
            "priority": 0,
            "delivery_tag": new_id(),
        },
    }


def _body(message: Any) -> Mapping[str, Any]:
    try:
        body = message["body"]
        if len(body) <= _MAX_CHARACTERS and message["content-type"] == "application/json":
            if message["properties"].get("body_encoding") == "base64":
                body = base64.b64decode(body, validate=True)
            asked = json.loads(body)
            if isinstance(asked, dict):
                return asked
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    raise Inadmissible("it is not a question of Celery's remote control")


def _reply_to(given: Any) -> Mapping[str, str] | None:
    """Return the queue for the answer: that of an asker, and never another list."""
    if given is None:
        return None
    asker = given.get("routing_key") if isinstance(given, dict) else None
    if not isinstance(asker, str) or given.get("exchange") != ANSWER_QUEUE or answer_queue(asker) is None:
        raise Inadmissible("it wants its answer elsewhere than where answers go")
    return {"exchange": ANSWER_QUEUE, "routing_key": asker}


@inspect_command(name="reserved", alias="dump_reserved")
def reserved(state: Any, **_: Any) -> list[Any]:
    """Return reserved tasks of this worker, in Celery's form, without the values of arguments."""
    waiting = state.tset(worker_state.reserved_requests) - state.tset(worker_state.active_requests)
    return [request.info(safe=True) for request in waiting]


@inspect_command(name="scheduled", alias="dump_schedule")
def scheduled(_state: Any, **_: Any) -> list[Any]:
    """Return tasks with an ETA: always empty, because no task has one."""
    return []
