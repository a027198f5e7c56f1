"""A typed interface to the Lua scripts that offer, take, claim, renew, release and inspect a session.

Threads may share a `FlushQueue`. Every method raises `redis.exceptions.RedisError` if the server can't be reached. Such
a failure only delays work, because the sweep offers all sessions again that Postgres lists as due.
"""

from collections.abc import Iterable
from itertools import repeat
from typing import Any

from redis import Redis

from slowwave.coordination.broker import redis_from_url
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE, PREFIX, WAITING_TICKETS, agent_keys
from slowwave.coordination.outcomes import (
    FlushClaim,
    Offer,
    Parked,
    Priority,
    Release,
    Sighting,
    Taken,
    Verdict,
    priority_or_none,
)
from slowwave.coordination.queue_depths import QueueDepths
from slowwave.coordination.queue_messages import FLUSH_TASK, flush_templates, new_id
from slowwave.coordination.scripts import Call, Script
from slowwave.errors import InvalidName
from slowwave.identity import SessionRef
from slowwave.tracing import traceparent, valid_traceparent

__all__ = ["FlushQueue", "redis_from_url"]

_ENVELOPE, _BODY = flush_templates()
_OFFER = Script("offer", key_count=5, ENVELOPE=_ENVELOPE, BODY=_BODY, HIGH_QUEUE=HIGH_QUEUE, NORMAL_QUEUE=NORMAL_QUEUE)
_TAKE = Script("take_and_claim", key_count=2)
_CLAIM = Script("claim", key_count=5)
_RENEW = Script("renew", key_count=2)
_RELEASE = Script("release", key_count=5)
_RELEASE_AND_TAKE = Script("release_and_take", key_count=7)
SCRIPTS = (_OFFER, _TAKE, _CLAIM, _RENEW, _RELEASE, _RELEASE_AND_TAKE)
"""What a worker loads into a server: a producer's user may run scripts, and may load none."""

# Bytes, because the client encodes them faster than text.
_PRIORITIES: dict[Priority, bytes] = {"high": b"high", "normal": b"normal"}
_OFFERS: dict[bytes | str, Offer] = {answer.value: answer for answer in Offer}
_OFFERS |= {answer.value.encode(): answer for answer in Offer}
_BEHIND = 4e15  # the offset that state.lua adds to the time of a place at normal priority


