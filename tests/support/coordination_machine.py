"""The queue of sessions against a model of itself: every interleaving of producers, workers, crashes and expiry.

A subclass says which server it runs on. Time passes as a step: what would expire is removed at once, so that no test
waits. A message is real (popped from the server's list); a worker is a token that believes it holds a lease.
"""

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from redis import Redis

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE, QUEUES, agent_keys
from slowwave.coordination.outcomes import Offer, Priority, Release, Taken
from slowwave.identity import SessionRef
from tests.support.coordination_model import AGENTS, BEHIND, SESSIONS, UNKNOWN, Model

refs = st.sampled_from(SESSIONS)
priorities: st.SearchStrategy[Priority] = st.sampled_from(("high", "normal"))


def may_fail(machine: "CoordinationMachine") -> bool:
    """Say whether this run has been calm for long enough."""
    return machine.steps >= machine.calm


class CoordinationMachine(RuleBasedStateMachine):
    """Subclasses give `connect`; everything else is here."""

    def connect(self) -> Redis:
        raise NotImplementedError

    @initialize(limit=st.sampled_from((1, 1, 2)), calm=st.sampled_from((2, 8, 1000)))
    def start(self, limit: int, calm: int) -> None:
        self.redis: Any = self.connect()
        self.redis.flushall()
        self.queue = FlushQueue(self.redis, per_agent_concurrency=limit)
        self.model = Model(limit)
        self.workers: dict[str, SessionRef] = {}
        self.delivered: list[SessionRef] = []
        self.claims = 0
        self.faults = 0  # steps that only the sweep repairs
        self.calm = calm  # steps between two of them: without calm no run would get far enough
        self.steps = 0

    # Producers

    @rule(ref=refs, priority=priorities)
    def offer(self, ref: SessionRef, priority: Priority) -> None:
        queued = self.messages()
        expected = self.model.offer(ref, priority)
        before = self.now_us()
        assert self.queue.offer(ref, priority) is expected
        self.learn_place(ref, before)
        assert len(self.messages()) - len(queued) == (expected is Offer.ENQUEUE)

    @rule(offers=st.lists(st.tuples(refs, priorities), max_size=5))
    def offer_many(self, offers: list[tuple[SessionRef, Priority]]) -> None:
        expected = [self.model.offer(ref, priority) for ref, priority in offers]
        before = self.now_us()
        assert self.queue.offer_many(offers) == expected
        for ref in SESSIONS:
            self.learn_place(ref, before)

    # Workers

    @rule()
    def deliver(self) -> None:
        """A worker takes the next message, high ones first, and may or may not get the lease."""
        ref = self.take()
        if ref:
            self.delivered.append(ref)
            self.claim(ref)

    @rule()
    def go_on(self) -> None:
        """A worker takes and claims the next normal message by itself, but never past an urgent one."""
        urgent, normal, token, before = self.before_take()
        self.check_taken(self.queue.take(token), urgent, normal, token, before)

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def release_and_go_on(self, data: st.DataObject) -> None:
        """A worker that has ended a flush takes the next one in the same round trip."""
        held = data.draw(st.sampled_from(list(self.workers)))
        ref = self.workers.pop(held)
        expected = self.model.release(ref, held)
        urgent, normal, token, before = self.before_take()
        answer, taken = self.queue.release_and_take(ref, held, token)
        assert answer == expected
        self.check_taken(taken, urgent, normal, token, before)
        self.follow(ref, answer)

    def before_take(self) -> tuple[list[SessionRef], list[SessionRef], str, int]:
        self.claims += 1
        urgent, normal = (self.messages(queue) for queue in (HIGH_QUEUE, NORMAL_QUEUE))
        return urgent, normal, f"token {self.claims}", self.now_us()

    def check_taken(
        self, taken: Taken | None, urgent: list[SessionRef], normal: list[SessionRef], token: str, before: int
    ) -> None:
        if urgent or not normal:
            assert taken is None
            return
        ref = normal.pop()
        assert taken == Taken(ref, token, self.model.claim(ref, token))
        assert self.messages(NORMAL_QUEUE) == normal
        self.delivered.append(ref)
        self.learn_place(ref, before)
        if taken.claim.ours:
            self.workers[token] = ref

    @precondition(lambda self: self.delivered)
    @rule(data=st.data())
    def deliver_again_or_late(self, data: st.DataObject) -> None:
        self.claim(data.draw(st.sampled_from(self.delivered)))

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(list(self.workers)))
        ref = self.workers[token]
        assert self.queue.renew(ref, token) is self.model.holds(ref, token)

    @precondition(lambda self: self.workers)
    @rule(data=st.data(), dies_before_its_offers=st.booleans())
    def release(self, data: st.DataObject, dies_before_its_offers: bool) -> None:
        token = data.draw(st.sampled_from(list(self.workers)))
        ref = self.workers.pop(token)
        answer = self.queue.release(ref, token)
        assert answer == self.model.release(ref, token)
        if dies_before_its_offers and may_fail(self):
            self.fault()
        else:
            self.follow(ref, answer)

    # What goes wrong

    @precondition(lambda self: self.workers and may_fail(self))
    @rule(data=st.data())
    def worker_vanishes(self, data: st.DataObject) -> None:
        ref = self.workers.pop(data.draw(st.sampled_from(list(self.workers))))
        self.model.sessions[ref].wanted = True
        self.fault()

    @precondition(may_fail)
    @rule(ref=refs)
    def ticket_or_lease_expires(self, ref: SessionRef) -> None:
        it = self.model.sessions[ref]
        if it.state not in {"pending", "running"}:
            return
        keys = agent_keys(ref.tenant, ref.agent)
        self.redis.delete(keys.session_prefix + ref.session.encode())
        if it.state == "running":
            self.redis.zadd(keys.running, {ref.session: 1}, xx=True)
        else:
            queued = keys.queued_high if it.priority == "high" else keys.queued_normal
            self.redis.zadd(queued, {ref.session: 1}, xx=True)
        it.state, it.wanted, it.rerun = "idle", True, None
        self.fault()

    @precondition(may_fail)
    @rule(agent=st.sampled_from(AGENTS))
    def waiting_set_expires(self, agent: tuple[str, str]) -> None:
        if self.redis.delete(agent_keys(*agent).waiting):
            for ref in SESSIONS:
                if (ref.tenant, ref.agent) == agent and self.model.sessions[ref].state == "parked":
                    self.model.sessions[ref].state = "idle"
            self.fault()

    @precondition(may_fail)
    @rule()
    def message_is_lost(self) -> None:
        if self.take():
            self.fault()

    @precondition(may_fail)
    @rule(scripts_too=st.booleans())
    def server_is_emptied(self, scripts_too: bool) -> None:
        self.redis.flushall()
        if scripts_too:
            self.redis.script_flush()
        for it in self.model.sessions.values():
            it.wanted = it.wanted or it.state == "running"
            it.state, it.rerun = "idle", None
        self.fault()

    def fault(self) -> None:
        self.faults += 1
        self.steps = 0

    # What holds after every step

    @invariant()
    def time_passes(self) -> None:
        self.steps += 1

    @invariant()
    def i4_the_server_is_as_the_model_says_and_no_lease_is_one_too_many(self) -> None:
        for ref, it in self.model.sessions.items():
            seen = self.queue.inspect(ref)
            assert seen.state == it.state
            assert seen.priority == (None if it.state == "idle" else it.priority)
            assert seen.rerun == (it.rerun if it.state == "running" else None)
            assert seen.agent_running == self.model.running(ref) <= self.model.limit
            queued = 0 if it.state == "idle" else self.model.queued(ref, it.priority)
            assert seen.agent_queued == queued <= self.model.limit
            held = [token for token, session in self.workers.items() if session == ref]
            assert sum(self.model.holds(ref, token) for token in held) <= 1

    @invariant()
    def every_key_has_a_lifetime(self) -> None:
        for key in self.redis.keys("*"):
            assert key.decode() in QUEUES or self.redis.pttl(key) > 0, key

    @invariant()
    def i3_no_wake_up_is_lost_without_a_fault(self) -> None:
        if self.faults:
            return
        queued = self.messages()
        alive = {
            ref.agent
            for ref, it in self.model.sessions.items()
            if it.state == "running" or (it.state == "pending" and ref in queued)
        }
        for ref, it in self.model.sessions.items():
            if it.wanted:
                assert (
                    (it.state == "pending" and ref in queued)
                    or (it.state == "running" and it.rerun)
                    or (it.state == "parked" and ref.agent in alive)
                ), (ref, it)

    def teardown(self) -> None:
        """Quiet, then the sweep: whatever went wrong, each session that is wanted gets its turn."""
        if not hasattr(self, "model"):
            return
        for ref in SESSIONS:  # dead workers' leases run out; tickets too, or their lost messages would be waited for
            self.ticket_or_lease_expires(ref)
        self.workers.clear()
        for _ in range(len(SESSIONS)):
            for ref, it in self.model.sessions.items():
                if it.wanted:
                    self.offer(ref, "normal")
            self.work_until_quiet()
        assert not [ref for ref, it in self.model.sessions.items() if it.wanted or it.state != "idle"]
        assert not self.redis.keys("*:session:*")
        self.redis.close()

    def work_until_quiet(self) -> None:
        while ref := self.take():
            token = self.claim(ref)
            if token:
                answer = self.queue.release(self.workers.pop(token), token)
                assert answer == self.model.release(ref, token)
                self.follow(ref, answer)

    def claim(self, ref: SessionRef) -> str | None:
        self.claims += 1
        token = f"token {self.claims}"  # not by chance, so that a run can be played again
        expected = self.model.claim(ref, token)
        before = self.now_us()
        assert self.queue.claim(ref, token) == expected
        self.learn_place(ref, before)
        if not expected.ours:
            return None
        assert self.queue.claim(ref, token) == expected  # asked twice: the first answer may be lost on its way
        self.workers[token] = ref
        return token

    def learn_place(self, ref: SessionRef, before: int) -> None:
        """Read the place of a session that has just been parked, and see that it is of this moment."""
        it = self.model.sessions[ref]
        if it.state == "parked" and it.place in {UNKNOWN, UNKNOWN - BEHIND}:
            it.place = self.redis.zscore(agent_keys(ref.tenant, ref.agent).waiting, ref.session)
            assert before <= it.place - (BEHIND if it.priority == "normal" else 0) <= self.now_us()

    def now_us(self) -> int:
        seconds, microseconds = self.redis.time()
        return int(seconds) * 1_000_000 + int(microseconds)

    def follow(self, ref: SessionRef, answer: Release) -> None:
        if answer.rerun:
            self.offer(ref, answer.rerun)
        if answer.parked:
            self.offer(answer.parked.ref, answer.parked.priority)

    def messages(self, *queues: str) -> list[SessionRef]:
        """Those of the queues, or of both; the next one of each comes last."""
        return [
            ref_of(raw) for queue in queues or (HIGH_QUEUE, NORMAL_QUEUE) for raw in self.redis.lrange(queue, 0, -1)
        ]

    def take(self) -> SessionRef | None:
        raw = self.redis.rpop(HIGH_QUEUE) or self.redis.rpop(NORMAL_QUEUE)
        return ref_of(raw) if raw else None


def ref_of(raw: bytes) -> SessionRef:
    """Read the session out of a message as a worker would."""
    tenant, agent, session, _ = json.loads(json.loads(raw)["body"])[0]
    return SessionRef(tenant, agent, session)
