"""Users of Redis or Valkey as ACL rules, one for each part of a deployment.

    worker    workers, beat, operators' shells: every queue and every key of Slowwave, no administrative command
    producer  the client of one tenant: offers its sessions to the flush queues, and reads the lengths of the queues
    gateway   `slowwave serve`: as a producer, for all tenants; counts requests, stores answers to repeated ones,
              and wakes workers that answer requests
    sender    programs that have only the broker: put messages into `capture`, and read nothing
    exporter  as flower; counts leases and tasks, and reads the ids of the queues' oldest messages
    flower    listens to events and asks workers for their state, and reads the lengths of the queues
    scaler    the autoscaler of workers (KEDA): reads the lengths of the queues

Each pair of brackets in a rule allows certain commands on certain keys, so a user may use only the commands that
Slowwave itself uses on a key. docs/security.md lists all rules, and `tests/attacks/test_broker_matrix.py` compares the
two.

A rule can't check the content of a message. So two limits apply to a user's messages: the rules limit the queues, and
the workers run only the allowed tasks of each queue.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from slowwave.coordination.keys import CAPTURE_QUEUE, CONSOLIDATE_QUEUE, HIGH_QUEUE, NORMAL_QUEUE, PREFIX, QUEUES
from slowwave.coordination.request_queue import REQUEST_QUEUE
from slowwave.errors import InvalidName
from slowwave.identity import check_name

Part = Literal["worker", "producer", "gateway", "sender", "flower", "scaler", "exporter"]

_HELLO = "+auth +hello +ping +select +client|setinfo +client|setname +client|no-evict"
_CELERY = "~unacked* ~_kombu.* ~*.celery.pidbox* ~*.reply.celery.pidbox* ~celeryev* allchannels"
"""Keys and channels of Celery's transport: what is under way, who listens, events, and answers to questions."""

_WORKER = (
    "-@all +@connection +@read +@write +@string +@list +@hash +@set +@sortedset +@pubsub +@transaction +@scripting"
    " +@keyspace -@dangerous -@admin +info +time -script|flush -script|kill -script|debug -function"
)

_ASKER = f"{'-'.join('?' * length for length in (8, 4, 4, 4, 12))}.reply.celery.pidbox*"
"""The list that answers to one asker come into: its name is a UUID."""

_WITH_PRIORITIES = tuple(f"{queue}*" for queue in QUEUES)
"""Celery looks for a list of each priority beside the queue's own, under its name and some more."""


@dataclass(frozen=True, slots=True)
class BrokerUser:
    """One user. rules: all its rules except the password; they begin with `reset`, which removes its previous rules."""

    name: str
    rules: str

    def line(self, password_digest: str) -> str:
        """Return the user as a line of a users file. password_digest: the SHA-256 of its password, in hexadecimal."""
        return f"user {self.name} {self._with(password_digest)}"

    def command(self, password_digest: str) -> str:
        """Return the command that creates the user on the server."""
        return f"ACL SETUSER {self.name} {self._with(password_digest)}"

    def _with(self, digest: str) -> str:
        return f"{self.rules} on #{digest}"


def broker_user(part: Part, name: str, tenant: str | None = None) -> BrokerUser:
    """Return the user of a part. tenant: required for a producer. Raises InvalidName."""
    if not name or not all(letter.isascii() and (letter.isalnum() or letter in "_.-") for letter in name):
        raise InvalidName("a user of the broker is named with letters, digits and _ . - alone")
    if (part == "producer") != (tenant is not None):
        raise InvalidName("a producer belongs to one tenant; the others to none")
    return BrokerUser(name, f"reset resetchannels resetkeys {_rules(part, tenant)}")


def _rules(part: Part, tenant: str | None) -> str:
    if part == "worker":
        return f"{_keys(f'{PREFIX}*', *_WITH_PRIORITIES)} {_CELERY} {_WORKER}"
    may = {"flower": _asking, "exporter": _exporting, "scaler": _scaling, "sender": _sending, "gateway": _serving}
    rules = _producing_for(check_name("tenant", tenant or "")) if part == "producer" else may[part]()
    return f"-@all {_HELLO} {' '.join(rules)}"


def _producing_for(tenant: str) -> list[str]:
    # A percent-encoded tenant name has no character with a meaning in patterns.
    return _producing(quote(tenant, safe=""))


