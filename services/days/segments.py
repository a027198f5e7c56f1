"""Collect the segments of a day: reuse those of earlier summaries, and make the others from events read page by page.

A stored segment is reused if it lies before the session's last one, and if the same summarizer made it, or the rules
did after this summarizer failed. Segments that the rules made for lack of budget are made again. The last segment is
also reused if it is full or no event was added. A segment that lost events to retention is always reused, because it
can't be made again. Events between reused segments are read and cut again.

Never more than a page of events and a few segments are in memory. Each new segment is saved at once, so an interrupted
summary continues where it stopped.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Engine, text

from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries import MAX_SEGMENT_EVENTS, Line, Segment, cut_segments
from slowwave_server.services.days.book import DayRef
from slowwave_server.services.days.store import SessionCount, fenced, key_of
from slowwave_server.services.days.summarizers import (
    RULES,
    Lines,
    SegmentContext,
    SummarizedLines,
    Summarizer,
    instead_of,
    make_lines,
)

PAGE_EVENTS = 100
AT_ONCE = 20
"""The number of segments in one read or write. A crash loses at most this many; of a model's segments, one."""

_KEPT = text("""
SELECT g.session_id, g.from_seq, g.to_seq, g.messages, g.summarizer,
       CASE WHEN count(*) OVER (PARTITION BY g.session_id) = 1 THEN g.lines END AS lines,
       CASE WHEN g.session_id = ANY(:thinned) THEN g.messages > (
           SELECT count(*) FROM slowwave.events e
           WHERE e.session_id = g.session_id AND e.seq BETWEEN g.from_seq AND g.to_seq AND e.day = g.day)
       ELSE false END AS thinned
FROM slowwave.day_segments g
WHERE (g.agent_id, g.scope_id, g.day) = (:agent_id, :scope_id, :day) AND g.session_id = ANY(:ids)
ORDER BY g.session_id, g.from_seq
""")
_LINES = text("""
SELECT g.from_seq, g.lines FROM slowwave.day_segments g
WHERE (g.agent_id, g.scope_id, g.day, g.session_id) = (:agent_id, :scope_id, :day, :session_id)
  AND g.from_seq = ANY(:from_seqs)
""")
_EVENTS = text("""
SELECT e.seq, e.kind, e.role, e.name, e.content, e.happened_at, e.metadata
FROM slowwave.events e
WHERE e.session_id = :session_id AND e.seq BETWEEN :first AND :last AND e.day = :day
ORDER BY e.seq LIMIT :page
""")
_PRECEDING = text("""
SELECT e.seq, e.kind, e.role, e.name, e.content, e.happened_at, e.metadata
FROM slowwave.events e
WHERE e.session_id = :session_id AND e.seq >= :first AND e.seq < :at AND e.day = :day
ORDER BY e.seq DESC LIMIT 1
""")
_DROP = text("""
DELETE FROM slowwave.day_segments g
WHERE (g.agent_id, g.scope_id, g.day, g.session_id) = (:agent_id, :scope_id, :day, :session_id)
  AND g.from_seq BETWEEN :first AND :last
""")
# Two simultaneous summaries of a day write the same segments, or one writes fewer; the final rows are read again.
_SAVE = text("""
INSERT INTO slowwave.day_segments AS g (
    agent_id, scope_id, day, session_id, from_seq, to_seq, messages, lines, summarizer)
SELECT :agent_id, :scope_id, :day, s.id, r.from_seq, r.to_seq, r.messages, r.lines, r.summarizer
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(
    from_seq bigint, to_seq bigint, messages integer, lines jsonb, summarizer text)
JOIN slowwave.sessions s ON s.id = :session_id
ON CONFLICT (agent_id, scope_id, day, session_id, from_seq) DO UPDATE SET
    to_seq = excluded.to_seq, messages = excluded.messages, lines = excluded.lines,
    summarizer = excluded.summarizer, made_at = now()
""")


