"""Sessions and agents as the model has them: who may be queued, running or parked, and when a session is due.

These are the steps of `slowwave.coordination` and `slowwave.sweep_sessions`, without lost messages and dead workers.

Must not know: time that passes, what an operation costs.
"""

import heapq
import math
from collections import Counter, deque
from dataclasses import dataclass, field

from slowwave.settings import AutoFlush

HIGH, NORMAL = "flush.high", "flush"


@dataclass(slots=True)
class Agent:
    """Who may have so many running flushes, and so many messages in each queue beside them.

    parked: sessions that wait for one of these to end, urgent ones first.
    """

    running: int = 0
    queued: Counter[str] = field(default_factory=Counter)
    parked: list[tuple[int, int, "Session"]] = field(default_factory=list)
    sessions: dict[int, "Session"] = field(default_factory=dict)

    def park(self, session: "Session", place: int) -> None:
        """Let it wait: behind urgent sessions, unless it is urgent itself."""
        self.parked.append((0 if session.queue == HIGH else 1, place, session))
        self.parked.sort()

    def is_full(self, queue: str, limit: int) -> bool:
        """Whether a message in this queue would be one too many."""
        return self.running + self.queued[queue] >= limit

    def unpark(self, session: "Session") -> None:
        """It waits no more."""
        self.parked = [entry for entry in self.parked if entry[2] is not session]

    def raise_place(self, session: "Session") -> None:
        """It has become urgent while it waits."""
        session.queue = HIGH
        self.parked = sorted((0 if one is session else rank, place, one) for rank, place, one in self.parked)


@dataclass(slots=True)
class Session:
    """One conversation. turns: when each that no flush has taken was committed."""

    number: int
    agent: Agent
    turns: deque[float] = field(default_factory=deque)
    state: str = "idle"
    queue: str = NORMAL
    ticket: int = 0
    rerun: bool = False
    boosted: bool = False
    invalidated: bool = False
    last_seen: float = 0.0
    due_at: float = math.inf
    failures: int = 0

    def __lt__(self, other: "Session") -> bool:
        return self.number < other.number


class Due:
    """The sessions by when they are due: what the sweep reads."""

    def __init__(self, rules: AutoFlush) -> None:
        self._rules = rules
        self._heap: list[tuple[float, int, Session]] = []

    def reckon(self, session: Session) -> None:
        """Recompute its due time, after a turn or a flush."""
        if not session.turns:
            session.due_at = math.inf
        elif session.invalidated:
            self.at(session, session.last_seen)
        else:
            quiet = session.last_seen + self._rules.idle_seconds
            self.at(session, min(quiet, session.turns[0] + self._rules.max_dirty_age_seconds))

    def at(self, session: Session, when: float) -> None:
        """It is due then."""
        session.due_at = when
        heapq.heappush(self._heap, (when, session.number, session))

    def take(self, now: float, room: int) -> tuple[list[Session], bool]:
        """Claim due sessions within one sweep's caps. Also returns whether a cap ended it with no flush to follow."""
        limit = min(self._rules.batch.max_sessions_per_cycle, room)
        most = self._rules.batch.max_sessions_per_agent_per_cycle
        of_agent: Counter[int] = Counter()
        has_parked: set[int] = set()
        taken: list[Session] = []
        left: list[tuple[float, int, Session]] = []
        while self._heap and self._heap[0][0] <= now and len(taken) < limit and len(left) < 4 * limit:
            entry = heapq.heappop(self._heap)
            session = entry[2]
            if session.due_at != entry[0]:
                continue
            who = id(session.agent)
            if of_agent[who] >= most:
                left.append(entry)
                continue
            of_agent[who] += 1
            if of_agent[who] > self._rules.per_agent_concurrency or session.agent.parked:
                has_parked.add(who)
            taken.append(session)
        for entry in left:
            heapq.heappush(self._heap, entry)
        for session in taken:
            self.at(session, now + self._rules.retry_interval_seconds)
        capped = any(count >= most and who not in has_parked for who, count in of_agent.items())
        return taken, capped or len(taken) >= limit
