"""Every key that Slowwave writes in Redis: its name, type and lifetime.

`state.lua` explains the values. Losing any of these keys costs time, never data, because Postgres lists all due work.

In a name, words in capitals stand for values. PRIORITY is high or normal. MODE is the mode of a pass (working, light,
deep). TENANT, AGENT and SCOPE (`room:NAME`) are percent-encoded, so that the braces enclose exactly one agent, whatever
its name. SESSION comes last and is not encoded. The queues are lists of Celery, and the only keys without a lifetime.
(They have no hash tag, because Celery's Redis transport does not support a cluster.)
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import quote

from slowwave.identity import check_name, shared_scope

PREFIX = "slowwave:"

HIGH_QUEUE = "flush.high"
NORMAL_QUEUE = "flush"
CAPTURE_QUEUE = "capture"
QUEUES = (HIGH_QUEUE, NORMAL_QUEUE, CAPTURE_QUEUE, "consolidate", "days", "maintenance")
"""All queues, in the order in which a worker takes from them."""

LINK_KEY = f"{PREFIX}sweep-link"
LINK_SECONDS = 10
"""How long a link of a chain of sweeps counts as on its way. A lost one is replaced by beat after this."""

SET_ASIDE_KEY = f"{PREFIX}set-aside"

MODEL_SLOTS_KEY = f"{PREFIX}model:slots"

CONSOLIDATE_QUEUE = "consolidate"
ASKED_SECONDS = 60
"""How long a pass, a summary or a delivery that was asked for counts as on its way. A lost message blocks nothing for
longer."""

DAYS_QUEUE = "days"
FINALIZE_KEY = f"{PREFIX}finalize"
FINALIZE_DEBOUNCE_SECONDS = 60
"""How long after a sweep over ended days was asked for no other one is."""

WAITING_TICKETS = 2
"""Lifetime of an agent's waiting set, in those of a ticket, from the last offer of somebody parked: longer than anybody
waits for a message that is lost. What is dirty is offered sooner, by sweeps, and keeps the set alive; what isn't needs
no place. A place that is lost comes back with the session's next offer."""


KeyType = Literal["string", "list", "hash", "set", "zset"]


class KeyKind(NamedTuple):
    """One kind of key. key: its name, with words in capitals or stars for values; lives: how long it exists."""

    name: str
    key: str
    type: KeyType
    lives: str = ""

    @property
    def pattern(self) -> str:
        """The keys of this kind as a glob of Redis."""
        return re.sub("[A-Z]+([/:][A-Z]+)*", "*", self.key)

    @property
    def words(self) -> frozenset[str]:
        """The words in capitals."""
        return frozenset(re.findall("[A-Z]+", self.key))

    def with_values(self, values: Mapping[str, str]) -> str:
        """Return a glob of the keys with these values of words in capitals. A value is encoded as it is in keys."""
        return re.sub("[A-Z]+", lambda word: values.get(word[0], "*"), self.key)

    def fits(self, key: str) -> bool:
        """Return True if a key is of this kind."""
        return re.fullmatch(".*".join(map(re.escape, self.pattern.split("*"))), key, re.DOTALL) is not None


