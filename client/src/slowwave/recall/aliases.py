"""Add the aliases of a query's words to its terms. An alias counts only in the scope that knows it (I8)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slowwave.recall.query_plan import Term


def with_aliases(terms: Iterable[Term], found: Iterable[Mapping[str, Any]]) -> tuple[Term, ...]:
    """Add the aliases of a query's words to its terms. found: rows of slowwave.alias_terms.

    A term with two slots occurs twice in the result, each time with other aliases, so that an alias of two words weighs
    as much as the word that it replaces.
    """
    slots: dict[str, dict[int, dict[int, tuple[str, ...]]]] = {}
    documents: dict[tuple[str, int], int] = {}
    for one in found:
        by_scope = slots.setdefault(one["lexeme"], {}).setdefault(one["slot"], {})
        by_scope[one["scope"]] = tuple(one["lexemes"])
        key = one["lexeme"], one["slot"]
        documents[key] = documents.get(key, 0) + int(one["documents"] or 0)
    answer: list[Term] = []
    for term in terms:
        known = slots.get(term.lexeme, {})
        answer += [
            replace(
                term,
                documents=(term.documents or 0) + documents[term.lexeme, slot] or None,
                aliases=tuple(sorted(by_scope.items())),
            )
            for slot, by_scope in sorted(known.items())
        ] or [term]
    return tuple(answer)
