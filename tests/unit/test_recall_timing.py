"""What the times of a question do to the rows of a search."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slowwave.recall.search import MAX_LIMIT
from slowwave.recall.times import Anchor, Interval, Relation, TimeQuestion
from slowwave.recall.timing import Timing, around, reordered, timing_of

NOW = datetime(2023, 6, 5, 12, tzinfo=UTC)


def day(month: int, number: int = 1) -> datetime:
    return datetime(2023, month, number, tzinfo=UTC)


def row(
    content: str, score: float, at: datetime, source: tuple[int, int] = (1, 1), kind: str = "fact"
) -> dict[str, Any]:
    session, seq = source
    sources = [[session, f"session {session}", seq]]
    rest = {"sources": sources, "type": kind, "status": "processed" if kind == "tool" else "inbox"}
    return {"content": content, "score": score, "valid_from": at, **rest}


def told(rows: list[dict[str, Any]], timing: Timing) -> list[str]:
    return [row["content"] for row in reordered(rows, timing)]


def test_without_times_rows_stay_as_they_are() -> None:
    rows = [row("b", 2.0, day(1)), row("a", 1.0, day(2))]
    assert reordered(rows, Timing()) == rows


@pytest.mark.parametrize("timing", [Timing(strict=True), Timing(newest=-0.05), Timing(asks_when=True)])
def test_every_limit_ranks_the_same_rows_by_time(timing: Timing) -> None:
    assert {timing.depth(limit) for limit in (1, 10, 75, MAX_LIMIT)} == {MAX_LIMIT}


def test_an_interval_that_lies_ahead_does_not_count() -> None:
    ahead = Interval(day(7), day(8))
    assert timing_of(TimeQuestion("?", interval=ahead), ahead, NOW) == Timing()


def test_an_interval_goes_on_while_it_is_told_of() -> None:
    for interval, until in (
        (Interval(day(3), day(4)), day(4) + timedelta(days=7)),
        (Interval(day(3, 5), day(3, 6)), day(3, 7)),
        (Interval(day(3), None), None),
    ):
        counted = timing_of(TimeQuestion("?", interval=interval), interval, NOW).interval
        assert counted is not None
        assert counted.end == until


def test_a_strict_interval_leaves_out_what_lies_outside() -> None:
    march = Interval(day(3), day(4))
    timing = timing_of(TimeQuestion("?", interval=march, strict=True), march, NOW)
    assert told([row("May", 9.0, day(5)), row("March", 1.0, day(3, 9))], timing) == ["March"]


def test_a_text_that_says_when_comes_before_one_that_does_not() -> None:
    rows = [row("I like races.", 1.0, day(1)), row("I ran a race yesterday.", 0.9, day(1)), row("A race", 0.2, day(2))]
    assert told(rows, Timing(asks_when=True))[:2] == ["I ran a race yesterday.", "I like races."]


def test_the_newest_decides_among_equals_and_never_lifts_what_fits_badly() -> None:
    rows = [row("old", 1.0, day(1)), row("new", 1.0, day(5)), row("unrelated", 0.1, day(6))]
    assert told(rows, timing_of(TimeQuestion("?", order="latest"), None, NOW)) == ["new", "old", "unrelated"]
    assert told(rows, timing_of(TimeQuestion("?", order="first"), None, NOW)) == ["old", "new", "unrelated"]


@pytest.mark.parametrize(
    ("relation", "begin", "end"),
    [
        ("before", None, day(5, 5)),
        ("until", None, day(5, 5)),
        ("after", day(5, 4), None),
        ("since", day(5, 4), None),
        ("during", day(5, 1), day(5, 8)),
    ],
)
def test_an_event_is_a_border(relation: Relation, begin: datetime | None, end: datetime | None) -> None:
    assert around(Anchor(relation, "the move"), datetime(2023, 5, 4, 18, tzinfo=UTC)) == Interval(begin, end)


def test_in_a_conversation_with_tools_the_outcome_comes_first() -> None:
    booked = row("booked", 3.0, day(1), (1, 4), "result")
    cancelled = row("cancelled", 2.8, day(1), (1, 20), "tool")
    other = row("elsewhere", 2.9, day(2), (2, 90), "user")
    assert told([booked, other, cancelled], Timing()) == ["cancelled", "booked", "elsewhere"]
    assert told([booked, other, cancelled], Timing(newest=-0.01)) == ["booked", "elsewhere", "cancelled"]


def test_without_flushed_tools_the_order_in_a_talk_says_nothing() -> None:
    for late in (row("late", 2.8, day(1), (1, 20)), row("late", 2.8, day(1), (1, 20), "tool") | {"status": "pending"}):
        rows = [row("early", 3.0, day(1), (1, 4)), late]
        assert told(rows, Timing()) == ["early", "late"]


def test_a_later_row_that_fits_badly_stays_behind() -> None:
    rows = [row("booked", 3.0, day(1), (1, 4), "tool"), row("thanks", 2.0, day(1), (1, 20), "user")]
    assert told(rows, Timing()) == ["booked", "thanks"]