class FlushQueue(QueueDepths):
    """Deduplicated, prioritised flushes: at most one ticket or one live lease for each session.

    `ticket_seconds`: the seconds for which a message counts as queued; after them the session may be offered again.
    `lease_seconds`: the lifetime of a claim that is not renewed. `per_agent_concurrency`: the highest number of live
    leases of one agent, and of its messages in each queue; further sessions are parked. All clients of one server must
    use the same value.
    """

    def __init__(
        self,
        redis: Redis,
        *,
        ticket_seconds: float = 60,
        lease_seconds: float = 8,
        per_agent_concurrency: int = 1,
    ) -> None:
        super().__init__(redis)
        mark, ticket_ms = new_id()[:16], _milliseconds(ticket_seconds)
        self._waiting_ms = WAITING_TICKETS * ticket_ms
        settings = (mark, ticket_ms, self._waiting_ms, per_agent_concurrency)
        self._offer_settings = "".join(f"{setting}\n" for setting in settings).encode()
        self._lease_ms = _milliseconds(lease_seconds)
        self._limit = per_agent_concurrency

    def offer(self, ref: SessionRef, priority: Priority) -> Offer:
        """Request a flush of `ref`. One round trip makes the offer and, if needed, sends the message."""
        return _OFFERS[_OFFER.run(self._redis, self._offer_call(ref, priority, traceparent()))]

    def offer_many(
        self, offers: Iterable[tuple[SessionRef, Priority]], *, traces: Iterable[str | None] | None = None
    ) -> list[Offer]:
        """Make many offers in one round trip; each is atomic by itself. Returns the outcomes in the same order.

        traces: the traceparent of each message; None uses the caller's traceparent for all messages.
        """
        with_traces = zip(offers, repeat(traceparent()) if traces is None else traces, strict=False)
        calls = [self._offer_call(ref, priority, trace) for (ref, priority), trace in with_traces]
        return [_OFFERS[answer] for answer in _OFFER.run_many(self._redis, calls)]

    def take(self, token: str) -> Taken | None:
        """Take the next flush from the normal queue and claim it, in one round trip.

        Returns None if an urgent message waits, or if a worker must receive the message itself. After the call no
        acknowledgement protects the message: if this process dies, the lease expires and the sweep offers the session
        again. A message with invalid names goes back to its place in the queue, and the task that receives it stores it
        as a dead letter.
        """
        return self._taken(_TAKE.run(self._redis, self._take_call(token)), token)

    def claim(self, ref: SessionRef, token: str) -> FlushClaim:
        """Turn the session's ticket into a lease held by `token`, a fresh `new_id()` for every claim."""
        call = (*_keys(ref), token, self._lease_ms, self._limit, self._waiting_ms, ref.session)
        verdict, priority = _CLAIM.run(self._redis, call)
        return FlushClaim(Verdict(_text(verdict)), priority_or_none(_text(priority)))

    def renew(self, ref: SessionRef, token: str) -> bool:
        """Extend the lease. Return False if the lease has expired; another worker may then have a lease."""
        return bool(_RENEW.run(self._redis, self._renew_call(ref, token)))

    def renew_many(self, leases: Iterable[tuple[SessionRef, str]]) -> list[bool]:
        """Renew many leases in one round trip. Returns the outcomes in the same order."""
        calls = [self._renew_call(ref, token) for ref, token in leases]
        return [bool(answer) for answer in _RENEW.run_many(self._redis, calls)]

    def release(self, ref: SessionRef, token: str) -> Release:
        """End the lease. Return the sessions that the caller must offer now."""
        return _released(ref, _RELEASE.run(self._redis, self._release_call(ref, token)))

    def release_and_take(self, ref: SessionRef, token: str, next_token: str) -> tuple[Release, Taken | None]:
        """Release a session and take the next one under `next_token`, atomically. If `take` fails, none is taken."""
        release, take = self._release_call(ref, token), self._take_call(next_token)
        call = (*release[:5], *take[:2], *release[5:], *take[2:])  # keys first
        released, taken = _RELEASE_AND_TAKE.run(self._redis, call)
        return _released(ref, released), self._taken(taken, next_token)

    def inspect(self, ref: SessionRef) -> Sighting:
        """Return a session's state in the queue: a consistent snapshot, read in one round trip."""
        keys = agent_keys(ref.tenant, ref.agent)
        key = keys.session_prefix + ref.session.encode()
        with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.time()
            pipeline.get(key)
            pipeline.pttl(key)
            pipeline.zscore(keys.waiting, ref.session)
            pipeline.zrank(keys.waiting, ref.session)
            for places in (keys.running, keys.queued_high, keys.queued_normal):
                pipeline.zrange(places, 0, -1, withscores=True)
            time, state, ttl, place, rank, *held = pipeline.execute()
        now_us = time[0] * 1_000_000 + time[1]
        live, high, normal = (sum(ends >= now_us // 1000 for _, ends in entries) for entries in held)
        queued: dict[Priority | None, int] = {"high": high, "normal": normal, None: 0}
        if state:
            kind, priority, *rest = _text(state).split(" ", 2)
            wanted, left = priority_or_none(priority), ttl / 1000
            if kind == "pending":
                return Sighting("pending", wanted, left, None, None, None, live, queued[wanted])
            rerun = priority_or_none(rest[0].split(" ", 1)[0])
            return Sighting("running", wanted, left, rerun, None, None, live, queued[wanted])
        if place is None:
            return Sighting("idle", None, None, None, None, None, live)
        wanted = "normal" if place >= _BEHIND else "high"
        parked_for = (now_us - place + (_BEHIND if wanted == "normal" else 0)) / 1_000_000
        return Sighting("parked", wanted, None, None, rank, parked_for, live, queued[wanted])

    def _offer_call(self, ref: SessionRef, priority: Priority, trace: str | None) -> Call:
        keys = agent_keys(ref.tenant, ref.agent)
        session = ref.session.encode()
        call = (
            *(keys.session_prefix + session, keys.running, keys.waiting, keys.queued_high, keys.queued_normal),
            *(_PRIORITIES[priority], self._offer_settings + keys.names + session),
        )
        return call if trace is None else (*call, trace)

    def _take_call(self, token: str) -> Call:
        settings = (token, self._lease_ms, self._limit, self._waiting_ms, PREFIX)
        return (HIGH_QUEUE, NORMAL_QUEUE, FLUSH_TASK, *settings)

    def _taken(self, answer: Any, token: str) -> Taken | None:
        if not answer:
            return None
        try:
            tenant, agent, session, trace, verdict, priority = map(_text, answer[1:])
            ref = SessionRef(tenant, agent, session).checked()
        except (InvalidName, UnicodeDecodeError):
            self._redis.rpush(NORMAL_QUEUE, answer[0])
            return None
        return Taken(ref, token, FlushClaim(Verdict(verdict), priority_or_none(priority)), valid_traceparent(trace))

    def _release_call(self, ref: SessionRef, token: str) -> Call:
        return (*_keys(ref), token, self._limit, ref.session)

    def _renew_call(self, ref: SessionRef, token: str) -> Call:
        keys = agent_keys(ref.tenant, ref.agent)
        return (keys.session_prefix + ref.session.encode(), keys.running, token, self._lease_ms, ref.session)


def _released(ref: SessionRef, answer: Any) -> Release:
    ours, rerun, session, place, behind = answer
    wanted = priority_or_none(_text(place))
    parked = Parked(SessionRef(ref.tenant, ref.agent, _text(session)), wanted) if wanted else None
    return Release(bool(ours), priority_or_none(_text(rerun)), parked, behind)


def _keys(ref: SessionRef) -> Call:
    keys = agent_keys(ref.tenant, ref.agent)
    session = keys.session_prefix + ref.session.encode()
    return (session, keys.running, keys.waiting, keys.queued_high, keys.queued_normal)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _text(answer: bytes | str) -> str:
    return answer.decode() if isinstance(answer, bytes) else answer
