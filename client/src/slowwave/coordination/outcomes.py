"""Outcomes of the queue's calls: of an offer, a claim and a release; and the state of a session."""

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
    """Whether a message may run; `claim.lua` defines the cases."""

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
    """The outcome of a release. The caller offers its session again at priority `rerun`, and offers `parked`, unless
    None.

    `ours` is False if the lease was already lost, because it expired or the server was emptied.
    `behind`: the number of sessions of the agent that are parked behind `parked`.
    """

    ours: bool
    rerun: Priority | None
    parked: Parked | None
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Sighting:
    """A session's state in Redis at one moment.

    `priority`: that of the ticket, the lease or the parked place; None when idle.
    `expires_in`: remaining seconds of the ticket or the lease; None when idle or parked.
    `rerun`: the priority of the offer that follows a running flush.
    `ahead`: parked sessions of the same agent before it; None unless parked.
    `parked_for`: seconds since it was parked; None unless parked.
    `agent_running`: live leases of the agent, with this session's.
    `agent_queued`: live tickets of the agent at this session's priority, with its own; 0 when idle.
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
