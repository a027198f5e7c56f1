"""Widen the events that a search found: add the passages before and after each event, from the same conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from slowwave.errors import InvalidQuery, shown
from slowwave.recall.hits import Hit
from slowwave.recall.query_steps import Query, Row, Steps, statement

MAX_AROUND = 10

_AROUND = statement("passages_around")


def check_around(around: int) -> None:
    """Raise `InvalidQuery` if this number of passages is not allowed."""
    if isinstance(around, bool) or not isinstance(around, int) or not 0 <= around <= MAX_AROUND:
        raise InvalidQuery(f"around must be an integer from 0 to {MAX_AROUND}, got {shown(around)}")


def widening_steps(hits: Sequence[Hit], labels: Mapping[int, str | None], around: int) -> Steps[list[Hit]]:
    """Return the hits, each event with `around` passages before and after it, by one query, or none without events."""
    places = [hit.place for hit in hits if hit.place is not None]
    if not around or not places:
        return list(hits)
    sessions, seqs, parts = (list(numbers) for numbers in zip(*places, strict=True))
    values = {"scopes": sorted(labels), "sessions": sessions, "seqs": seqs, "parts": parts, "around": around}
    rows = yield Query(_AROUND, values)
    numbers = {place: number for number, place in enumerate(places, 1)}
    by_place: dict[int, list[Row]] = {}
    for row in rows:
        by_place.setdefault(row["place"], []).append(row)
    return [_widened(hit, by_place.get(numbers[hit.place], ())) if hit.place else hit for hit in hits]


def _widened(hit: Hit, rows: Sequence[Row]) -> Hit:
    """Return the hit with its neighbours: passages of one event are joined, others begin with their speaker."""
    own = hit.place[1] if hit.place else None
    lines: list[str] = []
    last = None
    for seq, speaker, text in (
        *((row["seq"], row["speaker"], row["content"]) for row in rows if row["side"] < 0),
        (own, hit.speaker, hit.content),
        *((row["seq"], row["speaker"], row["content"]) for row in rows if row["side"] > 0),
    ):
        lines.append(text if seq == last or not rows else f"{speaker}: {text}")
        last = seq
    return replace(hit, content="\n".join(lines))