@dataclass(frozen=True, slots=True)
class StoredSegment:
    """A stored segment. lines: of a session's only segment, else read on demand; thinned: retention removed events."""

    from_seq: int
    to_seq: int
    messages: int
    summarizer: str
    lines: list[dict[str, Any]] | None
    thinned: bool


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of a segment.

    messages: the number of events. read: True if this attempt made the lines from the events, False if they were
    stored before. by: the summarizer that made the lines.
    """

    lines: Lines
    messages: int
    read: bool
    by: str


def kept_segments(engine: Engine, day: DayRef, sessions: Sequence[SessionCount]) -> dict[int, list[StoredSegment]]:
    """Return the stored segments of these sessions, by session id, in the order of their events."""
    values = {
        **key_of(day),
        "ids": [session.session_id for session in sessions],
        "thinned": [session.session_id for session in sessions if session.removed],
    }
    kept: dict[int, list[StoredSegment]] = {}
    with engine.connect() as connection:
        for row in connection.execute(_KEPT, values).mappings():
            columns = dict(row)
            kept.setdefault(columns.pop("session_id"), []).append(StoredSegment(**columns))
    return kept


@dataclass(frozen=True, slots=True)
class SessionParts:
    """The parts of one session. epoch: the agent's when the day was read; anew: reuse only what can't be made again."""

    engine: Engine
    day: DayRef
    session: SessionCount
    told: SegmentContext
    epoch: int
    summarizer: Summarizer
    anew: bool

    def parts(self, stored: Sequence[StoredSegment]) -> Iterator[Part]:
        """Yield lines of reused segments, and new lines of the other events, which are saved. Raises Forgotten."""
        keep = self._still_good(stored)
        yield from self._read_kept(keep)
        if sum(kept.messages for kept in keep) != self.session.total:
            for first, last in self._between(keep):
                yield from self._make(first, last)

    def _still_good(self, stored: Sequence[StoredSegment]) -> list[StoredSegment]:
        complete = sum(kept.messages for kept in stored) == self.session.total
        last_is_closed = complete or (stored and stored[-1].messages >= MAX_SEGMENT_EVENTS)
        closed = len(stored) if last_is_closed else len(stored) - 1
        good = {self.summarizer.name, instead_of(self.summarizer)}
        return [
            kept
            for place, kept in enumerate(stored)
            if kept.thinned or (place < closed and kept.summarizer in good and not self.anew)
        ]

    def _between(self, keep: Sequence[StoredSegment]) -> Iterator[tuple[int, int]]:
        """Return the ranges of seq [first, last] that no kept segment covers."""
        at = self.session.from_seq
        for kept in keep:
            if at < kept.from_seq:
                yield at, kept.from_seq - 1
            at = kept.to_seq + 1
        if at <= self.session.to_seq:
            yield at, self.session.to_seq

    def _read_kept(self, keep: Sequence[StoredSegment]) -> Iterator[Part]:
        for at in range(0, len(keep), AT_ONCE):
            some = keep[at : at + AT_ONCE]
            values = self._key() | {"from_seqs": [kept.from_seq for kept in some if kept.lines is None]}
            lines = {kept.from_seq: kept.lines for kept in some if kept.lines is not None}
            if len(lines) < len(some):
                with self.engine.connect() as connection:
                    lines |= {row.from_seq: row.lines for row in connection.execute(_LINES, values)}
            for kept in some:
                # If another summary of this day replaced a segment in the meantime, the day is read again.
                if kept.from_seq in lines:
                    yield _kept_part(kept, lines[kept.from_seq])

    def _make(self, first: int, last: int) -> Iterator[Part]:
        preceding = self._preceding(first)
        segments = cut_segments(self._read_events(first, last))
        at_once = AT_ONCE if self.summarizer.name == RULES.name else 1
        while batch := list(islice(segments, at_once)):
            made: list[tuple[Segment, SummarizedLines]] = []
            for segment in batch:
                made.append((segment, make_lines(self.summarizer, segment.events, self.told, preceding)))
                preceding = segment.events[-1:]
            self._save(made)
            for segment, one in made:
                yield Part(one.lines, len(segment.events), read=True, by=one.by)

    def _read_events(self, first: int, last: int) -> Iterator[Event]:
        """Read events page by page on separate connections, so that none stays open while the rules work."""
        while True:
            values = self._key() | {"first": first, "last": last, "page": PAGE_EVENTS}
            with self.engine.connect() as connection:
                page = connection.execute(_EVENTS, values).mappings().all()
            for row in page:
                yield _event(row)
            if len(page) < PAGE_EVENTS:
                return
            first = page[-1]["seq"] + 1

    def _preceding(self, at: int) -> tuple[Event, ...]:
        """Return the day's event before `at` in this session, or None."""
        with self.engine.connect() as connection:
            values = self._key() | {"first": self.session.from_seq, "at": at}
            row = connection.execute(_PRECEDING, values).mappings().first()
        return () if row is None else (_event(row),)

    def _save(self, made: Sequence[tuple[Segment, SummarizedLines]]) -> None:
        rows = [
            {
                "from_seq": segment.from_seq,
                "to_seq": segment.to_seq,
                "messages": len(segment.events),
                "lines": [line.to_json() for line in one.lines],
                "summarizer": one.by,
            }
            for segment, one in made
        ]
        values = self._key() | {"rows": json.dumps(rows)}
        values |= {"first": made[0][0].from_seq, "last": made[-1][0].to_seq}
        with fenced(self.engine, self.day, self.epoch) as connection:
            connection.execute(_DROP, values)
            connection.execute(_SAVE, values)

    def _key(self) -> dict[str, Any]:
        return key_of(self.day) | {"session_id": self.session.session_id}


def _kept_part(kept: StoredSegment, lines: Sequence[dict[str, Any]]) -> Part:
    return Part(tuple(map(Line.from_json, lines)), kept.messages, read=False, by=kept.summarizer)


def _event(row: Any) -> Event:
    return Event(**{**row, "metadata": row["metadata"] or {}})
