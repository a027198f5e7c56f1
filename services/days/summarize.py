"""Summarise one day: read its counts, keep or make the segments of each session, merge them, commit.

    read the day ── all events are summarized, and the day is final if requested ──▶ unchanged
      │ count the attempt │
    segments, session by session ── events changed in between ──▶ once more, without stored segments
      │ merge, with no transaction open │
    commit: snapshot, counts, status ── another was faster ──▶ read again
                                     ── forgotten in between ──▶ nothing is written

A failure is stored on its day, which is retried; other days are not affected.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sqlalchemy import Engine

from slowwave.settings import Days
from slowwave_server.services.days.book import DayRef, DayStatus
from slowwave_server.services.days.segments import Part, SessionParts, kept_segments
from slowwave_server.services.days.store import (
    Forgotten,
    Reading,
    SessionCount,
    begin_attempt,
    commit_summary,
    end_attempt,
    note_failure,
    read_day,
    settle_empty,
)
from slowwave_server.services.days.summarizers import RULES, Folded, SegmentContext, Summarizer, waiting_for

log = logging.getLogger(__name__)

TRIES = 3
_SESSIONS_AT_ONCE = 50

DayOutcome = Literal["summarized", "unchanged", "empty", "lost", "forgotten", "failed"]


class EventsChanged(Exception):
    """The segments and events of a session do not match its counts."""


@dataclass(frozen=True, slots=True)
class DayReport:
    """The result of summarising a day.

    outcome: "empty": the day has no events; "lost": other workers committed a summary first at each try; "forgotten":
    the agent or one of the day's sessions was deleted; "failed": `error` has the reason, and the day stores it.
    messages: the number of events that the summary covers. read: the number of events from which this
    attempt made lines; the lines of the others were stored before.
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
    again: bool = False,
) -> DayReport:
    """Make a new snapshot of a day that has new events, or that has ended and should become final.

    final: True to make it final, if its local day is over at `now` and no event arrived in between. again: True to
    repeat, if a day has no new events, the parts that the rules made for lack of budget, if there is budget now. Raises
    the database's errors if even the failure can't be stored.
    """
    # A commit is a transaction, even if the caller's engine is in autocommit.
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    report = DayReport(day, "lost")
    wanted = _Wanted(settings, now, summarizer, final, again and summarizer.name != RULES.name)
    anew = False
    try:
        for left in reversed(range(TRIES)):
            try:
                report = _try_once(engine, day, wanted, anew=anew)
            except EventsChanged:
                if not left:
                    raise
                anew = True
            if report.outcome != "lost":
                break
    except Forgotten:
        return DayReport(day, "forgotten")
    except Exception as error:  # noqa: BLE001 - whatever went wrong with one day is noted and shown, the others go on
        said = note_failure(engine, day, error, now)
        log.warning("a day of agent %d could not be summarised: %s", day.agent_id, said)
        return DayReport(day, "failed", error=said)
    return report


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Options for the summary of a day: see summarize_day."""

    settings: Days
    now: datetime
    summarizer: Summarizer
    final: bool
    again: bool


@dataclass
class _Made:
    """The merged parts.

    makers: the number of parts by summarizer. read: the number of events of the parts that this attempt made from
    events; parts that were stored before do not count.
    """

    folded: Folded
    makers: Counter[str] = field(default_factory=Counter)
    read: int = 0

    def by(self, summarizer: Summarizer) -> str:
        """The summarizers of the parts, the present one first: "model …; 2 of 5 parts by rules/2 …"."""
        names = sorted(self.makers, key=lambda name: (name != summarizer.name, name))
        if not names:
            return summarizer.name
        others = [f"{self.makers[name]} of {self.makers.total()} parts by {name}" for name in names[1:]]
        return "; ".join([names[0], *others])


def _try_once(engine: Engine, day: DayRef, wanted: _Wanted, *, anew: bool) -> DayReport:
    reading = read_day(engine, day, wanted.now)
    if reading is None:
        raise Forgotten
    final = wanted.final and reading.over
    if not reading.sessions:
        if final:
            settle_empty(engine, day, reading, wanted.now)
        return DayReport(day, "empty", "final" if final else reading.status, reading.version)
    unchanged = DayReport(day, "unchanged", reading.status, reading.version, reading.total)
    settled = reading.has_all() and (reading.status == "final" or not final)
    if settled and not wanted.again:
        return unchanged
    if not begin_attempt(engine, day, reading, wanted.now):
        return DayReport(day, "lost")
    made = _make(engine, day, reading, wanted, anew=anew, settled=settled)
    if made is None:
        end_attempt(engine, day, reading)
        return unchanged
    written = commit_summary(
        engine,
        day,
        reading,
        made.folded.summary(),
        final=final,
        segments=made.folded.count,
        summarizer=made.by(wanted.summarizer),
        now=wanted.now,
    )
    if written is None:
        return DayReport(day, "lost")
    return DayReport(day, "summarized", written.status, written.version, reading.total, made.folded.count, made.read)


def _make(engine: Engine, day: DayRef, reading: Reading, wanted: _Wanted, *, anew: bool, settled: bool) -> _Made | None:
    """Return all parts, merged; of a day without new events, only improved ones. None: none was made again."""
    made = _Made(Folded(wanted.summarizer, wanted.settings.max_summary_words))
    for part in _parts(engine, day, reading, wanted.summarizer, anew=anew):
        if settled and part.by == waiting_for(wanted.summarizer):
            return None
        made.folded.add(part.lines)
        made.makers[part.by] += 1
        made.read += part.messages if part.read else 0
    return None if settled and not made.read else made


def _parts(engine: Engine, day: DayRef, reading: Reading, summarizer: Summarizer, *, anew: bool) -> Iterator[Part]:
    """Yield the parts of each session, one session after the other. Raises EventsChanged."""
    for at in range(0, len(reading.sessions), _SESSIONS_AT_ONCE):
        some = reading.sessions[at : at + _SESSIONS_AT_ONCE]
        stored = kept_segments(engine, day, some)
        for session in some:
            told = SegmentContext(day.agent, session.name, reading.time_zone)
            maker = SessionParts(engine, day, session, told, reading.epoch, summarizer, anew)
            messages = 0
            for part in maker.parts(stored.get(session.session_id, ())):
                messages += part.messages
                yield part
            if not _adds_up(session, messages):
                raise EventsChanged


def _adds_up(session: SessionCount, messages: int) -> bool:
    """Return True if the lines cover all counted events. Stored segments may cover events that retention removed."""
    return session.total - session.removed <= messages <= session.total
