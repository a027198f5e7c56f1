"""Users of Redis or Valkey, each for its part alone, as ACL rules.

    worker    workers, beat, operators' shells: every queue and every key of ours, no command that rules the server
    producer  the client of one tenant: offers its sessions to the flush queues, and sees how long the queues are
    sender    programs that have only the broker: put messages into `capture`, and read nothing
    flower    listens to events and asks workers how they are; sees how long the queues are
    scaler    what adds and takes away workers (KEDA): sees how long the queues are

A rule can't look into a message. So what a user may send is bounded twice: here by the queues that it may write to, and
by the workers, which run of each queue only the tasks that belong there.

Must not know: the server's address, how rules get there.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from slowwave.coordination.keys import CAPTURE_QUEUE, CONSOLIDATE_QUEUE, HIGH_QUEUE, NORMAL_QUEUE, PREFIX, QUEUES
from slowwave.errors import InvalidName
from slowwave.identity import check_name

Part = Literal["worker", "producer", "sender", "flower", "scaler", "exporter"]

_HELLO = "+auth +hello +ping +select +client|setinfo +client|setname +client|no-evict"
_CELERY = "~unacked* ~_kombu.* ~*.celery.pidbox* ~*.reply.celery.pidbox* ~celeryev* allchannels"
"""Keys and channels of Celery's transport: what is under way, who listens, events, and answers to questions.

All channels: who subscribes to a pattern needs a rule of just that pattern, and these hold the database's number.
"""

_WORKER = (
    "-@all +@connection +@read +@write +@string +@list +@hash +@set +@sortedset +@pubsub +@transaction +@scripting"
    " +@keyspace -@dangerous -@admin +info +time -script|flush -script|kill -script|debug -function"
)
# What offer.lua calls, as its caller; and what the client asks by itself.
_OFFERING = "+evalsha +script|load +get +set +time +zscore +zadd +zrem +zremrangebyscore +zcard +pttl +pexpire +lpush"
_OFFERING += " +llen"
# Celery's sender declares its queue first.
_SENDING = "+lpush +llen +sadd +smembers +exists +multi +exec +evalsha +script|load +script|exists +time +zadd +info"
_ASKING = "+llen +brpop +publish +subscribe +psubscribe +unsubscribe +punsubscribe +smembers +sadd +srem +exists"
_ASKING += " +multi +exec +watch +unwatch +del +hset +hdel +zadd +zrem +zrangebyscore +zrevrangebyscore +info"
_ASKING += " +evalsha +script|load +script|exists +time"

# KEDA asks by a script, and a server lets scripts name only keys that their caller may write to. It calls nothing that
# writes, and the script is bound by what its caller may call.
_MEASURING = "+eval +type +llen"

# What the exporter counts, by commands that only read: a script of its own sees the id of a queue's oldest message.
_COUNTING = "-@all +get +hgetall +hlen +hmget +lindex +scan +zcount +zcard +eval_ro"

_WITH_PRIORITIES = tuple(f"{queue}*" for queue in QUEUES)
"""Celery looks for a list of each priority beside the queue's own, under its name and some more."""


@dataclass(frozen=True, slots=True)
class BrokerUser:
    """One user. rules: all of them but its password, beginning with `reset`, which takes what it had."""

    name: str
    rules: str

    def line(self, password_digest: str) -> str:
        """As a file of users has it. password_digest: the SHA-256 of its password, in hexadecimal."""
        return f"user {self.name} {self._with(password_digest)}"

    def command(self, password_digest: str) -> str:
        """As it is typed at the server."""
        return f"ACL SETUSER {self.name} {self._with(password_digest)}"

    def _with(self, digest: str) -> str:
        return f"{self.rules} on #{digest}"


def broker_user(part: Part, name: str, tenant: str | None = None) -> BrokerUser:
    """The user of a part; of a producer also its tenant. Raises InvalidName."""
    if not name or not all(letter.isascii() and (letter.isalnum() or letter in "_.-") for letter in name):
        raise InvalidName("a user of the broker is named with letters, digits and _ . - alone")
    if (part == "producer") != (tenant is not None):
        raise InvalidName("a producer belongs to one tenant; the others to none")
    return BrokerUser(name, f"reset resetchannels resetkeys {_rules(part, tenant)}")


def _rules(part: Part, tenant: str | None) -> str:
    if part == "worker":
        return f"{_keys(f'{PREFIX}*', *_WITH_PRIORITIES)} {_CELERY} {_WORKER}"
    if part == "flower":
        # It reads nothing of ours: of a queue its length alone.
        return f"{_keys(*_WITH_PRIORITIES, may='R')} {_CELERY} -@all {_HELLO} {_ASKING}"
    if part == "exporter":
        # Of `capture`, where words are, its length alone. In brackets: what is said there holds for those keys alone.
        others = (queue for queue in QUEUES if queue != CAPTURE_QUEUE)
        return f"{_rules('flower', None)} ({_keys(*others, f'{PREFIX}*', 'unacked', may='R')} {_COUNTING})"
    if part == "scaler":
        return f"{_keys(*QUEUES)} -@all {_HELLO} {_MEASURING}"
    if part == "sender":
        capture = _keys(f"{CAPTURE_QUEUE}*", may="W")
        return f"{capture} ~_kombu.* -@all {_HELLO} {_SENDING}"
    # Percent-encoded, a tenant's name holds nothing that a pattern would read as more than itself.
    own = quote(check_name("tenant", tenant or ""), safe="")
    keys = _keys(f"{PREFIX}{{{own}/*}}:*", f"{PREFIX}consolidate:*:{own}/*", HIGH_QUEUE, NORMAL_QUEUE)
    # Of the others the length; into one of them the question for a cycle over working memory.
    others = (queue for queue in QUEUES if queue not in {HIGH_QUEUE, NORMAL_QUEUE, CONSOLIDATE_QUEUE})
    return f"{keys} {_keys(*others, may='R')} {_keys(CONSOLIDATE_QUEUE, may='W')} -@all {_HELLO} {_OFFERING}"


def _keys(*patterns: str, may: Literal["R", "W", "RW"] = "RW") -> str:
    return " ".join(f"{'' if may == 'RW' else f'%{may}'}~{pattern}" for pattern in patterns)
