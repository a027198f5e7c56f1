"""Every key that Slowwave writes in Redis: its name, meaning and lifetime.

    key                                       type    lives
    slowwave:{TENANT/AGENT}:session:SESSION   string  pending: ticket_seconds (60); running: lease_seconds (8), renewed
    slowwave:{TENANT/AGENT}:running           zset    session -> end of its lease in ms; as long as its last lease
    slowwave:{TENANT/AGENT}:queued:PRIORITY   zset    session -> end of its ticket in ms; as long as its last ticket
    slowwave:{TENANT/AGENT}:waiting           zset    session -> place; WAITING_TICKETS tickets after the last ask
    slowwave:swept                            string  when the last sweep ended; a week
    slowwave:consolidate:MODE:TENANT/SCOPE    string  ticket of a queued pass; ASKED_SECONDS (60)
    slowwave:day:TENANT/AGENT/SCOPE/DAY       string  ticket of a queued summary; ASKED_SECONDS
    slowwave:finalize                         string  ticket of the last sweep; FINALIZE_DEBOUNCE_SECONDS (60)
    slowwave:files:TENANT/SCOPE               string  ticket of a queued delivery; ASKED_SECONDS
    slowwave:model:slots                      zset    call -> end of its lease in ms; as long as its last lease
    slowwave:model:breaker:ENDPOINT           hash    consecutive failures, or the end of the pause; and an hour
    slowwave:forgotten:MESSAGE                string  a message that a forget removed from its queue; a week
    slowwave:tasks                            hash    counts of tasks; a week after the last
    slowwave:sweep-link                       string  the queued link of a chain of sweeps; LINK_SECONDS (10)
    slowwave:login-failures:BY:DIGEST         string  failed logins of the console; WINDOW_SECONDS (300) from the first
    slowwave:login-form-key                   string  signs the forms of the login page; 30 days
    slowwave:gateway:rate:key:KEY             string  when the bucket of a key, or of a tenant, is full again,
    slowwave:gateway:rate:tenant:TENANT               in microseconds; a second longer than that
    slowwave:gateway:events:TENANT:DAY        string  events that a tenant recorded over HTTP; two days
    slowwave:gateway:answer:TENANT:DIGEST     string  answer to a request that may be repeated; a day
    slowwave:set-aside                        hash    keys of a wrong type that were renamed; a week
    slowwave:set-aside:KEY:TIME               any     such a key; a week
    flush.high, flush, capture, consolidate,  list    the queues: Celery's own, the only keys without a lifetime
    days, maintenance

`state.lua` explains the values. Losing any of these keys costs time, never data, because Postgres lists all due work.

PRIORITY is high or normal. MODE is the mode of a pass (working, light, deep). TENANT, AGENT and SCOPE (`room:NAME`) are
percent-encoded, so that the braces enclose exactly one agent, whatever its name. SESSION comes last and is not encoded.
(The queues have no hash tag, because Celery's Redis transport does not support a cluster.)
"""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
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


@dataclass(frozen=True, slots=True)
class AgentKeys:
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
    """Return the key that deduplicates requests for a day's summary; scope None is the agent's own. Raises
    `InvalidName`.
    """
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
    """Return the keys of an agent. The result is cached, because quoting is the most expensive part of an offer.

    Raises `InvalidName`.
    """
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
