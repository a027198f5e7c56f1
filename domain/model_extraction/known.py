"""The known context of a window: memories that the model may cite as [K1], and lines of the day's notes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self
from uuid import UUID

from slowwave.recall.rendering import one_line
from slowwave_server.domain.noise import is_chatter

_FEWEST_WORDS = 3
_NAME = re.compile(r"\[?K(\d{1,4})\]?")
_TWO_DATES = re.compile(r"\(\s*\w*\s*\d{4}[^()]*\)\s*\([^()]*\d{4}[^()]*\)")
_QUOTED_CHATTER = re.compile(
    r"\b(?:[Tt]hanks for|[Tt]hank you|[Yy]ou're welcome|[Gg]ood luck|[Ss]ounds good|[Hh]ere's|[Cc]an you|[Cc]ould you|"
    r"[Ll]et me know)\b"
)
_DANGLING = re.compile(r"(?:it|it's|this|that|these|those|they|he|she|here|there)\b", re.IGNORECASE)
_DOUBLED = re.compile(r"\b(\w{3,})\s+\1\b", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"(?:\b(?:and|or|but|of|the|a|to|with|for|in|that)|[,:;(\u2013\u2014-])\s*[.!]?$", re.IGNORECASE
)
_PAIRS = (("(", ")"), ("[", "]"), ("\u201c", "\u201d"))


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """One memory of the window's scope. since: the day from which it is valid, or on which it happened."""

    content: str
    since: date | None = None
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class KnownContext:
    """Context from before a window. It helps the model to understand the window, and is not evidence.

    memories: the memories in the order of their names, [K1] first; notes: lines of the day, each with its time.
    """

    memories: tuple[KnownMemory, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Return all texts, for a comparison."""
        return (*(memory.content for memory in self.memories), *self.notes)

    def named(self, name: Any) -> KnownMemory | None:
        """Return the memory that an answer calls "K1" (or "[K1]"); None for any other value."""
        match = _NAME.fullmatch(name.strip()) if isinstance(name, str) else None
        place = int(match[1]) if match is not None else 0
        return self.memories[place - 1] if 0 < place <= len(self.memories) else None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with the same content."""
        memories = [
            {
                "content": memory.content,
                "since": memory.since and memory.since.isoformat(),
                "id": memory.id and str(memory.id),
            }
            for memory in self.memories
        ]
        return {"memories": memories, "notes": list(self.notes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Parse the result of `to_json`."""
        memories = tuple(
            KnownMemory(
                row["content"],
                date.fromisoformat(row["since"]) if row["since"] else None,
                UUID(row["id"]) if row["id"] else None,
            )
            for row in data["memories"]
        )
        return cls(memories, tuple(data["notes"]))

    @classmethod
    def of(cls, *contents: str) -> Self:
        """Return known memories without dates and ids."""
        return cls(tuple(KnownMemory(content) for content in contents))


def is_presentable(content: str) -> bool:
    """Return True if a memory is a readable sentence. The prompt omits a broken one, which would mislead the model."""
    text = one_line(content).strip()
    words: Sequence[str] = text.split()
    return not (
        len(words) < _FEWEST_WORDS
        or text.rstrip("\"')").endswith("?")
        or is_chatter(text)
        or _DANGLING.match(text)
        or _TWO_DATES.search(text)
        or _QUOTED_CHATTER.search(text)
        or _DOUBLED.search(text)
        or _UNFINISHED.search(text)
        or any(text.count(opening) != text.count(closing) for opening, closing in _PAIRS)
        or text.count('"') % 2
    )
