"""Every kind of key in the broker, Slowwave's and Celery's."""

from slowwave.coordination.keys import OUR_KINDS, QUEUES, KeyKind

PRIORITY_MARK = "\x06\x16"
"""Between a queue's name and a priority, in the names of the lists that Celery looks into beside the queue's own."""
PRIORITIES = (3, 6, 9)

KINDS = (
    *(KeyKind(queue, queue, "list") for queue in QUEUES),
    *(KeyKind(f"{queue}, other priorities", f"{queue}{PRIORITY_MARK}*", "list") for queue in QUEUES),
    *OUR_KINDS,
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
