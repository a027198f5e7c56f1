"""The effect of a query's times on a search: the interval for the ranking in Postgres, and the order of its rows.

A document inside the interval gets a bonus. If the query asks for a time, texts that give a time get a bonus. If it
asks for the newest or the first, later or earlier documents get one. Every bonus is a share of the best score, so it
means the same for words and vectors.

A conversation in which tools work moves towards an outcome: a booking is made, then changed, or cancelled. So its later
rows get a share of their own score, unless the query asks for the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from slowwave.recall.hits import Hit
from slowwave.recall.query_steps import Row
from slowwave.recall.times import Anchor, Interval, TimeQuestion, says_time

SAYS_WHEN = 0.25
"""What a text that says when gains, as a part of the best score. The numbers here were chosen on LoCoMo."""
NEWEST = 0.05
AFTERWARDS = 0.25
"""What was done in an interval is told until so much of its length later, within these bounds."""
SOONEST, LATEST = timedelta(days=1), timedelta(days=7)
DURING = timedelta(days=3)
"""How long before and after the day on which it is told something goes on."""
OUTCOME = 0.3
"""What the last row of a conversation with tools gains, as a part of its own score; the first gains nothing. Two trials
of tau-bench by words: any@5 .860 with 0, .903 with 0.3, .919 with 0.45. In talk without tools the order says nothing:
LoCoMo would lose .022 of any@5 with 0.15."""
DEPTH = 100
"""So many rows are looked at where their order may change: the highest limit, so each limit gives the same order."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The effect of a query's times on the ranking.

    interval: the query's interval, extended by the time in which people still talk about it; continues: True if the
    query continues a conversation and names no time.
    """

    interval: Interval | None = None
    strict: bool = False
    newest: float = 0.0
    asks_when: bool = False
    language: str = "en"
    continues: bool = False

    def depth(self, limit: int) -> int:
        """Return the number of rows to request."""
        return max(limit, DEPTH) if self.strict or self.newest or self.asks_when else limit


def around(anchor: Anchor, moment: datetime) -> Interval:
    """Return the interval that an event at this moment limits. The event's own day belongs to both sides."""
    day = datetime.combine(moment.date(), time(), moment.tzinfo)
    match anchor.relation:
        case "before" | "until":
            return Interval(None, day + timedelta(days=1))
        case "during":
            return Interval(day - DURING, day + timedelta(days=1) + DURING)
        case _:
            return Interval(day, None)


def timing_of(times: TimeQuestion, interval: Interval | None, now: datetime, *, continues: bool = False) -> Timing:
    """Return the effect of the times; an interval in the future has none. continues: the query continues a talk."""
    if interval is not None and interval.begin is not None and interval.begin > now:
        interval = None
    # If the question has a date, "recently" relates to the date.
    newest = 0.0 if interval is not None else {"latest": NEWEST, "first": -NEWEST}.get(times.order or "", 0.0)
    told = None if interval is None else interval if times.strict else _told(interval)
    continues = continues and not (told or newest or times.asks_when)
    return Timing(told, times.strict and told is not None, newest, times.asks_when, times.language, continues)


def _told(interval: Interval) -> Interval:
    if interval.end is None or interval.begin is None:
        return interval
    later = min(max((interval.end - interval.begin) * AFTERWARDS, SOONEST), LATEST)
    return replace(interval, end=interval.end + later)


def reordered(rows: Sequence[Row], timing: Timing) -> list[Row]:
    """Return the rows of a search in the order that the times require, with matching scores."""
    kept = [row for row in rows if not timing.strict or (timing.interval and timing.interval.holds(row["valid_from"]))]
    if timing.newest >= 0:
        kept = _outcomes_first(kept)
    if not kept or not (timing.newest or timing.asks_when):
        return kept
    best = max(0.0, *(row["score"] for row in kept))
    by_date = {day: place for place, day in enumerate(sorted({row["valid_from"] for row in kept}))}
    late = timing.newest * best / max(len(by_date) - 1, 1)
    when = SAYS_WHEN * best if timing.asks_when else 0.0
    scored: list[Row] = []
    for row in kept:
        gain = when if when and says_time(row["content"], timing.language) else 0.0
        scored.append(row | {"score": row["score"] + late * by_date[row["valid_from"]] + gain})
    return sorted(scored, key=lambda row: -row["score"])


def _outcomes_first(rows: Sequence[Row]) -> list[Row]:
    """Return the rows by their scores, with the gain of later rows of a conversation with tools.

    Before the flush, the output of a tool ranks below speech, and nothing gains.
    """
    flushed_tools = [row for row in rows if row["type"] == "tool" and row["status"] == "processed"]
    with_tools = {session for row in flushed_tools for session, _, _ in row["sources"]}
    if not with_tools:
        return list(rows)
    places = [max(((session, seq) for session, _, seq in row["sources"]), default=(None, 0)) for row in rows]
    seqs: dict[int | None, list[int]] = {}
    for session, seq in places:
        if session in with_tools:
            seqs.setdefault(session, []).append(seq)
    scored: list[Row] = []
    for row, (session, seq) in zip(rows, places, strict=True):
        found = seqs.get(session, [seq])
        share = (seq - min(found)) / (max(found) - min(found) or 1)
        scored.append(row | {"score": row["score"] + OUTCOME * share * max(row["score"], 0.0)})
    return sorted(scored, key=lambda row: -row["score"])


def in_order_of_time(hits: Sequence[Hit]) -> list[Hit]:
    """Return the same hits, oldest first."""
    return sorted(hits, key=lambda hit: (hit.valid_from, hit.sources))
