"""Summarise one day: read its counts, keep or make the segments of each session, merge them, commit.

    read the day ── all of it is summarised, and final where that is wished ──▶ unchanged
      │
    count the attempt
      │
    segments, session by session ── events changed under the reader ──▶ once more, keeping nothing
      │
    merge, with no transaction open
      │
    commit: snapshot, counts, status ── another was faster ──▶ read again
                                     ── forgotten meanwhile ──▶ nothing is written

What fails is noted on the day and waits its turn; no other day hears of it.

Must not know: Celery, when a day is due, how events are cut and lines chosen.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Engine

from services.days.book import DayRef, DayStatus
from services.days.segments import Lines, Rules, Summarizer, kept_segments, parts_of
from services.days.store import (
    Forgotten,
    Reading,
    SessionCount,
    begin_attempt,
    commit_summary,
    note_failure,
    read_day,
    settle_empty,
)
from slowwave.settings import Days

log = logging.getLogger(__name__)

RULES = Rules()
TRIES = 3
_SESSIONS_AT_ONCE = 200

DayOutcome = Literal["summarized", "unchanged", "empty", "lost", "forgotten", "failed"]


class EventsChanged(Exception):
    """A session's segments and events do not add up to what was counted."""


@dataclass(frozen=True, slots=True)
class DayReport:
    """What became of a day.

    outcome: "empty": it has no events; "lost": others summarised it at the same time, again and again; "forgotten":
    its agent or a session of it is gone; "failed": see `error`, noted on the day. messages: how many events its summary
    was made from; read: how many of them were read now, the others' segments having been kept.
    """

    day: DayRef
    outcome: DayOutcome
    status: DayStatus | None = None
    version: int = 0
    messages: int = 0
    segments: int = 0
    read: int = 0
    error: str | None = None


def summarize_day(
    engine: Engine,
    day: DayRef,
    *,
    settings: Days,
    now: datetime,
    final: bool = False,
    summarizer: Summarizer = RULES,
) -> DayReport:
    """Make a new snapshot of a day where there is something new, or where it is over and is to be final.

    final: make it final, granted once its local day is over at `now` and nothing has come in meanwhile.
    Raises what the database raises when not even the failure can be noted.
    """
    # Whatever the caller's engine makes of single statements, a commit is a transaction.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    report = DayReport(day, "lost")
    try:
        for left in reversed(range(TRIES)):
            try:
                report = _try_once(engine, day, settings, now, summarizer, final=final)
            except EventsChanged:
                if not left:
                    raise
            if report.outcome != "lost":
                break
    except Forgotten:
        return DayReport(day, "forgotten")
    except Exception as error:  # noqa: BLE001 - whatever went wrong with one day is noted and shown, the others go on
        said = note_failure(engine, day, error, now)
        log.warning("a day of agent %d could not be summarised: %s", day.agent_id, said)
        return DayReport(day, "failed", error=said)
    return report


def _try_once(
    engine: Engine, day: DayRef, settings: Days, now: datetime, summarizer: Summarizer, *, final: bool
) -> DayReport:
    reading = read_day(engine, day, now)
    if reading is None:
        raise Forgotten
    final = final and reading.over
    if not reading.sessions:
        if final:
            settle_empty(engine, day, reading, now)
        return DayReport(day, "empty", "final" if final else reading.status, reading.version)
    if reading.has_all() and (reading.status == "final" or not final):
        return DayReport(day, "unchanged", reading.status, reading.version, reading.total)
    begin_attempt(engine, day, reading.epoch, now)
    parts: list[Lines] = []
    read = 0
    for lines, count in _parts(engine, day, reading, summarizer):
        parts += lines
        read += count
    summary = summarizer.merge(parts, max_words=settings.max_summary_words)
    written = commit_summary(
        engine, day, reading, summary, final=final, segments=len(parts), summarizer=summarizer.name, now=now
    )
    if written is None:
        return DayReport(day, "lost")
    return DayReport(day, "summarized", written.status, written.version, reading.total, len(parts), read)


def _parts(engine: Engine, day: DayRef, reading: Reading, summarizer: Summarizer) -> Iterator[tuple[list[Lines], int]]:
    """The lines of each session, and how many events were read for them."""
    for at in range(0, len(reading.sessions), _SESSIONS_AT_ONCE):
        some = reading.sessions[at : at + _SESSIONS_AT_ONCE]
        stored = kept_segments(engine, day, some)
        for session in some:
            kept = stored.get(session.session_id, ())
            for anew in (False, True):
                parts = parts_of(engine, day, session, kept, epoch=reading.epoch, summarizer=summarizer, anew=anew)
                if _adds_up(session, parts.messages):
                    break
                kept = kept_segments(engine, day, [session]).get(session.session_id, ())
            else:
                raise EventsChanged
            yield parts.lines, parts.read


def _adds_up(session: SessionCount, messages: int) -> bool:
    """Whether the lines stand for all that was counted. What retention took away may stand in kept segments."""
    return session.total - session.removed <= messages <= session.total