def _producing(tenants: str) -> list[str]:
    """Return rules for the commands of offer.lua, and those that the client calls itself. Workers load its scripts."""
    session = f"{PREFIX}{{{tenants}/*}}:session:*"
    sets = tuple(f"{PREFIX}{{{tenants}/*}}:{kind}" for kind in ("running", "waiting", "queued:*"))
    return [
        "+time",
        _on(session, *sets, may="+evalsha +pexpire +pttl"),
        _on(session, may="+get +set"),
        _on(*sets, may="+zadd +zcard +zrem +zremrangebyscore +zscore"),
        _on(f"{PREFIX}consolidate:*:{tenants}/*", may="+set"),
        # Requests for a cycle over working memory go to `consolidate`.
        _on(HIGH_QUEUE, NORMAL_QUEUE, CONSOLIDATE_QUEUE, may="+lpush", by="W"),
        _on(*QUEUES, may="+llen", by="R"),
    ]


def _serving() -> list[str]:
    """Return rules to record for all tenants. A gateway loads limits.lua itself: it may start before any worker."""
    return [
        *_producing("*"),
        "+script|load",
        _on(f"{PREFIX}gateway:rate:*", may="+evalsha +get +set"),
        _on(f"{PREFIX}gateway:events:*", may="+expire +get +incrby"),
        _on(f"{PREFIX}gateway:answer:*", may="+del +get +set"),
        _on(f"{PREFIX}swept", may="+get", by="R"),
        # A request contains only the id of a row in Postgres, which holds the owner and the request itself.
        _on(REQUEST_QUEUE, may="+lpush", by="W"),
    ]


def _sending() -> list[str]:
    """Return rules for a program that sends through Celery, which declares the queue first."""
    return [
        "+multi +exec",
        _on(f"{CAPTURE_QUEUE}*", may="+lpush", by="W"),
        _on(f"{CAPTURE_QUEUE}*", may="+llen", by="R"),
        _on(f"_kombu.binding.{CAPTURE_QUEUE}", f"_kombu.binding_permanent.{CAPTURE_QUEUE}", may="+sadd", by="W"),
        _on(f"_kombu.binding.{CAPTURE_QUEUE}", may="+smembers", by="R"),
    ]


def _asking() -> list[str]:
    """Return rules to ask workers, receive their answers and events; of Slowwave's keys, only the lengths of queues."""
    listeners = tuple(
        f"_kombu.binding{permanent}.{exchange}"
        for permanent in ("", "_permanent")
        for exchange in ("reply.celery.pidbox", "celeryev")
    )
    return [
        "+multi +exec",
        _on(*_WITH_PRIORITIES, may="+llen", by="R"),
        _on(_ASKER, "celeryev.*", may="+llen +exists +brpop +del +pexpire"),
        _on(*listeners, may="+sadd +srem", by="W"),
        _on("_kombu.binding_deadlines", may="+zadd", by="W"),
        # All channels: to listen to a pattern, a user needs a rule with exactly this pattern, which contains the
        # database's number.
        "(allchannels +subscribe +psubscribe +unsubscribe +punsubscribe)",
        "(&/*.celery.pidbox +publish)",
    ]


def _exporting() -> list[str]:
    """Return rules to count. A script reads the oldest message's id, but not in `capture`, whose messages have text."""
    others = tuple(queue for queue in QUEUES if queue != CAPTURE_QUEUE)
    return [
        *_asking(),
        "+info +scan +time",
        _on(*others, may="+evalsha_ro +lindex", by="R"),
        _on("unacked", may="+hlen", by="R"),
        _on(f"{PREFIX}swept", may="+get", by="R"),
        _on(f"{PREFIX}tasks", may="+hgetall", by="R"),
        _on(f"{PREFIX}model:breaker:*", may="+hmget", by="R"),
        _on(f"{PREFIX}{{*}}:running", f"{PREFIX}{{*}}:waiting", f"{PREFIX}model:slots", may="+zcount +zcard", by="R"),
    ]


def _scaling() -> list[str]:
    """Return rules for KEDA. It uses a script, and a server lets scripts name only keys to which the caller may write.
    The script writes nothing, and may run only the caller's commands.
    """
    return [_on(*QUEUES, may="+eval"), _on(*QUEUES, may="+type +llen", by="R")]


By = Literal["R", "W", "RW"]


def _on(*patterns: str, may: str, by: By = "RW") -> str:
    """Return a selector: these commands on these keys only."""
    return f"({_keys(*patterns, by=by)} {may})"


def _keys(*patterns: str, by: By = "RW") -> str:
    return " ".join(f"{'' if by == 'RW' else f'%{by}'}~{pattern}" for pattern in patterns)
