"""Select memories that contain some words: a filter of lists, not a ranked search.

Words are stemmed as the search stems them, in the languages of the scope. For each of them, a memory must contain a
word that begins with its stem. If no stem is left ("who?", a sign), the text itself must contain the query.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

LONGEST = 200
"""The largest number of characters of a query that are used."""
_LANGUAGES = text("SELECT slowwave.scope_languages(CAST(:scopes AS bigint[]))")
_STEMS = text("SELECT t.lexemes FROM slowwave.question_terms(:words, CAST(:languages AS text[])) AS t ORDER BY 1")
_HOLDING = text(
    "SELECT x.id FROM unnest(CAST(:ids AS uuid[]), CAST(:contents AS text[])) AS x (id, content) WHERE CASE"
    " WHEN CAST(:query AS text) IS NULL THEN strpos(lower(x.content), lower(:words)) > 0"
    " ELSE slowwave.search_vector(x.content, 40000, slowwave.guess_language(x.content, CAST(:languages AS text[])))"
    " @@ CAST(:query AS tsquery) END"
)


@dataclass(frozen=True, slots=True)
class TextFilter:
    """A query in a scope, and its remaining words, each with its stems in the scope's languages."""

    scope_id: int
    words: str
    languages: tuple[str, ...]
    stems: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, connection: Connection, scope_id: int, words: str) -> "TextFilter":
        """Parse words that a person typed."""
        asked = words.replace("\0", "").strip()[:LONGEST]
        languages, stems = _terms(connection, [scope_id], asked)
        return cls(scope_id, asked, languages, stems)

    def condition(self) -> str:
        """Return the SQL condition for memories `m` of the scope that contain the words; one index serves it (I8)."""
        if not self.stems:
            return "strpos(lower(m.content), lower(%(words)s)) > 0"
        return "m.search @@ CAST(%(words)s AS tsquery)"

    def value(self) -> str:
        """Return the parameter `words` of the condition."""
        # Lexemes carry their scope, and only a memory's own text counts: weight A.
        return self._query(f"{self.scope_id}:", ":*A") if self.stems else self.words

    def holding(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> set[UUID]:
        """Return the ids of the given rows whose `content` contains the words; the rows differ from the table's."""
        found = [(row["id"], row["content"]) for row in rows]
        values = {
            "ids": [identity for identity, _ in found],
            "contents": [content for _, content in found],
            "query": self._query("", ":*") if self.stems else None,
            "words": self.words,
            "languages": list(self.languages),
        }
        return set(connection.execute(_HOLDING, values).scalars()) if found else set()

    def _query(self, prefix: str, suffix: str) -> str:
        return _conjunction(self.stems, prefix, suffix)


def quick_query(connection: Connection, scopes: Sequence[int], words: str) -> str | None:
    """Return the tsquery of `Memory.search` for words in these scopes; None without a stem or a scope."""
    asked = words.replace("\0", "").strip()[:LONGEST]
    if not asked or not scopes:
        return None
    _, stems = _terms(connection, scopes, asked)
    if not stems:
        return None
    return " | ".join(f"({_conjunction(stems, f'{scope}:', ':*A')})" for scope in scopes)


def _terms(
    connection: Connection, scopes: Sequence[int], words: str
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the languages of some scopes, and the stems of each word in them."""
    languages = connection.execute(_LANGUAGES, {"scopes": list(scopes)}).scalar_one()
    found = connection.execute(_STEMS, {"words": words, "languages": languages}).scalars()
    return tuple(languages), tuple(map(tuple, found))


def _conjunction(stems: tuple[tuple[str, ...], ...], prefix: str, suffix: str) -> str:
    words = (" | ".join(_quoted(prefix + stem) + suffix for stem in one) for one in stems)
    return " & ".join(f"({word})" for word in words)


def _quoted(lexeme: str) -> str:
    doubled = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"
