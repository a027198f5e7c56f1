"""The pipeline as a discrete-event simulation: turns come in, flushes take them, and cores and the log are shared.

Left out, since other proofs show it: lost messages, dead workers, leases that end. Of failures only their rate counts.

Must not know: real time, real servers; the costs are arguments.
"""

import random
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

import simpy

from proof.sizing.costs import Cost, Costs
from proof.sizing.machines import Cores, Log, Step
from proof.sizing.outcome import Outcome
from proof.sizing.queues import Pool, Queues
from proof.sizing.sessions import HIGH, NORMAL, Agent, Due, Session
from proof.sizing.traffic import Turn
from slowwave.settings import AutoFlush

ALL = (HIGH, NORMAL, "days", "maintenance")
LINK = "link"
SWEEP = "sweep"
SIDE = "side"
BACK_OFF_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A deployment. shared_cores: everything on one machine of so many; else worker_cores and postgres_cores.

    pools: who takes from which queues. model_seconds: how long a model takes for a window, 0 for rules. failure_rate:
    of flushes. prompts: whether each turn's prompt boosts the agent's other conversations.
    """

    pools: tuple[Pool, ...]
    shared_cores: int = 0
    worker_cores: int = 0
    postgres_cores: int = 4
    model_seconds: float = 0.0
    failure_rate: float = 0.0
    prompts: bool = False
    rules: AutoFlush = field(default_factory=AutoFlush)


class Pipeline:
    """One run. Use a new object for each run."""

    def __init__(self, plan: Plan, costs: Costs, seed: int) -> None:
        self.plan, self.costs = plan, costs
        self._env: Any = simpy.Environment()
        self._draw = random.Random(seed)
        self.outcome = Outcome()
        shared = Cores(self._env, plan.shared_cores) if plan.shared_cores else None
        slots = sum(pool.slots for pool in plan.pools)
        self._workers = shared or Cores(self._env, plan.worker_cores or slots)
        self._postgres = shared or Cores(self._env, plan.postgres_cores)
        self._valkey = shared or Cores(self._env, 1)
        self._clients = shared or Cores(self._env, 1_000_000)
        self._log = Log(self._env, lambda: costs.wal_flush_seconds)
        self._queues = Queues(self._env, ALL, plan.pools)
        self._due = Due(plan.rules)
        self._agents: dict[int, Agent] = {}
        self._link_alive = False
        self._slots_busy, self._busy, self._busy_since = 0.0, 0, 0.0

    def run(self, turns: Iterable[Turn], seconds: float) -> Outcome:
        """Let these turns come in, and stop after so many seconds."""
        for pool in self.plan.pools:
            for _ in range(pool.slots):
                self._env.process(self._slot(pool))
        self._env.process(self._arrivals(turns))
        self._env.process(self._beat())
        self._env.run(until=seconds)
        return self._sum_up(seconds)

    def _sum_up(self, seconds: float) -> Outcome:
        out = self.outcome
        out.seconds, out.commits = seconds, self._log.commits
        waiting = [at for agent in self._agents.values() for one in agent.sessions.values() for at in one.turns]
        out.unread = len(waiting)
        out.turn_seconds = sum(lag for _, lag in out.lags) + sum(seconds - at for at in waiting)
        resources = {"workers": self._workers, "postgres": self._postgres, "valkey": self._valkey}
        out.used = {name: cores.used(seconds) for name, cores in resources.items()}
        out.used["log"] = self._log.busy_seconds / seconds
        self._occupy(0)
        out.used["slots"] = self._slots_busy / (seconds * sum(pool.slots for pool in self.plan.pools))
        return out

    def _arrivals(self, turns: Iterable[Turn]) -> Step:
        for turn in turns:
            yield self._env.timeout(max(0.0, turn.at - self._env.now))
            self._env.process(self._capture(turn))

    def _beat(self) -> Step:
        while True:
            self._queues.put("maintenance", (SWEEP, self._env.now))
            yield self._env.timeout(self.plan.rules.flush_interval_seconds)

    def _capture(self, turn: Turn) -> Step:
        agent = self._agents.setdefault(turn.agent, Agent())
        if self.plan.prompts:
            yield from self._boost(agent, turn.session)
        yield from self._clients.work(self.costs.capture.caller)
        yield from self._postgres.work(self.costs.capture.postgres)
        yield from self._log.commit()
        self.outcome.captured += 1
        session = agent.sessions.setdefault(turn.session, Session(turn.session, agent))
        session.turns.append(self._env.now)
        session.last_seen = self._env.now
        session.invalidated |= len(session.turns) > self.plan.rules.turn_threshold
        self._due.reckon(session)
        if session.invalidated:
            yield from self._offer(session, NORMAL)

    def _boost(self, agent: Agent, session: int) -> Step:
        others = [other for other in agent.sessions.values() if other.turns and other.number != session]
        for other in others[: self.plan.rules.max_cross_session_reprioritize]:
            other.boosted = other.invalidated = True
            yield from self._offer(other, HIGH)

    def _offer(self, session: Session, queue: str) -> Step:
        yield from self._valkey.work(self.costs.offer.valkey)
        if session.state == "running":
            session.rerun = True
            return
        agent = session.agent
        is_parked, is_pending = session.state == "parked", session.state == "pending"
        queue = HIGH if is_parked and session.queue == HIGH else queue
        if is_pending and queue in (session.queue, NORMAL):
            return
        if is_pending:
            agent.queued[session.queue] -= 1
        if agent.is_full(queue, self.plan.rules.per_agent_concurrency):
            self._park(session, queue)
            return
        if is_parked:
            agent.unpark(session)
        session.state, session.queue = "pending", queue
        session.ticket += 1
        agent.queued[queue] += 1
        self._queues.put(queue, (session, session.ticket, self._env.now))

    def _park(self, session: Session, queue: str) -> None:
        if session.state != "parked":
            session.state, session.queue = "parked", queue
            self.outcome.parked += 1
            session.agent.park(session, self.outcome.parked)
        elif queue == HIGH != session.queue:
            session.agent.raise_place(session)

    def _slot(self, pool: Pool) -> Step:
        while True:
            message = yield self._queues.take(pool)
            self._occupy(1)
            if message[0] == SWEEP or message[0] == LINK:
                yield from self._sweep(*message)
            elif message[0] == SIDE:
                yield from self._spend(self.costs.side, 1.0, 1.0)
            else:
                yield from self._turn(*message)
            self._occupy(-1)

    def _occupy(self, more: int) -> None:
        """Add up how many slots were busy how long, including tasks in progress."""
        self._slots_busy += self._busy * (self._env.now - self._busy_since)
        self._busy, self._busy_since = self._busy + more, self._env.now

    def _sweep(self, kind: str, sent_at: float) -> Step:
        if kind == LINK:
            self._link_alive = False
        elif self._link_alive or self._env.now - sent_at > self.plan.rules.flush_interval_seconds:
            return
        room = self.plan.rules.max_queued - self._queues.depth(NORMAL)
        taken, capped = self._due.take(self._env.now, room) if room > 0 else ([], True)
        yield from self._spend(self.costs.sweep, max(1, len(taken)), 1.0)
        for session in taken:
            yield from self._offer(session, HIGH if session.boosted else NORMAL)
        if capped:
            self._chain()

    def _chain(self) -> None:
        if not self._link_alive:
            self._link_alive = True
            self._queues.put(NORMAL, (LINK, self._env.now))

    def _turn(self, session: Session, ticket: int, sent_at: float) -> Step:
        """A flush and, for a bounded time, the flushes behind, as in `services.flush.batch`."""
        began, goes_on = self._env.now, session.queue == NORMAL
        read = yield from self._flush(session, ticket, sent_at, self.costs.flush)
        while goes_on and self._env.now - began < self.plan.rules.batch_seconds and (message := self._behind()):
            session, ticket, sent_at = message
            read |= yield from self._flush(session, ticket, sent_at, self.costs.flush_taken)
        if read:
            self._queues.put("days", (SIDE,))

    def _behind(self) -> Any | None:
        """The next flush of the ordinary queue, unless an urgent message waits or the next message is not a flush."""
        message = None if self._queues.depth(HIGH) else self._queues.first(NORMAL)
        return self._queues.pop(NORMAL) if message and message[0] != LINK else None

    def _flush(self, session: Session, ticket: int, sent_at: float, cost: Cost) -> Generator[Any, Any, bool]:
        """One flush; answers whether it read anything."""
        yield from self._valkey.work(cost.valkey / 2)
        agent = session.agent
        if session.ticket != ticket or session.state != "pending":
            return False
        agent.queued[session.queue] -= 1
        if agent.running >= self.plan.rules.per_agent_concurrency:
            self._park(session, session.queue)
            return False
        session.state, session.rerun = "running", False
        agent.running += 1
        self.outcome.waits.append(self._env.now - sent_at)
        read = yield from self._window(session, cost)
        yield from self._release(session, cost)
        return read

    def _window(self, session: Session, flush: Cost) -> Generator[Any, Any, bool]:
        most = max(1, self.plan.rules.extractor.max_messages_per_flush // 2)
        size = min(len(session.turns), most)
        if not size:
            return False
        part = self._lot(self.costs.spread) / 2
        further = self.costs.flush_turn
        cost = Cost(
            flush.caller + (size - 1) * further.caller,
            flush.postgres + (size - 1) * further.postgres,
        )
        yield from self._spend(cost, 1.0, part)
        if self.plan.model_seconds:
            yield self._env.timeout(self.plan.model_seconds * self._lot(self.costs.spread))
        yield from self._spend(cost, 1.0, part)
        if self._draw.random() < self.plan.failure_rate:
            self.outcome.failed += 1
            session.failures += 1
            self._due.at(session, self._env.now + BACK_OFF_SECONDS * 2 ** min(session.failures - 1, 6))
            return False
        for _ in range(size):
            at = session.turns.popleft()
            self.outcome.lags.append((at, self._env.now - at))
        self.outcome.flushes += 1
        session.failures, session.boosted, session.invalidated = 0, False, len(session.turns) >= most
        session.rerun |= session.invalidated
        self._due.reckon(session)
        return True

    def _release(self, session: Session, cost: Cost) -> Step:
        yield from self._valkey.work(cost.valkey / 2)
        agent = session.agent
        session.state = "idle"
        agent.running -= 1
        if agent.parked:
            other = agent.parked[0][2]
            yield from self._offer(other, other.queue)
            if not agent.parked and other.queue == NORMAL:
                self._chain()
        if session.rerun and session.turns:
            yield from self._offer(session, NORMAL)
        elif not session.turns and session.state == "idle":
            # A conversation that is read and quiet needs no memory here; a further turn makes it anew.
            agent.sessions.pop(session.number, None)

    def _spend(self, cost: Cost, times: float, part: float) -> Step:
        yield from self._workers.work(cost.caller * times * part)
        yield from self._postgres.work(cost.postgres * times * part)
        if cost.postgres:
            yield from self._log.commit()

    def _lot(self, spread: float) -> float:
        """A factor of mean 1 and this standard deviation."""
        return self._draw.gammavariate(1 / spread**2, spread**2) if spread else 1.0
