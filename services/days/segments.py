"""The segments of a day: those kept from earlier summaries, and those made now, from events read page by page.

A kept segment stands for its events as long as it lies before the session's last one and was made by the same
summariser; the last one too, when nothing was added behind it. One of whose events retention has taken some is kept
whatever happens, since it can't be made again. What lies between kept segments is read and cut anew.

Never more than a page of events and one segment is in memory. What is made is saved as it is made, so that a summary
that dies half way is taken up where it was.

Must not know: when a day is due, what becomes of the lines.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from sqlalchemy import Engine, text

from domain.events import Event
from domain.redaction import redact
from domain.summaries import SUMMARIZER, DaySummary, Line, Segment, cut_segments, merge_lines, summarize_segment
from services.days.book import DayRef
from services.days.store import SessionCount, fenced

log = logging.getLogger(__name__)

PAGE_EVENTS = 100
SAVED_AT_ONCE = 20
"""Segments. A crash loses at most so many."""
LONGEST_LINE = 200
_PLAIN_WEIGHT = 0.1

Lines = tuple[Line, ...]

_KEPT = text("""
SELECT g.session_id, g.from_seq, g.to_seq, g.messages, g.summarizer, g.lines,
       CASE WHEN g.session_id = ANY(:thinned) THEN g.messages > (
           SELECT count(*) FROM slowwave.events e
           WHERE e.session_id = g.session_id AND e.seq BETWEEN g.from_seq AND g.to_seq AND e.day = g.day)
       ELSE false END AS thinned
FROM slowwave.day_segments g
WHERE (g.agent_id, g.scope_id, g.day) = (:agent_id, :scope_id, :day) AND g.session_id = ANY(:ids)
ORDER BY g.session_id, g.from_seq
""")
_EVENTS = text("""
SELECT e.seq, e.kind, e.role, e.name, e.content, e.happened_at, e.metadata
FROM slowwave.events e
WHERE e.session_id = :session_id AND e.seq > :after AND e.seq <= :until AND e.day = :day
ORDER BY e.seq LIMIT :page
""")
_DROP = text("""
DELETE FROM slowwave.day_segments g
WHERE (g.agent_id, g.scope_id, g.day) = (:agent_id, :scope_id, :day) AND g.session_id = :session_id
  AND g.from_seq BETWEEN :first AND :last
""")
# Two summaries of a day at once write the same, or one of them less: whatever stands in the end is read again.
_SAVE = text("""
INSERT INTO slowwave.day_segments AS g (
    agent_id, scope_id, day, session_id, from_seq, to_seq, messages, lines, summarizer)
SELECT :agent_id, :scope_id, :day, s.id, r.from_seq, r.to_seq, r.messages, r.lines, :summarizer
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(from_seq bigint, to_seq bigint, messages integer, lines jsonb)
JOIN slowwave.sessions s ON s.id = :session_id
ON CONFLICT (agent_id, scope_id, day, session_id, from_seq) DO UPDATE SET
    to_seq = excluded.to_seq, messages = excluded.messages, lines = excluded.lines,
    summarizer = excluded.summarizer, made_at = now()
""")


class Summarizer(Protocol):
    """Makes lines of a segment's events, and a day's summary of its segments' lines. name: with its version; lines of
    another one are made anew.
    """

    @property
    def name(self) -> str: ...

    def segment(self, events: Sequence[Event], *, session: str) -> Lines: ...

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary: ...


class Rules:
    """The rules of the domain."""

    name = SUMMARIZER

    def segment(self, events: Sequence[Event], *, session: str) -> Lines:
        return summarize_segment(events, session=session)

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary:
        return merge_lines(parts, max_words=max_words)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored segment. thinned: some of its events are gone."""

    from_seq: int
    to_seq: int
    messages: int
    summarizer: str
    lines: list[dict[str, Any]]
    thinned: bool


@dataclass(slots=True)
class Parts:
    """What a session gives to its day. messages: how many events its lines stand for; read: how many were read now."""

    lines: list[Lines]
    messages: int = 0
    read: int = 0


def kept_segments(engine: Engine, day: DayRef, sessions: Sequence[SessionCount]) -> dict[int, list[Kept]]:
    """The stored segments of these sessions, by session id, in the order of their events."""
    values = {
        **_key(day),
        "ids": [session.session_id for session in sessions],
        "thinned": [session.session_id for session in sessions if session.removed],
    }
    kept: dict[int, list[Kept]] = {}
    with engine.connect() as connection:
        for row in connection.execute(_KEPT, values).mappings():
            columns = dict(row)
            kept.setdefault(columns.pop("session_id"), []).append(Kept(**columns))
    return kept


