"""A day of twenty thousand events takes no more memory than one of two thousand, the first time and when it grows."""

import tracemalloc
from collections.abc import Sequence

import pytest
from sqlalchemy import Engine

from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries import MAX_SEGMENT_LINES, DaySummary, Line
from slowwave_server.services.days.summarize import RULES
from slowwave_server.services.days.summarizers import FAN, Folded, Lines, SegmentContext
from tests.support.summarizing import NOON, Diary

pytestmark = pytest.mark.servers

SMALL, LARGE = 2_000, 20_000
CONSTANT = 1_000_000
"""Bytes. Far less than the eighteen thousand events between the two, which take 9 MB."""


class EveryLine:
    """As many lines a segment as may be, and a merge that keeps the first: it costs memory, and no time."""

    name = "every/1"

    def segment(self, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]) -> Lines:
        return tuple(
            Line("said", event.content, "Maya", told.session, event.seq, event.happened_at, 1.0)
            for event in events[:MAX_SEGMENT_LINES]
        )

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary:
        lines = [line for part in parts for line in part]
        return DaySummary(tuple(lines[: max_words // len(lines[0].text.split())]), "", 1)


def fill(diary: Diary, agent: str, count: int) -> None:
    """So many events of one session, all of today."""
    diary.say("s1", "The first of many.", agent=agent)
    diary.sql(
        "INSERT INTO slowwave.events (session_id, seq, turn, kind, role, content, happened_at, recorded_at, day)"
        " SELECT s.id, n, n, 'user', 'user', 'We decided that ticket ' || n || ' goes to Jonas' || repeat(', now', 20),"
        " :now, :now, :day FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id,"
        " generate_series(2, :count) AS n WHERE a.name = :agent",
        now=NOON,
        day=NOON.date(),
        count=count,
        agent=agent,
    )
    diary.sql(
        "UPDATE slowwave.session_days d SET total_messages = :count, to_seq = :count"
        " FROM slowwave.agents a WHERE a.id = d.agent_id AND a.name = :agent",
        count=count,
        agent=agent,
    )
    diary.sql(
        "UPDATE slowwave.sessions s SET last_seq = :count FROM slowwave.agents a"
        " WHERE a.id = s.agent_id AND a.name = :agent",
        count=count,
        agent=agent,
    )


def peak(diary: Diary, agent: str) -> tuple[int, int]:
    """Bytes at most while the day is summarised, and how many events were read."""
    ref = diary.ref(NOON.date(), agent)
    tracemalloc.start()
    try:
        report = diary.summarize(ref, agent, summarizer=EveryLine())
        assert report.outcome == "summarized"
        return tracemalloc.get_traced_memory()[1], report.read
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_a_day_of_twenty_thousand_events_is_summarised_in_bounded_memory(engine: Engine) -> None:
    diary = Diary(engine)
    for agent, count in (("warm", 200), ("small", SMALL), ("large", LARGE)):
        fill(diary, agent, count)
    peak(diary, "warm")
    small, large = peak(diary, "small"), peak(diary, "large")
    assert (small[1], large[1]) == (SMALL, LARGE)
    assert large[0] <= 2 * small[0] + CONSTANT
    for agent in ("small", "large"):
        for _ in range(2):
            diary.say("s1", *["One more for today."] * 10, agent=agent)
    small, large = peak(diary, "small"), peak(diary, "large")
    assert small[1] == large[1] == 20
    assert large[0] <= 2 * small[0] + CONSTANT
    diary.check()


def test_parts_are_folded_in_a_tree_and_none_is_lost_on_the_way() -> None:
    """Merges see each part once, and never more than `FAN` of them but at the end, a few levels' worth."""
    seen: list[int] = []

    class Counting(EveryLine):
        def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary:
            seen.append(len(parts))
            return RULES.merge(parts, max_words=max_words)

    folded = Folded(Counting(), 220)
    told = Line("decided", "The lighthouse is painted red.", "Maya", "s1", 1, NOON, 99.0)
    folded.add((told,))
    for n in range(2, FAN * FAN + 10):
        folded.add((Line("said", f"Nothing much, number {n}.", "Jonas", "s1", n, NOON, 0.1),))
    summary = folded.summary()
    assert folded.count == FAN * FAN + 9
    assert max(seen) == FAN
    assert len(seen) == FAN + 1 + 1
    assert told in summary.lines
