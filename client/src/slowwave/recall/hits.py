"""What a search answers: hits, each with where it comes from; and the choice that shows nothing twice.

Must not know: SQL, or how scores come about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal

from slowwave.recall.masking import mask
from slowwave.recall.query_steps import Row
from slowwave.recall.ranking import Why, relevance


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory or one event.

    id: a memory's UUID, or SESSION#SEQ. status: of a memory inbox, episode or active, and review where those were
    asked for; of an event processed, or pending where no flush has read it yet. valid_from: since when it holds, or
    when it was said (aware). valid_to: of a memory that has ended, until when it held; None: it holds. sources: the
    (session, seq) of every event that says it; of an event, itself. scope: None for the agent's own, else "room:NAME"
    or "team:NAME". type: of a memory fact, preference …; of an event user, assistant, task or tool. speaker: of an
    event. contradicts: of a memory the ids of those that contradict it, where nobody has decided which one holds.
    score: higher is better, comparable within one answer only. part: which passage of the event `content` is, from 0.
    relevance: how likely it has to do with the question, from 0 to 1, comparable between answers and scopes; None if
    nothing was asked. why: how much each part of the ranking gave it.
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
        """The same keys, for JSON: times in ISO 8601, sources as [session, seq]."""
        # By hand: `asdict` copies deeply, which takes ten times as long, and a context is made of many hits.
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "place"} | {
            "score": round(self.score, 4),
            "valid_from": self.valid_from.isoformat(),
            "valid_to": None if self.valid_to is None else self.valid_to.isoformat(),
            "sources": [list(source) for source in self.sources],
            "relevance": None if self.relevance is None else round(self.relevance, 3),
            "why": self.why and {name: value and round(value, 3) for name, value in asdict(self.why).items()},
            "contradicts": list(self.contradicts),
        }


def hit_of(row: Row, score: float, labels: Mapping[int, str | None]) -> Hit:
    """A hit from a row of slowwave.search or of a context; `labels`: names of scopes by their ids."""
    return Hit(
        id=row["id"],
        kind="memory" if row["seq"] is None else "event",
        # No flush has taken the secrets out of the newest events, and an earlier version took fewer out of old ones.
        content=row["content"] if row["seq"] is None else mask(row["content"]),
        score=score,
        status=row["status"],
        valid_from=row["valid_from"],
        sources=tuple((name, seq) for _, name, seq in row["sources"]),
        scope=labels[row["scope_id"]],
        type=row["type"],
        speaker=row["speaker"],
        part=row.get("part"),
        relevance=relevance(row["coverage"] or 0.0, row["cosine"]) if "coverage" in row else None,
        why=_why(row) if "coverage" in row else None,
        valid_to=row.get("valid_to"),
        place=(row["session_id"], row["seq"], row["part"]) if row.get("part") is not None else None,
    )


def _why(row: Row) -> Why:
    parts = (row["words"], row["session"], row["vector"], row["interval"])
    return Why(*parts, coverage=row["coverage"] or 0.0, cosine=row["cosine"])


def choose(ranked: Sequence[Row], limit: int) -> list[Row]:
    """Of rows of slowwave.search, best first, take `limit` that show something new.

    An event whose memory stands above it is left out, and so is a memory all of whose events stand above it: what was
    said once is shown once, in the form that fits the question best. Two memories of one event say different things
    and both stay. A memory that was replaced comes after the one that replaced it, if both are there.
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
    """The same rows, each that was replaced behind its last successor among them."""
    # Passages of one event share its id, and replace nothing.
    places = {row["id"]: place for place, row in enumerate(rows) if row["seq"] is None}

    def place_of(numbered: tuple[int, Row]) -> tuple[int, int]:
        (place, row), steps = numbered, 0
        # A chain of replacements is never longer than the rows are many; should it close to a ring, it ends there.
        while row["superseded_by"] in places and steps < len(rows):
            row = rows[places[row["superseded_by"]]]
            place, steps = max(place, places[row["id"]]), steps + 1
        return place, steps

    return [row for _, row in sorted(enumerate(rows), key=place_of)]
