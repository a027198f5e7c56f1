"""Outcomes of the queue's calls: of an offer, a claim and a release; and the state of a session.

Must not know: Redis, the scripts.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from slowwave.identity import SessionRef

Priority = Literal["high", "normal"]


class Offer(StrEnum):
    """What an offer came to; `offer.lua` says when."""

    ENQUEUE = "ENQUEUE"
    DUPLICATE = "DUPLICATE"
    RERUN = "RERUN"
    PARKED = "PARKED"


class Verdict(StrEnum):
    """Whether a message may run; `claim.lua` says when."""

    CLAIMED = "CLAIMED"
    STALE = "STALE"
    BUSY = "BUSY"
    PARKED = "PARKED"


@dataclass(frozen=True, slots=True)
class FlushClaim:
    """The outcome of a claim. `priority`: the session's priority while it was pending; None if STALE or BUSY."""

    verdict: Verdict
    priority: Priority | None

    @property
    def ours(self) -> bool:
        return self.verdict is Verdict.CLAIMED


@dataclass(frozen=True, slots=True)
class Taken:
    """A flush that a worker has begun: its session, and the claim under `token`.

    `trace`: the traceparent of its message, if this process took the message from its queue.
    """

    ref: SessionRef
    token: str
    claim: FlushClaim
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Parked:
    """A parked session whose agent has room again; the receiver of this value offers it."""

    ref: SessionRef
    priority: Priority


@dataclass(frozen=True, slots=True)
class Release:
    """The answer to a release. The caller offers its session again at `rerun`, and `parked`, where these are not None.

    `ours` is False when the lease had been lost before: to its own end, or to a server that was emptied.
    `behind`: how many sessions of the agent are parked behind `parked`.
    """

    ours: bool
    rerun: Priority | None
    parked: Parked | None
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Sighting:
    """What Redis knows of a session at one moment.

    `priority`: of the ticket, the lease or the place; None when idle.
    `expires_in`: seconds that the ticket or the lease still lives; None when idle or parked.
    `rerun`: what a running session will be offered at when it ends.
    `ahead`: parked sessions of the same agent that come before it; None unless parked.
    `parked_for`: seconds since it was parked; None unless parked.
    `agent_running`: live leases of the agent, this session's included.
    `agent_queued`: live tickets of the agent at this session's priority, its own included; 0 when idle.
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
