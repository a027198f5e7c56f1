"""Queue `days`: summaries of local days, and the triggers that request them.

    a flush ── enough new events ──▶ request ─┐
    every minute: enough, or quiet ───────────┼──▶ summarize_day, one message per day at a time
    worker start, every 12 hours, ────────────┘
    end of a task's run: finalize_days

A lost or duplicate message changes nothing: Postgres stores which days are due, and a summary without new events makes
no version.
"""

import logging
from collections.abc import Iterable, Sequence

from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError

from slowwave.coordination.keys import DAYS_QUEUE
from slowwave.identity import SessionRef
from slowwave.messages import FINALIZE_DAYS, SUMMARIZE_DAY
from slowwave_server.services.days.book import (
    DayEntry,
    DayRef,
    day_book,
)
from slowwave_server.services.days.day_queue import ask_for_finalize, ask_for_summary, begin_summary
from slowwave_server.services.days.due import due_days, due_days_of_sessions
from slowwave_server.services.days.finalize import settle_ended
from slowwave_server.services.days.model_summarizer import choose_summarizer
from slowwave_server.services.days.summarize import summarize_day as make_summary
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.task_payloads import SummarizeDay
from slowwave_server.tasks.base import Runtime, SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)

SCOPES_READ = 10_000


@slowwave_task(SUMMARIZE_DAY, queue=DAYS_QUEUE, most_seconds=600)
def summarize_day(self: SlowwaveTask, asked: SummarizeDay) -> str:
    """Summarize a day of one scope. A day without new events stays unchanged, so a redelivery changes nothing."""
    runtime = self.runtime
    tenant = asked.tenant or runtime.settings.tenant
    if asked.ticket is not None:
        begin_summary(runtime.redis, tenant, asked.agent, asked.scope, asked.day, asked.ticket)
    now = runtime.clock()
    entry = _entry(runtime, tenant, asked)
    if entry is None:
        log.info("day %s of %s: nothing was ever said then", asked.day, asked.agent)
        return "unknown"
    if entry.not_before is not None and entry.not_before > now:
        # A day that kills its workers is redelivered immediately, again and again: this check ends the loop.
        log.info("day %s: backing off until %s", entry.ref, entry.not_before)
        return "early"
    settings = runtime.settings.memory.days
    summarizer = choose_summarizer(settings, runtime.model)(entry.ref)
    report = make_summary(
        runtime.engine, entry.ref, settings=settings, now=now, final=asked.final, summarizer=summarizer
    )
    log.info("day %s: %s, %s (%d)", entry.ref, report.outcome, report.status, report.version)
    return report.outcome


@slowwave_task("slowwave.summarize_due_days", queue=DAYS_QUEUE, every=60)
def summarize_due_days(self: SlowwaveTask) -> None:
    """Request a summary of each day with enough new events, or with new events and quiet since, up to the free room of
    the queue. The summary makes a day that is over final.
    """
    runtime = self.runtime
    room = runtime.room_in(DAYS_QUEUE)
    if room <= 0:
        return
    with runtime.engine.begin() as connection:
        days = due_days(connection, runtime.settings.memory.days, now=runtime.clock(), limit=room)
    sent = _ask(runtime, days)
    if days:
        log.info("days: %d are due, %d are asked for now", len(days), sent)


@slowwave_task(FINALIZE_DAYS, queue=DAYS_QUEUE, at_start=True)
def finalize_days(self: SlowwaveTask) -> None:
    """Request the final summary of each day that is over and not final, with one message for each: so they spread over
    the workers, and a failing day delays no other.
    """
    runtime = self.runtime
    room = runtime.room_in(DAYS_QUEUE)
    if room <= 0:
        return
    with runtime.engine.connect() as connection:
        days = settle_ended(connection, now=runtime.clock(), limit=room)
        connection.commit()
    sent = _ask(runtime, days)
    if days:
        log.info("days: %d have ended, %d are asked for now", len(days), sent)


def ask_after_flushes(runtime: Runtime, flushed: Sequence[tuple[SessionRef, FlushResult]]) -> None:
    """Request the work that committed flushes made due: their sessions' days, and a sweep if a run of a task ended.

    A failure here does not fail the flushes, and beat sends the requests later anyway.
    """
    committed = [ref for ref, result in flushed if result.window is not None]
    if not committed:
        return
    ended_run = any(result.ended_run for _, result in flushed)
    try:
        with runtime.engine.connect() as connection:
            days = due_days_of_sessions(connection, committed, runtime.settings.memory.days, now=runtime.clock())
        # Tickets expire: without this bound a queue without a consumer would grow with every flush.
        if (days or ended_run) and runtime.room_in(DAYS_QUEUE) > 0:
            _ask(runtime, days)
            if ended_run:
                ask_for_finalize(runtime.redis)
    except (DBAPIError, RedisError) as error:
        log.warning("no day was asked for after a flush: %s", type(error).__name__)


def _entry(runtime: Runtime, tenant: str, asked: SummarizeDay) -> DayEntry | None:
    try:
        with runtime.engine.connect() as connection:
            found = day_book(connection, tenant, asked.agent, day=asked.day, limit=SCOPES_READ)
    except UnknownName:
        return None
    return next((entry for entry in found if entry.ref.scope == asked.scope), None)


def _ask(runtime: Runtime, days: Iterable[DayRef]) -> int:
    """Request days, and return the number of requests; other days already have a message in the queue."""
    return sum(ask_for_summary(runtime.redis, d.tenant, d.agent, d.scope, d.day) for d in days)
