"""Every kind of key in the broker, Slowwave's and Celery's: its pattern and its Redis type.

The order matters, because a session may have any name: the first matching pattern decides.
"""

import re
from dataclasses import dataclass
from typing import Literal

from slowwave.coordination.keys import PREFIX, QUEUES, SET_ASIDE_KEY

KeyType = Literal["string", "list", "hash", "set", "zset"]

PRIORITY_MARK = "\x06\x16"
"""Between a queue's name and a priority, in the names of the lists that Celery looks into beside the queue's own."""
PRIORITIES = (3, 6, 9)


@dataclass(frozen=True, slots=True)
class KeyKind:
    """One kind of key. name: the kind's name in docs/security.md; pattern: a glob of Redis; type: the Redis type of the
    value.
    """

    name: str
    pattern: str
    type: KeyType

    def fits(self, key: str) -> bool:
        """Return True if a key matches this pattern."""
        return re.fullmatch(".*".join(map(re.escape, self.pattern.split("*"))), key, re.DOTALL) is not None


KINDS = (
    *(KeyKind(queue, queue, "list") for queue in QUEUES),
    *(KeyKind(f"{queue}, other priorities", f"{queue}{PRIORITY_MARK}*", "list") for queue in QUEUES),
    KeyKind("session", f"{PREFIX}{{*}}:session:*", "string"),
    KeyKind("running", f"{PREFIX}{{*}}:running", "zset"),
    KeyKind("waiting", f"{PREFIX}{{*}}:waiting", "zset"),
    KeyKind("queued", f"{PREFIX}{{*}}:queued:*", "zset"),
    KeyKind("pass", f"{PREFIX}consolidate:*", "string"),
    KeyKind("day", f"{PREFIX}day:*", "string"),
    KeyKind("files", f"{PREFIX}files:*", "string"),
    KeyKind("finalize", f"{PREFIX}finalize", "string"),
    KeyKind("swept", f"{PREFIX}swept", "string"),
    KeyKind("sweep link", f"{PREFIX}sweep-link", "string"),
    KeyKind("task counts", f"{PREFIX}tasks", "hash"),
    KeyKind("model slots", f"{PREFIX}model:slots", "zset"),
    KeyKind("model breaker", f"{PREFIX}model:breaker:*", "hash"),
    KeyKind("forgotten", f"{PREFIX}forgotten:*", "string"),
    KeyKind("login failures", f"{PREFIX}login-failures:*", "string"),
    KeyKind("login form key", f"{PREFIX}login-form-key", "string"),
    KeyKind("rate limits", f"{PREFIX}gateway:rate:*", "string"),
    KeyKind("quotas", f"{PREFIX}gateway:events:*", "string"),
    KeyKind("kept answers", f"{PREFIX}gateway:answer:*", "string"),
    KeyKind("set aside", SET_ASIDE_KEY, "hash"),
    KeyKind("unacked", "unacked", "hash"),
    KeyKind("unacked index", "unacked_index", "zset"),
    KeyKind("unacked mutex", "unacked_mutex", "string"),
    KeyKind("bindings of capture", "_kombu.binding*.capture", "set"),
    KeyKind("bindings of answers", "_kombu.binding*.reply.celery.pidbox", "set"),
    KeyKind("bindings of questions", "_kombu.binding*.celery.pidbox", "set"),
    KeyKind("bindings of events", "_kombu.binding*.celeryev", "set"),
    KeyKind("binding deadlines", "_kombu.binding_deadlines", "zset"),
    KeyKind("answers", "*.reply.celery.pidbox*", "list"),
    KeyKind("questions", "*.celery.pidbox*", "list"),
    KeyKind("events", "celeryev.*", "list"),
)
"""A key of no kind is none of ours: nobody here reads it."""


def kind_of(key: str) -> KeyKind | None:
    """Return the kind of a key, or None for a key that is neither Slowwave's nor Celery's."""
    return next((kind for kind in KINDS if kind.fits(key)), None)
