"""Build search vectors of loaded events, as flushes write them, from sentences that Postgres has stemmed once.

The lexemes, their weights and their frequencies equal those of slowwave.passage_search_vectors; the positions differ,
but search reads none.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import psycopg

from proof.scale.world import sentences

_STEM = (
    "SELECT t, (SELECT coalesce(array_agg(w.lexeme), '{}') FROM unnest(to_tsvector('english', t)) AS w)"
    " FROM unnest(%s::text[]) AS t"
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = "januari februari march april may june juli august septemb octob novemb decemb".split()
_SCOPE = "\0"


class Stems:
    """The stemmed words of all sentences of which events consist."""

    def __init__(self, connection: "psycopg.Connection[psycopg.rows.TupleRow]") -> None:
        self._words: Mapping[str, Sequence[str]] = dict(connection.execute(_STEM, [list(sentences())]).fetchall())
        self._parts = {
            weight: {sentence: _items(words, weight) for sentence, words in self._words.items()} for weight in "ACD"
        }

    def vectors(self, scope: int, spoken: Sequence[tuple[Sequence[str], str, datetime]]) -> Iterator[str]:
        """Return the vector of each event, in tsvector's text form. spoken: the sentences, the speaker and the time of
        each event.
        """
        before: tuple[Sequence[str], ...] = ((), ())
        for said, speaker, at in spoken:
            parts = [*self._all(said, "A"), _items(speaker.lower().split(), "A"), _date(at)]
            parts += [*self._all(before[0], "C"), *self._all(before[1], "D")]
            yield " ".join(parts).replace(_SCOPE, f"{scope}:")
            before = (said, before[0])

    def _all(self, said: Sequence[str], weight: str) -> list[str]:
        known = self._parts[weight]
        return [known[one] if one in known else _items([one], weight) for one in said]


def _items(words: Sequence[str], weight: str) -> str:
    return " ".join(f"'{_SCOPE}{word}':{place}{weight}" for place, word in enumerate(words, 1))


def _date(at: datetime) -> str:
    return _items([_DAYS[at.weekday()], str(at.day), _MONTHS[at.month - 1], str(at.year)], "B")
