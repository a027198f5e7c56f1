"""Results of the queue's calls: offer, claim, release, and the state of a session."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from slowwave.identity import SessionRef

Priority = Literal["high", "normal"]


class Offer(StrEnum):
    """The outcome of an offer; `offer.lua` defines the cases."""

    ENQUEUE = "ENQUEUE"
    DUPLICATE = "DUPLICATE"
    RERUN = "RERUN"
    PARKED = "PARKED"


class Verdict(StrEnum):
    """The decision whether a message may run; `claim.lua` defines the cases."""

    CLAIMED = "CLAIMED"
    STALE = "STALE"
    BUSY = "BUSY"
    PARKED = "PARKED"


@dataclass(frozen=True, slots=True)
class FlushClaim:
    """The outcome of a claim. priority: the session's priority while it was pending; None if STALE or BUSY."""

    verdict: Verdict
    priority: Priority | None

    @property
    def ours(self) -> bool:
        return self.verdict is Verdict.CLAIMED


@dataclass(frozen=True, slots=True)
class Taken:
    """A flush that a worker has begun. trace: the message's traceparent, if this process took it from the queue."""

    ref: SessionRef
    token: str
    claim: FlushClaim
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Parked:
    """A parked session whose agent is below its limit of concurrent flushes again; the caller offers the session."""

    ref: SessionRef
    priority: Priority


@dataclass(frozen=True, slots=True)
class Release:
    """The outcome of a release. The caller offers its session again at priority `rerun`, and offers `parked`, unless
    None.

    ours: False if the lease was lost earlier, because it expired or the server lost its data. behind: the number of the
    agent's sessions that are parked behind `parked`.
    """

    ours: bool
    rerun: Priority | None
    parked: Parked | None
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Sighting:
    """A session's state in Redis at one moment.

    priority: the priority of the ticket, lease or parked place; None when idle. expires_in: the remaining seconds of
    the ticket or lease; None when idle or parked. rerun: the priority of the offer that follows a running flush. ahead:
    the number of the agent's parked sessions before this one; None unless parked. parked_for: the seconds since the
    session was parked; None unless parked. agent_running: the number of the agent's live leases, including this
    session's.
    agent_queued: the number of the agent's live tickets at this session's priority, including its own; 0 when idle.
    """

    state: Literal["idle", "pending", "running", "parked"]
    priority: Priority | None
    expires_in: float | None
    rerun: Priority | None
    ahead: int | None
    parked_for: float | None
    agent_running: int
    agent_queued: int = 0


def priority_or_none(word: str) -> Priority | None:
    """Read a priority as the scripts write it; None for anything else ("", "-")."""
    return "high" if word == "high" else "normal" if word == "normal" else None
