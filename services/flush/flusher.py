"""Run one flush: take a session's lease, read its window, extract, commit, pass the lease on.

    claim ── not ours ─────────────────────────────────▶ stop (stale, busy, parked)
      │
    begin_flush: count the attempt, read the window ───▶ release and stop (clean, early, unknown)
      │
    extract, with no transaction open ── fails ────────▶ wait, halve the window, or quarantine its only event
      │
    commit_flush: memories, ledger, passages, watermark │ note which shown memories the replies repeat │ end memories
        that the new ones contradict (a cancelled plan, a lifted order), in another run │ release (and take the next
        session), then enqueue sessions requested in between: the agent's next parked session, and this one if it has
        more

A failure never moves the watermark. A failed compare-and-swap writes nothing and is not retried, because a faster
worker did the work.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeVar

from psycopg import Connection, DatabaseError, OperationalError
from redis.exceptions import RedisError
from sqlalchemy import Engine

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.outcomes import Priority, Release, Taken, Verdict
from slowwave.coordination.queue_messages import new_id
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.bare_secrets import without_bare_secrets
from slowwave_server.domain.candidates import ExtractionContext, Extractor, Window
from slowwave_server.domain.failures import Action, Decision, FailureKind, TransientError, WindowTaken, decide
from slowwave_server.domain.noise import ends_a_run
from slowwave_server.domain.windows import PRECEDING_EVENTS, cut_window
from slowwave_server.models.engine import driver_connection
from slowwave_server.services.flush.endings import FlushedMemories, end_after_flush
from slowwave_server.services.flush.store import Begun, Commit, Failure, begin_flush, commit_flush, fail_flush
from slowwave_server.services.memories.use import note_citations

T = TypeVar("T")

log = logging.getLogger(__name__)

POSTGRES_TRIES = 5  # waits of 0.1 + 0.3 + 0.9 + 2.7 s: together longer than a restart takes

FlushOutcome = Literal[
    "stale", "busy", "parked", "unknown", "clean", "early", "stored", "no_reply", "quarantined", "lost", "failed"
]


class LeaseKeeper(Protocol):
    """Renews the leases of running flushes, so that a long flush keeps its session."""

    def keep(self, ref: SessionRef, token: str) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class FlushResult:
    """The result of a flush.

    more: True if the session is still due; window: (from, to) of the committed events; ended_run: True if a task's run
    ended in it; drained: True if it passed the lease to its agent's last parked session, so that a sweep may find more;
    reclaimed: True if an earlier worker had begun this window without a result; flush_id: the row of the ledger.
    """

    outcome: FlushOutcome
    more: bool = False
    window: tuple[int, int] | None = None
    stored: int = 0
    repeated: int = 0
    ended_run: bool = False
    drained: bool = False
    reclaimed: bool = False
    flush_id: int | None = None


@dataclass(frozen=True, slots=True)
class Flusher:
    """The collaborators of a flush.

    engine: an engine in autocommit, because each statement is its own transaction. clock: returns the current time,
    aware. jitter: returns a number from 0 to 1. pause: waits this many seconds between two attempts to reach Postgres.
    """

    engine: Engine
    queue: FlushQueue
    keeper: LeaseKeeper
    extractor: Extractor
    settings: AutoFlush
    clock: Callable[[], datetime]
    jitter: Callable[[], float]
    pause: Callable[[float], None]

    def flush(self, ref: SessionRef) -> FlushResult:
        """Flush one window of a session, if its ticket is still valid.

        Raises the servers' errors if they are unavailable; the session then stays dirty, and the sweep offers it again.
        """
        return self.run(self.claim(ref), lambda: False)[0]

    def claim(self, ref: SessionRef) -> Taken:
        """Try to turn the session's ticket into a lease."""
        token = new_id()
        return Taken(ref, token, self.queue.claim(ref, token))

    def run(self, taken: Taken, goes_on: Callable[[], bool]) -> tuple[FlushResult, Taken | None]:
        """Flush one window of a session, and take the next one of the queue. Return the result, and the next one or
        None.

        goes_on: called once, after the commit; returns True to take the next session. Raises the errors of `flush`; no
        session is then taken.
        """
        ref, token, claim = taken.ref, taken.token, taken.claim
        if not claim.ours:
            return FlushResult(_UNCLAIMED[claim.verdict]), self._take() if goes_on() else None
        try:
            with self.keeper.keep(ref, token):
                result = self._flush_window(ref)
        except BaseException:
            self._hand_on(ref, self.queue.release(ref, token), False, claim.priority)
            raise
        following: Taken | None = None
        if goes_on():
            release, following = self.queue.release_and_take(ref, token, new_id())
        else:
            release = self.queue.release(ref, token)
        drained = self._hand_on(ref, release, result.more, claim.priority)
        return replace(result, drained=drained), following

    def _take(self) -> Taken | None:
        try:
            return self.queue.take(new_id())
        except RedisError as error:
            log.debug("the batch ends: %s", type(error).__name__)
            return None

    def _hand_on(self, ref: SessionRef, release: Release, more: bool, priority: Priority | None) -> bool:
        """Enqueue sessions that wait for the lease: first the parked one, then this one's backlog. Return `drained`."""
        offers: list[tuple[SessionRef, Priority]] = []
        if release.parked is not None:
            offers.append((release.parked.ref, release.parked.priority))
        if release.rerun is not None:
            offers.append((ref, release.rerun))
        elif more:
            offers.append((ref, priority or "normal"))
        if offers:
            self.queue.offer_many(offers)
        return release.parked is not None and release.parked.priority == "normal" and not release.behind

    def _flush_window(self, ref: SessionRef) -> FlushResult:
        now = self.clock()
        begun = self._reaching_postgres(lambda c: begin_flush(c, ref, self.settings, now, preceding=PRECEDING_EVENTS))
        if begun.state != "begin":
            return FlushResult(begun.state)
        # A transient failure is counted but uses no attempt, and after such failures a worker's death may go unnoticed.
        return replace(self._extract_window(ref, begun, now), reclaimed=begun.attempts - 1 > begun.failures)

    def _extract_window(self, ref: SessionRef, begun: Begun, now: datetime) -> FlushResult:
        bounds = self.settings.extractor
        window = cut_window(
            begun.events,
            max_messages=bounds.max_messages_per_flush,
            max_chars=bounds.max_chars_per_flush,
            max_events=begun.window_limit,
        )
        if begun.attempts > bounds.max_retries + 1:
            # Nobody stored a failure, yet the window was begun again and again: it kills its workers.
            return self._fail(begun, window, FailureKind.POISON, "the worker died on every attempt", now)
        context = ExtractionContext(
            ref.agent, begun.time_zone, begun.preceding, ref.tenant, begun.scope_id, begun.session_id
        )
        try:
            found = self.extractor.extract(window, context, now)
            extraction = without_bare_secrets(found, window, context)
        except WindowTaken:
            return FlushResult("lost")
        except TransientError as error:
            return self._fail(begun, window, FailureKind.TRANSIENT, str(error), now, error.retry_after)
        except Exception as error:  # noqa: BLE001 - whatever an extractor raises is noted, counted and shown
            log.warning("extraction of %s/%s failed: %s", ref.agent, ref.session, type(error).__name__)
            return self._fail(begun, window, FailureKind.POISON, f"{type(error).__name__}: {error}", now)
        for note in extraction.notes:
            log.info("extraction of %s/%s: %s", ref.agent, ref.session, note)
        commit = Commit.of_extraction(begun, window, extraction, self.extractor, self.settings, now)
        result = self._commit(begun, window, commit, now)
        if begun.shown:
            note_citations(self.engine, begun.session_id, (*begun.preceding, *window.events))
        if result.flush_id is not None and begun.scope_id is not None:
            made = (result.flush_id, extraction.candidates, result.repeated)
            flushed = FlushedMemories(begun.session_id, begun.scope_id, window.from_seq, *made)
            end_after_flush(self.engine, flushed, self.clock())
        return replace(result, ended_run=result.window is not None and any(map(ends_a_run, window.events)))

    def _fail(
        self,
        begun: Begun,
        window: Window,
        kind: FailureKind,
        error: str,
        now: datetime,
        retry_after: float | None = None,
    ) -> FlushResult:
        decision = decide(
            kind,
            attempts=begun.attempts,
            failures=begun.failures + 1,
            window_events=len(window.events),
            bisecting=begun.window_limit is not None,
            max_retries=self.settings.extractor.max_retries,
            jitter=self.jitter(),
            retry_after=retry_after,
        )
        if decision.action is Action.QUARANTINE:
            quarantine = Commit.of_quarantine(begun, window, error, self.extractor, self.settings, now)
            return self._commit(begun, window, quarantine, now)
        failure = Failure(
            attempts=_attempts_after(decision, kind, begun.attempts),
            window_limit=decision.window_limit or begun.window_limit,
            not_before=now + timedelta(seconds=decision.delay_seconds) if decision.delay_seconds else None,
            error=error,
        )
        self._reaching_postgres(lambda c: fail_flush(c, begun, failure, now))
        return FlushResult("failed", more=decision.action is Action.HALVE)

    def _commit(self, begun: Begun, window: Window, commit: Commit, now: datetime) -> FlushResult:
        """Commit a finished extraction: while Postgres restarts, the commit is repeated, never the extraction.

        If Postgres refuses a commit, the flush fails with its message. The window is made smaller only if its content
        can't be stored; after any other refusal (a trigger, a full disk, a missing right) the flush waits.
        """
        try:
            committed = self._reaching_postgres(lambda c: commit_flush(c, commit, self.clock()))
        except DatabaseError as error:
            if (said := refusal(error)) is None:
                raise
            log.warning("the commit of %s failed: %s", commit.session_id, said)
            by_content = (error.sqlstate or "")[:2] in _OF_CONTENT and commit.outcome != "quarantined"
            kind = FailureKind.POISON if by_content else FailureKind.TRANSIENT
            return self._fail(begun, window, kind, f"the commit failed: {said}", now)
        if not committed.committed:
            return FlushResult("lost")
        return FlushResult(
            commit.outcome,
            more=committed.due,
            window=(commit.from_seq, commit.to_seq),
            stored=committed.stored,
            repeated=committed.repeated,
            flush_id=committed.flush_id,
        )

    def _reaching_postgres(self, statement: Callable[[Connection[Any]], T]) -> T:
        """Run one statement; if the connection is broken, repeat it on a new one. Each statement is safe to repeat."""
        for attempt in range(1, POSTGRES_TRIES + 1):
            try:
                with driver_connection(self.engine) as connection:
                    return statement(connection)
            except OperationalError:
                if attempt == POSTGRES_TRIES:
                    raise
                self.pause(0.1 * 3 ** (attempt - 1))
        raise AssertionError("unreachable: the last try answers or raises")


_OF_CONTENT = frozenset({"22", "23"})
"""Classes of SQLSTATE: data exceptions and integrity constraints."""
_AWAY = frozenset({"08", "57"})
"""Classes of SQLSTATE: the connection broke, or the server goes down."""


def refusal(error: DatabaseError) -> str | None:
    """Return Postgres' message for a refusal, without quoted values; None if Postgres was unavailable."""
    if error.sqlstate is None or error.sqlstate[:2] in _AWAY:
        return None
    said = "" if error.sqlstate[:2] == "22" else f": {error.diag.message_primary}"
    return f"{type(error).__name__} ({error.sqlstate}){said}"


_UNCLAIMED: dict[Verdict, FlushOutcome] = {Verdict.STALE: "stale", Verdict.BUSY: "busy", Verdict.PARKED: "parked"}


def _attempts_after(decision: Decision, kind: FailureKind, attempts: int) -> int:
    """Return the attempts for the next try: a transient failure uses none, a halved window starts from zero."""
    if decision.action is Action.HALVE:
        return 0
    return attempts - 1 if kind is FailureKind.TRANSIENT else attempts
