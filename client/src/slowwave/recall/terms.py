"""What a question searches for: its stems, which of them name candidates, and how they are written as a tsquery.

A large scope is never read whole. Rare stems name the candidates; common ones only weigh, and where a question has
nothing rare, documents that hold two or more of its common stems are the candidates.

Must not know: the database, or what a stem is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

MAX_QUESTION_CHARACTERS = 2000
MAX_TERMS = 10  # as many as slowwave.find weighs; of a longer question the rarest are kept
# Among 200,000 documents this finds five in six of the ten that ranking everything would, in a third of the time.
CANDIDATE_BUDGET = 600
SHORTEST_BEGINNING = 3
# Words of one question keep company: they meet more often than chance would have it.
COMPANY = 4


@dataclass(frozen=True, slots=True)
class Term:
    """A stem. documents: how many documents hold it, where they are many; None where it is rare or never counted."""

    lexeme: str
    documents: int | None = None

    @property
    def beginning(self) -> str:
        """What its words begin with: the stemmer may have changed the last letter (`happy`: `happi`)."""
        return self.lexeme[: max(SHORTEST_BEGINNING, len(self.lexeme) - 1)]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to search.

    terms: what is weighed, rarest first; candidates: sets of terms, a document must hold all terms of one set;
    fallback: one more such set, for when the candidates are fewer than were asked for.
    """

    terms: tuple[Term, ...]
    candidates: tuple[tuple[Term, ...], ...]
    fallback: tuple[Term, ...] | None = None


def clean_question(question: str) -> str:
    """Answer the question as Postgres can take it: no NUL, no half of a surrogate pair, at most 2,000 characters."""
    text = question[:MAX_QUESTION_CHARACTERS].replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8")


def plan(terms: Sequence[Term], documents: int) -> Plan:
    """Choose what is weighed and who is a candidate, for stems of a question over that many documents."""
    # Long words are rarer than short ones: that settles who stays where nothing was counted.
    rare = sorted((t for t in terms if t.documents is None), key=lambda t: (-len(t.lexeme), t.lexeme))
    common = sorted((t for t in terms if t.documents is not None), key=lambda t: (t.documents, t.lexeme))
    weighed = (*rare, *common)[:MAX_TERMS]
    candidates: list[tuple[Term, ...]] = []
    room = CANDIDATE_BUDGET
    rest: list[Term] = []
    for term in weighed:
        room -= term.documents or 0
        if term.documents is None or (room >= 0 and not rest):
            candidates.append((term,))
        else:
            rest.append(term)
    taken = sum(t.documents or 0 for (t,) in candidates)
    candidates += _together(rest, CANDIDATE_BUDGET - taken, documents)
    if rest and not candidates:
        candidates.append(tuple(rest[:3]))
    return Plan(tuple(weighed), tuple(candidates), (rest[0],) if rest else None)


def _together(common: Sequence[Term], room: int, documents: int) -> list[tuple[Term, ...]]:
    """Pairs of common terms, those that meet least first, while they are likely to fit."""
    sets: list[tuple[Term, ...]] = []
    for pair in sorted(combinations(common[:5], 2), key=lambda pair: _meeting(pair, documents)):
        room -= int(_meeting(pair, documents))
        if room < 0:
            break
        sets.append(pair)
    return sets


def _meeting(terms: Sequence[Term], documents: int) -> float:
    """How many documents may hold all of these terms."""
    expected = float(max(documents, 1))
    for term in terms:
        expected *= min(1.0, (term.documents or 0) / max(documents, 1))
    return expected * COMPANY


def any_of(sets: Sequence[Sequence[Term]], scope_ids: Sequence[int]) -> str:
    """A tsquery in text form: documents that hold all terms of one of the sets, within one of the scopes."""
    return " | ".join(
        "(" + " & ".join(_quoted(scope_id, term) for term in terms) + ")" for scope_id in scope_ids for terms in sets
    )


def _quoted(scope_id: int, term: Term) -> str:
    # Inside the quotes only the quote and the backslash mean something to tsquery.
    lexeme = term.lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{scope_id}:{lexeme}'"
