"""Build hits, the results of a search, with their provenance; and choose rows that repeat no other row."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal

from slowwave.recall.masking import mask
from slowwave.recall.query_steps import Row
from slowwave.recall.ranking import Why, evidence


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory or one event.

    Attributes:
        id: a memory's UUID, or SESSION#SEQ of an event.
        kind: "memory" or "event".
        content: the text of the memory, or one passage of the event.
        score: a number, higher is better, comparable only within one result.
        status: for a memory "inbox", "episode" or "active" ("review" only on request); for an event "processed", or
            "pending" if no flush has processed it.
        valid_from: the time from which the memory is valid, or when the event was said (aware).
        sources: the (session, seq) of each source event; for an event, its own.
        scope: "room:NAME" or "team:NAME"; None for the agent's own.
        type: for a memory fact, preference …; for an event user, assistant, task or tool.
        speaker: the speaker of an event.
        part: the index of the event's passage in `content`, from 0.
        relevance: the estimated probability that the hit relates to the query, from 0 to 1; comparable between results
            and scopes; None without a query.
        why: the parts of the score.
        valid_to: the time at which the memory ceased to be valid; None while it is valid.
        contradicts: ids of memories that contradict this one, if nobody has decided which is right.
        place: internal row numbers of session, event and passage; not in JSON.
    """

    id: str
    kind: Literal["memory", "event"]
    content: str
    score: float
    status: str
    valid_from: datetime
    sources: tuple[tuple[str, int], ...]
    scope: str | None
    type: str
    speaker: str | None = None
    part: int | None = None
    relevance: float | None = None
    why: Why | None = None
    valid_to: datetime | None = None
    contradicts: tuple[str, ...] = ()
    place: tuple[int, int, int] | None = None
    """Session, event and passage by their numbers in the database. JSON leaves it out."""

    def to_json(self) -> dict[str, Any]:
        """Convert the hit to JSON.

        Returns:
            The attributes without `place`; times in ISO 8601, sources as [session, seq].
        """
        # Written by hand, because `asdict` copies deeply and takes ten times as long, and a context has many hits.
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "place"} | {
            "score": round(self.score, 4),
            "valid_from": self.valid_from.isoformat(),
            "valid_to": None if self.valid_to is None else self.valid_to.isoformat(),
            "sources": [list(source) for source in self.sources],
            "relevance": None if self.relevance is None else round(self.relevance, 3),
            "why": self.why and {name: value and round(value, 3) for name, value in asdict(self.why).items()},
            "contradicts": list(self.contradicts),
        }


def evidence_of(row: Row) -> float:
    """Return how much of the query a row of slowwave.search holds."""
    return evidence(row["coverage"] or 0.0, row["cosine"], row["names"] or 0.0, row["named"] or 0.0)


def hit_of(
    row: Row, score: float, labels: Mapping[int, str | None], relevance: float | None = None, best: float = 0.0
) -> Hit:
    """Build a hit from a database row: one of the SQL function `slowwave.search`, or one that was read for a context.

    Args:
        row: the row.
        score: the score of the search, for `Hit.score`.
        labels: the names of scopes, by scope id.
        relevance: the relevance of a hit of a search.
        best: the highest evidence of any hit of that search.
    """
    return Hit(
        id=row["id"],
        kind="memory" if row["seq"] is None else "event",
        # The newest events still contain secrets, because no flush has redacted them; earlier versions also redacted
        # fewer secrets.
        content=row["content"] if row["seq"] is None else mask(row["content"]),
        score=score,
        status=row["status"],
        valid_from=row["valid_from"],
        sources=tuple((name, seq) for _, name, seq in row["sources"]),
        scope=labels[row["scope_id"]],
        type=row["type"],
        speaker=row["speaker"],
        part=row.get("part"),
        relevance=relevance,
        why=_why(row, best) if "coverage" in row else None,
        valid_to=row.get("valid_to"),
        place=(row["session_id"], row["seq"], row["part"]) if row.get("part") is not None else None,
    )


def _why(row: Row, best: float) -> Why:
    return Why(
        row["words"],
        row["session"],
        row["vector"],
        row["interval"],
        coverage=row["coverage"] or 0.0,
        cosine=row["cosine"],
        recency=row["recency"],
        names=(row["names"] or 0.0) / row["named"] if row["named"] else None,
        evidence=evidence_of(row),
        best=best,
    )


def choose(ranked: Sequence[Row], limit: int) -> list[Row]:
    """Choose `limit` rows of slowwave.search, best first, that add something new.

    An event is left out if its memory ranks before it. A memory is left out if all its source events rank before it. So
    each statement appears once, in the form that fits the query best. Two memories of one event say different things,
    and both stay. A replaced memory comes after its replacement, if both are present.
    """
    chosen: list[Row] = []
    kept: set[tuple[int, int]] = set()
    verbatim: set[tuple[int, int]] = set()
    for row in _replaced_last(ranked):
        if len(chosen) == limit:
            break
        origins = {(session_id, seq) for session_id, _, seq in row["sources"]}
        is_event = row["seq"] is not None
        if origins and origins <= (kept if is_event else verbatim):
            continue
        (verbatim if is_event else kept).update(origins)
        chosen.append(row)
    return chosen


def _replaced_last(rows: Sequence[Row]) -> list[Row]:
    """Return the same rows, each replaced memory behind its last successor."""
    # Passages of one event share the event's id and replace no memory.
    places = {row["id"]: place for place, row in enumerate(rows) if row["seq"] is None}

    def place_of(numbered: tuple[int, Row]) -> tuple[int, int]:
        (place, row), steps = numbered, 0
        # A chain of replacements is at most as long as the list of rows; this limit also ends a cycle.
        while row["superseded_by"] in places and steps < len(rows):
            row = rows[places[row["superseded_by"]]]
            place, steps = max(place, places[row["id"]]), steps + 1
        return place, steps

    return [row for _, row in sorted(enumerate(rows), key=place_of)]
