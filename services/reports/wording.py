"""Which memories hold some words, wherever in their text: a filter of lists, not a search that ranks.

Words are stemmed as the search stems them, all of them have to be there, and the beginning of one is enough. Where no
stem is left ("who?", a sign) the text itself has to hold what was asked for.

Must not know: which list is filtered.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, String, bindparam, cast, text
from sqlalchemy.dialects.postgresql import TSQUERY

from slowwave_server.models import Memory

LONGEST = 200
"""So many characters of what is asked for are looked at."""
_STEMS = text("SELECT tsvector_to_array(to_tsvector('pg_catalog.english', :words))")
_HOLDING = text(
    "SELECT x.id FROM unnest(CAST(:ids AS uuid[]), CAST(:contents AS text[])) AS x (id, content) WHERE CASE"
    " WHEN CAST(:query AS text) IS NULL THEN strpos(lower(x.content), lower(:words)) > 0"
    " ELSE to_tsvector('pg_catalog.english', x.content) @@ CAST(:query AS tsquery) END"
)


@dataclass(frozen=True, slots=True)
class Wording:
    """What is asked for, and the stems that are left of it."""

    words: str
    stems: tuple[str, ...]

    @classmethod
    def read(cls, connection: Connection, words: str) -> "Wording":
        """Take words as somebody typed them."""
        asked = words.replace("\0", "").strip()[:LONGEST]
        return cls(asked, tuple(connection.execute(_STEMS, {"words": asked}).scalar_one()))

    def condition(self, scope_id: int) -> ColumnElement[bool]:
        """What holds of memories of a scope that say it; one index finds them, however many there are (I8)."""
        if not self.stems:
            return Memory.content.icontains(self.words, autoescape=True)
        # Lexemes carry their scope, and of what a memory is found by only its own text counts: weight A.
        query = " & ".join(f"{_quoted(f'{scope_id}:{stem}')}:*A" for stem in self.stems)
        return Memory.search.op("@@", is_comparison=True)(cast(bindparam(None, query, String), TSQUERY))

    def holding(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> set[UUID]:
        """The ids of those of these rows whose `content` says it: they are not what the table holds."""
        found = [(row["id"], row["content"]) for row in rows]
        query = " & ".join(f"{_quoted(stem)}:*" for stem in self.stems) or None
        values = {
            "ids": [identity for identity, _ in found],
            "contents": [content for _, content in found],
            "query": query,
            "words": self.words,
        }
        return set(connection.execute(_HOLDING, values).scalars()) if found else set()


def _quoted(lexeme: str) -> str:
    doubled = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"
