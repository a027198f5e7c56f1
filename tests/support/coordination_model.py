"""The state machine of sessions in plain Python: what each operation must answer, and what it leaves."""

from dataclasses import dataclass, field

from slowwave.coordination.outcomes import FlushClaim, Offer, Parked, Priority, Release, Verdict
from slowwave.identity import SessionRef

AGENTS = (("default", "Maya"), ("default", "Jo}nas/{x"))
SESSIONS = (*(SessionRef(*AGENTS[0], name) for name in ("breakfast", "a b:é", "{}")), SessionRef(*AGENTS[1], "{}"))
BEHIND = 4e15
UNKNOWN = -1.0
"""The place of a session that has just been parked: the server's clock gives it."""


@dataclass
class Modelled:
    """What the model believes of one session."""

    state: str = "idle"
    priority: Priority = "normal"
    rerun: Priority | None = None
    token: str = ""
    place: float = 0.0
    wanted: bool = False  # offered since a worker last began to read it


@dataclass
class Model:
    """The state machine in plain Python: what each operation must answer, and what it leaves."""

    limit: int
    sessions: dict[SessionRef, Modelled] = field(default_factory=lambda: {ref: Modelled() for ref in SESSIONS})

    def running(self, ref: SessionRef) -> int:
        return sum(self.sessions[other].state == "running" for other in SESSIONS if other.agent == ref.agent)

    def queued(self, ref: SessionRef, priority: Priority) -> int:
        others = (self.sessions[other] for other in SESSIONS if other.agent == ref.agent)
        return sum(it.state == "pending" and it.priority == priority for it in others)

    def full(self, ref: SessionRef, priority: Priority | None = None) -> bool:
        """Whether nothing more of the agent may run; with a priority: nor be queued at that."""
        return self.running(ref) + (self.queued(ref, priority) if priority else 0) >= self.limit

    def offer(self, ref: SessionRef, priority: Priority) -> Offer:
        it = self.sessions[ref]
        it.wanted = True
        if it.state == "running":
            it.rerun = "high" if "high" in {it.rerun, priority} else "normal"
            return Offer.RERUN
        if it.state == "pending" and (it.priority == "high" or priority == "normal"):
            return Offer.DUPLICATE
        if it.state == "parked":
            priority = "high" if "high" in {it.priority, priority} else "normal"
            if self.full(ref, priority):
                if priority != it.priority:
                    it.priority, it.place = priority, it.place - BEHIND
                return Offer.PARKED
        elif self.full(ref, priority):
            it.state, it.priority, it.place = "parked", priority, UNKNOWN
            return Offer.PARKED
        it.state, it.priority = "pending", priority
        return Offer.ENQUEUE

    def claim(self, ref: SessionRef, token: str) -> FlushClaim:
        it = self.sessions[ref]
        if it.state == "running":
            return FlushClaim(Verdict.BUSY, None)
        if it.state == "idle":
            return FlushClaim(Verdict.STALE, None)
        if self.full(ref):
            it.place = it.place if it.state == "parked" else UNKNOWN
            it.state = "parked"
            return FlushClaim(Verdict.PARKED, it.priority)
        it.state, it.token, it.rerun, it.wanted = "running", token, None, False
        return FlushClaim(Verdict.CLAIMED, it.priority)

    def holds(self, ref: SessionRef, token: str) -> bool:
        it = self.sessions[ref]
        return it.state == "running" and it.token == token

    def release(self, ref: SessionRef, token: str) -> Release:
        it = self.sessions[ref]
        ours, rerun = self.holds(ref, token), None
        if ours:
            it.state, rerun = "idle", it.rerun
        parked = [other for other in SESSIONS if other.agent == ref.agent and self.sessions[other].state == "parked"]
        if not parked:
            return Release(ours, rerun, None)
        first = min(parked, key=lambda other: (self.sessions[other].place, other.session.encode()))
        if self.full(ref, self.sessions[first].priority):
            return Release(ours, rerun, None)
        return Release(ours, rerun, Parked(first, self.sessions[first].priority), len(parked) - 1)
