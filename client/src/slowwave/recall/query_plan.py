"""Plan a search: choose the query's stems and those that select candidates, and write them as a tsquery.

A search never reads a large scope completely. Rare stems select the candidates; common stems only count for the score.
If a query has no rare stem, the candidates are documents with two or more of its common stems. If the stems are so
common that even this lookup would grow with the scope, the candidates are the newest documents of each scope that
contain any of them. So the cost of a search does not depend on the size of the scope. Up to about ten thousand
documents, a search finds the same documents as a ranking of all documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

MAX_QUESTION_CHARACTERS = 2000
MAX_TERMS = 20  # slowwave.search weighs this many; of a longer question, the rarest are kept
# Among 200,000 documents, this finds five of six of the ten best documents of a full ranking, in a third of the time.
CANDIDATE_BUDGET = 600
SHORTEST_BEGINNING = 3
# The number of index entries that may be read to find documents with several common stems: some milliseconds.
POSTINGS_BUDGET = 40_000
# The same limit without events; the index contains more events than memories, and longer ones.
MEMORY_POSTINGS_BUDGET = 120_000
# slowwave.search weighs at most this many of a kind. It would take any documents of a more common stem; the latest are
# better.
WEIGHED = 1_500
# Among the latest documents, some thousand, a stem that one in a hundred contains occurs often enough.
OFTEN = 100
# Words of one question are related: they occur together more often than by chance.
COMPANY = 4
# Thai, Hangul, Kana and Han characters and the few scripts between them.
_FIRST_WITHOUT_SPACES = "\u0e01"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query: its stem, and the stems of the same word in other languages of the reader's scopes.

    documents: the number of documents that contain a common stem; None for a rare or uncounted stem. variants: stems,
    and of German words also beginnings (">urlaub*") and pairs of stems ("strom rechnung"). aliases: for each scope,
    stems of other names that count as the word in that scope only. name: the index of the name to which the word
    belongs; None for any other word.
    """

    lexeme: str
    documents: int | None = None
    variants: tuple[str, ...] = ()
    aliases: tuple[tuple[int, tuple[str, ...]], ...] = ()
    name: int | None = None

    @property
    def lexemes(self) -> tuple[str, ...]:
        """Return the stems that count as the word in any scope."""
        also = (stem for _, stems in self.aliases for stem in stems)
        return tuple(dict.fromkeys((self.lexeme, *self.variants, *also)))

    def lexemes_in(self, scope_id: int) -> tuple[str, ...]:
        """Return the stems that count as the word in this scope."""
        also = next((stems for scope, stems in self.aliases if scope == scope_id), ())
        return tuple(dict.fromkeys((self.lexeme, *self.variants, *also)))

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Return beginnings of the words, because the stemmer may have changed the last letter (`happy`: `happi`)."""
        return tuple(
            lexeme[: max(SHORTEST_BEGINNING, len(lexeme) - 1)]
            for lexeme in self.lexemes
            if lexeme == self.lexeme or not (" " in lexeme or lexeme.endswith("*"))
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a search.

    terms: the stems that count for the score, rarest first; candidates: sets of terms; a document must contain all
    terms of one set; late: sets of terms for the newest documents of a scope; if given, `candidates` applies to
    memories only;
    fallback: the plan to use if this one finds nothing.
    """

    terms: tuple[Term, ...]
    candidates: tuple[tuple[Term, ...], ...]
    late: tuple[tuple[Term, ...], ...] = ()
    fallback: "Plan | None" = None


def number_forms(lexeme: str) -> tuple[str, ...]:
    """Return the lexemes of a whole number in a date (2026-05-07) and in an account (-7).

    Example:
        >>> number_forms("7"), number_forms("1200"), number_forms("may")
        (('-7', '-07'), ('-1200',), ())
    """
    if not (lexeme.isascii() and lexeme.isdigit()):
        return ()
    return tuple(dict.fromkeys((f"-{lexeme}", f"-{lexeme:0>2}")))


