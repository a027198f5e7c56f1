"""Search: memories and raw events of the reader's scopes in one ranked list.

    scopes.sql   names → scopes that exist, stems of the question, which of them are common
    terms.py     which stems name candidates
    search_text.sql     candidates, ranked by slowwave.search_text (a function in the database), with text and origin
    search_hybrid.sql   the same by words and by the vector of the question, if it has one (slowwave.search_hybrid)
    hits.py      what was said once is shown once

Must not know: who asks, or what the answer is for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.errors import InvalidQuery, shown
from slowwave.recall.hits import Hit, choose, hit_of
from slowwave.recall.questions import QuestionVector
from slowwave.recall.scopes import Reader, scope_label
from slowwave.recall.steps import Query, Row, Steps, statement
from slowwave.recall.terms import Plan, Term, any_of, clean_question, plan

MAX_LIMIT = 100

_SCOPES = statement("scopes")
_FIND = statement("search_text")
_FIND_HYBRID = statement("search_hybrid")


@dataclass(frozen=True, slots=True)
class Library:
    """What a reader may read: its scopes that exist, by id, with their labels; and the stems of its question.

    documents: how many they hold; mean_length: in lexemes, None where nobody has counted.
    """

    labels: dict[int, str | None]
    documents: int
    mean_length: float | None
    terms: tuple[Term, ...]


def library_steps(reader: Reader, question: str) -> Steps[Library]:
    """Look up the reader's scopes and the stems of a question. Unknown scopes are left out."""
    kinds, names = zip(*reader.scopes, strict=True)
    (row,) = yield Query(
        _SCOPES,
        {"tenant": reader.tenant, "kinds": list(kinds), "names": list(names), "question": clean_question(question)},
    )
    scopes: list[Row] = row["scopes"] or []
    counted = [scope for scope in scopes if scope["mean_length"]]
    documents = sum(scope["documents"] for scope in counted)
    variants: dict[str, list[str]] = row["variants"] or {}
    return Library(
        labels={scope["id"]: scope_label(scope["kind"], scope["name"]) for scope in scopes},
        documents=sum(scope["documents"] for scope in scopes),
        mean_length=sum(s["mean_length"] * s["documents"] for s in counted) / documents if documents else None,
        terms=tuple(Term(lexeme, held, tuple(variants.get(lexeme, ()))) for lexeme, held in row["terms"] or ()),
    )


def check_question(question: str, limit: int) -> None:
    """Raise `InvalidQuery` unless these can be asked."""
    if not isinstance(question, str):
        raise InvalidQuery(f"query: text is meant, not {type(question).__name__}")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InvalidQuery(f"limit: a number from 1 to {MAX_LIMIT} is meant, not {shown(limit)}")


def search_steps(
    reader: Reader,
    question: str,
    *,
    limit: int = 10,
    include_review: bool = False,
    vector: QuestionVector | None = None,
) -> Steps[list[Hit]]:
    """Find what answers the question, best first. Raises `InvalidQuery`."""
    check_question(question, limit)
    if not isinstance(include_review, bool):
        raise InvalidQuery(f"include_review: true or false is meant, not {shown(include_review)}")
    library = yield from library_steps(reader, question)
    return (yield from find_steps(library, limit=limit, review=include_review, vector=vector))


def find_steps(
    library: Library, *, limit: int, events: bool = True, review: bool = False, vector: QuestionVector | None = None
) -> Steps[list[Hit]]:
    """Rank what the library holds by its question; events False: memories alone; review: also those in review.

    vector: the question's, to rank by words and vectors together. Without scopes there is nothing to find, and without
    a vector no more without a word that means anything: then nothing is asked.
    """
    if not library.labels or not (library.terms or vector):
        return []
    chosen = plan(library.terms, library.documents)
    kinds = {"events": events, "review": review}
    rows = yield _asked(_find(library, chosen, kinds, limit), vector)
    if not rows and chosen.fallback:
        # Nothing holds a rare word or two common ones together: what holds one common word is better than nothing.
        rows = yield _find(library, chosen.fallback, kinds, limit)
    return [hit_of(row, row["score"], library.labels) for row in choose(rows, limit)]


def _asked(by_words: Query, vector: QuestionVector | None) -> Query:
    if vector is None:
        return by_words
    # As text: psycopg would take two milliseconds for a list. Postgres refuses what is too small for a real.
    numbers = f"{{{','.join(str(round(x, 7)) for x in vector.vector)}}}"
    return Query(_FIND_HYBRID, {**by_words.values, "model": vector.model, "question": numbers})


def _find(library: Library, chosen: Plan, kinds: Mapping[str, bool], limit: int) -> Query:
    scope_ids = sorted(library.labels)
    values: dict[str, Any] = {
        "scopes": scope_ids,
        "any": any_of(chosen.candidates, scope_ids),
        "late": any_of(chosen.late, scope_ids) or None,
        "terms": [any_of([(term,)], scope_ids) for term in chosen.terms],
        "held": [term.documents for term in chosen.terms],
        "beginnings": [beginning for term in chosen.terms for beginning in term.beginnings],
        "documents": library.documents,
        "mean_length": library.mean_length,
        **kinds,
        # More than asked for where events and memories may turn out to say the same.
        "limit": limit * 2 + 5 if kinds["events"] else limit,
    }
    return Query(_FIND, values)
