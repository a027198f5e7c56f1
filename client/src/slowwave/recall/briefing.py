"""Context: what an agent should know when a conversation begins or goes on.

Three parts: memories that fit, memories of the last days, and what is being said in other conversations that no flush
has read yet, so that even that is not invisible.

Must not know: who asks, or which prompt it goes into.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from slowwave.errors import InvalidQuery
from slowwave.identity import check_name
from slowwave.recall.finding import check_question, find_steps, library_steps
from slowwave.recall.hits import Hit, hit_of
from slowwave.recall.rendering import Block, fenced, one_line
from slowwave.recall.scopes import Reader
from slowwave.recall.steps import Query, Row, Steps, statement

DEFAULT_DAYS = 2
MAX_DAYS = 3660
MEMORIES = 15
RECENT = 15
READ_PER_SCOPE = 60  # from each end: the most important, the newest
OTHER_SESSIONS = 6
LINES_PER_SESSION = 10
LINE_CHARACTERS = 1000

_BRIEFING = statement("briefing")
_UNFLUSHED = statement("unflushed")


@dataclass(frozen=True, slots=True)
class Utterance:
    """A line of another conversation that no flush has read yet. content: its first 1,000 characters."""

    session: str
    seq: int
    agent: str
    speaker: str
    content: str
    at: datetime
    scope: str | None

    @property
    def id(self) -> str:
        return f"{self.session}#{self.seq}"

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id} | asdict(self) | {"at": self.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Context:
    """What an agent should know. No memory stands in both lists.

    memories: by relevance where there was a query that found some, else by importance and age; recent: of the last
    `days` days, newest first; elsewhere: the last lines of other conversations, oldest first within each.
    """

    memories: tuple[Hit, ...]
    recent: tuple[Hit, ...]
    elsewhere: tuple[Utterance, ...]
    days: int

    def to_json(self) -> dict[str, Any]:
        return {
            "memories": [hit.to_json() for hit in self.memories],
            "recent": [hit.to_json() for hit in self.recent],
            "elsewhere": [line.to_json() for line in self.elsewhere],
            "days": self.days,
        }

    def to_text(self) -> str:
        """Markdown for a prompt; empty where nothing is known. All that was ever said stands fenced, as data."""
        span = "day" if self.days == 1 else f"{self.days} days"
        blocks = (
            Block("Known from other conversations", [_memory_line(hit) for hit in self.memories]),
            Block(f"New in the last {span}", [_memory_line(hit) for hit in self.recent]),
            Block("Being said in other conversations right now", [_spoken_line(line) for line in self.elsewhere]),
        )
        return fenced(blocks)


def context_steps(
    reader: Reader, *, session: str | None, query: str | None, days: int | None, now: datetime
) -> Steps[Context]:
    """Read the three parts. `now` is aware. Raises `InvalidName` and `InvalidQuery`."""
    days = DEFAULT_DAYS if days is None else days
    if isinstance(days, bool) or not isinstance(days, int) or not 0 <= days <= MAX_DAYS:
        raise InvalidQuery(f"days: a number from 0 to {MAX_DAYS} is meant, not {days!r:.40}")
    if now.tzinfo is None:
        raise InvalidQuery("now: a time with its zone is meant")
    if session is not None:
        check_name("session", session)
    if query is not None:
        check_question(query, MEMORIES)
    library = yield from library_steps(reader, query or "")
    labels = library.labels
    if not labels:
        return Context((), (), (), days)
    relevant = yield from find_steps(library, limit=MEMORIES, events=False)
    weighed = yield Query(
        _BRIEFING,
        {
            "scopes": list(labels),
            "now": now,
            "since": now - timedelta(days=days),
            "most": READ_PER_SCOPE,
            "weighty": 0 if relevant else MEMORIES,
            # As many more as may stand in the first list already.
            "newest": MEMORIES + RECENT,
        },
    )
    lines = yield _unflushed(reader, session, list(labels))
    memories = relevant or [hit_of(row, row["weight"], labels) for row in weighed[:MEMORIES]]
    return Context(tuple(memories), _recent(weighed, memories, labels), _utterances(lines, labels), days)


def _unflushed(reader: Reader, session: str | None, scope_ids: Sequence[int]) -> Query:
    return Query(
        _UNFLUSHED,
        {
            "tenant": reader.tenant,
            "agent": reader.agent,
            # No session has an empty name: where none is given, none is left out.
            "session": session or "",
            "scopes": scope_ids,
            "sessions": OTHER_SESSIONS,
            "lines": LINES_PER_SESSION,
            "characters": LINE_CHARACTERS,
        },
    )


def _recent(weighed: Sequence[Row], shown: Sequence[Hit], labels: Mapping[int, str | None]) -> tuple[Hit, ...]:
    known = {hit.id for hit in shown}
    fresh = [row for row in weighed if row["recent"] and row["id"] not in known]
    fresh.sort(key=lambda row: row["valid_from"], reverse=True)
    return tuple(hit_of(row, row["weight"], labels) for row in fresh[:RECENT])


def _utterances(rows: Sequence[Row], labels: Mapping[int, str | None]) -> tuple[Utterance, ...]:
    return tuple(
        Utterance(
            row["session"],
            row["seq"],
            row["agent"],
            row["speaker"],
            row["content"],
            row["happened_at"],
            labels[row["scope_id"]],
        )
        for row in rows
    )


def _memory_line(hit: Hit) -> str:
    return f"- {hit.valid_from:%Y-%m-%d} {one_line(hit.content)} [memory {hit.id}]"


def _spoken_line(line: Utterance) -> str:
    return f"- {line.at:%Y-%m-%d %H:%M} {one_line(line.speaker)}: {one_line(line.content)} [{one_line(line.id)}]"