def clean_question(question: str) -> str:
    """Return the query as Postgres accepts it: no NUL, no half of a surrogate pair, at most 2,000 characters."""
    text = question[:MAX_QUESTION_CHARACTERS].replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8")


def plan(terms: Sequence[Term], documents: int) -> Plan:
    """Choose the stems for the score and for the candidates of a query over this many documents."""
    # Long words are rarer than short ones, which decides if nothing was counted.
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
    if not rest:
        return Plan(weighed, tuple(candidates))
    alone = _alone(weighed, rest[0], documents)
    if candidates:
        return Plan(weighed, tuple(candidates), fallback=alone)
    if len(rest) == 1:
        return alone
    together, held = tuple(rest[:3]), rest[0].documents or 0
    if held > POSTINGS_BUDGET:
        every = tuple((term,) for term in rest)
        return Plan(weighed, (together,) if held <= MEMORY_POSTINGS_BUDGET else (), every)
    return Plan(weighed, (together,), fallback=alone)


def _alone(weighed: tuple[Term, ...], term: Term, documents: int) -> Plan:
    """Return documents with this one common stem; the newest if there are too many, or enough contain it."""
    held = term.documents or 0
    if held > POSTINGS_BUDGET or (held > WEIGHED and held * OFTEN >= documents):
        return Plan(weighed, (), ((term,),))
    return Plan(weighed, ((term,),))


def _together(common: Sequence[Term], room: int, documents: int) -> list[tuple[Term, ...]]:
    """Return pairs of common terms, the rarest pairs first, as long as they probably fit and are cheap to look up."""
    sets: list[tuple[Term, ...]] = []
    read: set[Term] = set()
    for pair in sorted(combinations(common[:5], 2), key=lambda pair: _meeting(pair, documents)):
        room -= int(_meeting(pair, documents))
        # The index reads all entries of the rarer stem of each pair, and skips through those of the other.
        read.add(min(pair, key=lambda term: term.documents or 0))
        if room < 0 or sum(term.documents or 0 for term in read) > POSTINGS_BUDGET:
            break
        sets.append(pair)
    return sets


def _meeting(terms: Sequence[Term], documents: int) -> float:
    """Estimate how many documents contain all of these terms."""
    expected = float(max(documents, 1))
    for term in terms:
        expected *= min(1.0, (term.documents or 0) / max(documents, 1))
    return expected * COMPANY


def any_of(sets: Sequence[Sequence[Term]], scope_ids: Sequence[int]) -> str:
    """Return a tsquery as text: documents that contain all terms of one of the sets, within one of the scopes."""
    return " | ".join(
        "(" + " & ".join(_any_stem(scope_id, term) for term in terms) + ")" for scope_id in scope_ids for terms in sets
    )


def _any_stem(scope_id: int, term: Term) -> str:
    lexemes = term.lexemes_in(scope_id)
    stems = " | ".join(
        _quoted(scope_id, lexeme) if lexeme == term.lexeme else _variant(scope_id, lexeme) for lexeme in lexemes
    )
    return f"({stems})" if len(lexemes) > 1 else stems


def _variant(scope_id: int, lexeme: str) -> str:
    if " " in lexeme:
        return "(" + " & ".join(_quoted(scope_id, stem) for stem in lexeme.split()) + ")"
    if len(lexeme) > 1 and lexeme.endswith("*"):
        return _quoted(scope_id, lexeme[:-1]) + ":*"
    return _quoted(scope_id, lexeme)


def _quoted(scope_id: int, lexeme: str) -> str:
    # Inside the quotes, only the quote and the backslash have a meaning for tsquery.
    quoted = lexeme.replace("\\", "\\\\").replace("'", "''")
    # Text without spaces is indexed by pairs of characters: a single character is the first of a pair, or the end of
    # the text.
    beginning = ":*" if len(lexeme) == 1 and lexeme >= _FIRST_WITHOUT_SPACES else ""
    return f"'{scope_id}:{quoted}'{beginning}"