_ROWS: tuple[tuple[str, str, KeyType, str], ...] = (
    (
        "session",
        "{TENANT/AGENT}:session:SESSION",
        "string",
        "pending: `ticket_seconds` (60); running: `lease_seconds` (8), renewed",
    ),
    ("running", "{TENANT/AGENT}:running", "zset", "session -> end of its lease in ms; as long as its last lease"),
    ("waiting", "{TENANT/AGENT}:waiting", "zset", "session -> place; two tickets after the last ask"),
    ("queued", "{TENANT/AGENT}:queued:PRIORITY", "zset", "session -> end of its ticket in ms; as long as the last"),
    ("pass", "consolidate:MODE:TENANT/SCOPE", "string", "ticket of a queued pass; a minute"),
    ("day", "day:TENANT/AGENT/SCOPE/DAY", "string", "ticket of a queued summary; a minute"),
    ("files", "files:TENANT/SCOPE", "string", "ticket of a queued delivery; a minute"),
    ("finalize", "finalize", "string", "ticket of the last sweep over ended days; a minute"),
    ("swept", "swept", "string", "when the last sweep ended; a week"),
    ("sweep link", "sweep-link", "string", "the queued link of a chain of sweeps; 10 seconds"),
    ("task counts", "tasks", "hash", "counts of tasks; a week after the last"),
    ("model slots", "model:slots", "zset", "call -> end of its lease in ms; as long as its last lease"),
    ("model breaker", "model:breaker:ENDPOINT", "hash", "consecutive failures, or the end of the pause; and an hour"),
    ("forgotten", "forgotten:MESSAGE", "string", "a message that a forget removed from its queue; a week"),
    (
        "login failures",
        "login-failures:BY:DIGEST",
        "string",
        "failed logins of the console; 300 seconds from the first",
    ),
    ("login form key", "login-form-key", "string", "signs the forms of the login page; 30 days"),
    (
        "rate limits",
        "gateway:rate:BY:NAME",
        "string",
        "when the bucket of an API key, or of a tenant, is full again, in microseconds; a second longer than that",
    ),
    ("quotas", "gateway:events:TENANT:DAY", "string", "events that a tenant recorded over HTTP; two days"),
    ("kept answers", "gateway:answer:TENANT:DIGEST", "string", "answer to a request that may be repeated; a day"),
    ("set aside", "set-aside", "hash", "keys of a wrong type, now named `set-aside:KEY:TIME`; a week, as such a key"),
)
OUR_KINDS = tuple(KeyKind(name, PREFIX + key, kind, lives) for name, key, kind, lives in _ROWS)
"""Every kind. The order matters, because a session may have any name: the first kind that fits decides."""


class AgentKeys(NamedTuple):
    """The keys of one agent, and its names as `offer.lua` reads them."""

    session_prefix: bytes
    running: bytes
    waiting: bytes
    queued_high: bytes
    queued_normal: bytes
    names: bytes


def consolidation_key(mode: str, tenant: str, kind: str, name: str) -> str:
    """Return the key that deduplicates requests for a consolidation pass over a scope. Raises `InvalidName`."""
    check_name("tenant", tenant)
    check_name(kind, name)
    return f"{PREFIX}consolidate:{mode}:{quote(tenant, safe='')}/{kind}:{quote(name, safe='')}"


def day_key(tenant: str, agent: str, scope: str | None, day: date) -> str:
    """Return the key that deduplicates requests for a day's summary. scope: None for the agent's own."""
    check_name("tenant", tenant)
    check_name("agent", agent)
    kind, name = ("agent", agent) if scope is None else shared_scope(scope)
    who = f"{quote(tenant, safe='')}/{quote(agent, safe='')}/{kind}:{quote(name, safe='')}"
    return f"{PREFIX}day:{who}/{day.isoformat()}"


def files_key(tenant: str, kind: str, name: str) -> str:
    """Return the key that deduplicates requests to write a scope's files. Raises `InvalidName`."""
    check_name("tenant", tenant)
    check_name(kind, name)
    return f"{PREFIX}files:{quote(tenant, safe='')}/{kind}:{quote(name, safe='')}"


def model_breaker_key(endpoint: str) -> str:
    """The key that counts failures of a model's endpoint."""
    return f"{PREFIX}model:breaker:{quote(endpoint, safe='')}"


def forgotten_key(message_id: str) -> str:
    """Return the key that marks a message as removed from its queue by a forget."""
    return f"{PREFIX}forgotten:{message_id}"


@lru_cache(maxsize=4096)
def agent_keys(tenant: str, agent: str) -> AgentKeys:
    """Return the keys of an agent, cached: quoting is the most expensive part of an offer. Raises InvalidName."""
    check_name("tenant", tenant)
    check_name("agent", agent)
    tag = f"{PREFIX}{{{quote(tenant, safe='')}/{quote(agent, safe='')}}}".encode()
    return AgentKeys(
        session_prefix=tag + b":session:",
        running=tag + b":running",
        waiting=tag + b":waiting",
        queued_high=tag + b":queued:high",
        queued_normal=tag + b":queued:normal",
        names=f"{tenant}\n{agent}\n".encode(),  # a name can't contain a line break
    )