def parts_of(
    engine: Engine,
    day: DayRef,
    session: SessionCount,
    stored: Sequence[Kept],
    *,
    epoch: int,
    summarizer: Summarizer,
    anew: bool = False,
) -> Parts:
    """The lines of a session, a tuple a segment: kept ones, and new ones for what is not kept, which are saved.

    anew: keep only what can't be made again. Raises Forgotten.
    """
    keep = _still_good(session, stored, summarizer.name, anew=anew)
    parts = Parts([tuple(Line.from_json(line) for line in kept.lines) for kept in keep])
    parts.messages = sum(kept.messages for kept in keep)
    if parts.messages == session.total:
        return parts
    for first, last in _between(session, keep):
        segments = cut_segments(_read_events(engine, day, session.session_id, first, last))
        while batch := list(islice(segments, SAVED_AT_ONCE)):
            made = [(segment, _lines_of(segment.events, session.name, summarizer)) for segment in batch]
            _save(engine, day, epoch, session.session_id, made, summarizer.name)
            parts.lines += [lines for _, lines in made]
            count = sum(len(segment.events) for segment in batch)
            parts.messages += count
            parts.read += count
    return parts


def _still_good(session: SessionCount, stored: Sequence[Kept], summarizer: str, *, anew: bool) -> list[Kept]:
    complete = sum(kept.messages for kept in stored) == session.total
    closed = len(stored) if complete else len(stored) - 1
    return [
        kept
        for place, kept in enumerate(stored)
        if kept.thinned or (place < closed and kept.summarizer == summarizer and not anew)
    ]


def _between(session: SessionCount, keep: Sequence[Kept]) -> Iterator[tuple[int, int]]:
    """The runs of seq [first, last] that no kept segment covers."""
    at = session.from_seq
    for kept in keep:
        if at < kept.from_seq:
            yield at, kept.from_seq - 1
        at = kept.to_seq + 1
    if at <= session.to_seq:
        yield at, session.to_seq


def _read_events(engine: Engine, day: DayRef, session_id: int, first: int, last: int) -> Iterator[Event]:
    """Page by page, a connection each, so that nothing stays open while the rules work."""
    after = first - 1
    while True:
        values = {"session_id": session_id, "after": after, "until": last, "day": day.day, "page": PAGE_EVENTS}
        with engine.connect() as connection:
            page = connection.execute(_EVENTS, values).mappings().all()
        for row in page:
            yield Event(**{**row, "metadata": row["metadata"] or {}})
        if len(page) < PAGE_EVENTS:
            return
        after = page[-1]["seq"]


def _lines_of(events: Sequence[Event], session: str, summarizer: Summarizer) -> Lines:
    """What the rules make of these events. Where they raise, each half is tried, until the one event is found that they
    can't read: it stands for itself, and the rest is summarised as ever.
    """
    try:
        return summarizer.segment(events, session=session)
    # What code raises that can't cope with its input; that this process is told to stop is none of it.
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        log.warning("%s failed on %d events of a day: %s", summarizer.name, len(events), type(error).__name__)
    if len(events) == 1:
        return (_plain(events[0], session),)
    middle = len(events) // 2
    return _lines_of(events[:middle], session, summarizer) + _lines_of(events[middle:], session, summarizer)


def _plain(event: Event, session: str) -> Line:
    said = " ".join(redact(event.content).text.split())[:LONGEST_LINE] or "(no words)"
    speaker = event.name or event.kind
    return Line("said", said, speaker, session, event.seq, event.happened_at, _PLAIN_WEIGHT)


def _save(
    engine: Engine, day: DayRef, epoch: int, session_id: int, made: Sequence[tuple[Segment, Lines]], summarizer: str
) -> None:
    rows = [
        {
            "from_seq": segment.from_seq,
            "to_seq": segment.to_seq,
            "messages": len(segment.events),
            "lines": [line.to_json() for line in lines],
        }
        for segment, lines in made
    ]
    values = _key(day) | {"session_id": session_id, "summarizer": summarizer, "rows": json.dumps(rows)}
    values |= {"first": made[0][0].from_seq, "last": made[-1][0].to_seq}
    with fenced(engine, day, epoch) as connection:
        connection.execute(_DROP, values)
        connection.execute(_SAVE, values)


def _key(day: DayRef) -> dict[str, Any]:
    return {"agent_id": day.agent_id, "scope_id": day.scope_id, "day": day.day}
