"""Find words, verbs with particles, and places that exclude each other, if the remaining words of both statements are
equal.
"""

from collections import Counter

from slowwave_server.domain.similarity.alignment import MOST_PAIRS, Alignment
from slowwave_server.domain.similarity.findings import Finding
from slowwave_server.domain.similarity.lexicon import are_opposites, parts_of_speech
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.tokens import Token

_OF_ONE = frozenset({"be", "prefer", "live", "work"})
"""Verbs that make their object unique."""
_DEALS = frozenset(
    frozenset(pair.split("/")) for pair in "buy/sell give/take give/receive send/receive lend/borrow".split()
)
_MOST_LEFT = 4
"""With this many words of one statement alone, places are not compared."""


def find_opposition(a: Reading, b: Reading, aligned: Alignment) -> Finding | None:
    """Return opposites among the words of only one statement: a conflict if the other words and the subject are the
    same.

    For an indefinite subject ("a man is sitting", "a man is standing") only actions count that reverse each other;
    opposites that distinguish two subjects make two facts.
    """
    left, right = list(aligned.only_a), list(aligned.only_b)
    if len(left) * len(right) > MOST_PAIRS:
        return None
    anyone = a.clause.scene or b.clause.scene or not (a.clause.definite and b.clause.definite)
    found = _opposed_phrases(a, b, left, right)
    strong = bool(found)
    acts = {words.partition(" ")[0] for words in found or ()}
    for one in tuple(left):
        for other in right:
            if not _opposed(one, other) or _from_two_sides(a, b, one, other):
                continue
            if one.stem in a.doer.stems and other.stem in b.doer.stems:
                return Finding("distinct", f"one is about {one.lower}, the other about {other.lower}")
            if _are_things(one, other) and not {a.clause.verb, b.clause.verb} <= _OF_ONE:
                continue  # a person with a son may have a daughter
            strong = strong or not anyone or (_opposed(one, other, of_anyone=True) and _is_doing(one, other))
            found = found or (one.lower, other.lower)
            acts |= {one.lemma, other.lemma}
            left.remove(one)
            right.remove(other)
            break
    if not found and a.prepositions != b.prepositions and len(left) + len(right) <= _MOST_LEFT:
        found = _opposed_places(a, b) if not left and not right else _far_and_near(a, b, left, right)
        strong = True
    if not found:
        return None
    first, second = sorted(found)
    strong = strong and not a.leans and not b.leans
    if (left or right) and a.clause.verb != b.clause.verb:
        strong = strong and {a.clause.verb, b.clause.verb} <= acts
    agree = not (left and right) and len(left) + len(right) <= (1 if anyone else 2)
    return Finding("conflict" if strong and agree else "apart", f"one says {first}, the other {second}")


def _from_two_sides(a: Reading, b: Reading, one: Token, other: Token) -> bool:
    """Return True if two subjects tell one deal: "we buy gravel from Hollis", "Hollis sells us gravel"."""
    return frozenset({one.lemma, other.lemma}) in _DEALS and a.doer.stems.isdisjoint(b.doer.stems)


def _opposed(one: Token, other: Token, *, of_anyone: bool = False) -> bool:
    if one.kind != "word" or other.kind != "word":
        return False
    as_lemmas = are_opposites(one.lemma, other.lemma)
    as_written = (one.lower, other.lower) != (one.lemma, other.lemma) and are_opposites(one.lower, other.lower)
    if not of_anyone or not (as_lemmas or as_written):
        return as_lemmas or as_written
    first, second = (one.lemma, other.lemma) if as_lemmas else (one.lower, other.lower)
    return are_opposites(first, second, of_anyone=True)


def _are_things(one: Token, other: Token) -> bool:
    return all(parts_of_speech(token.lemma)[:1] == "n" and token.lower == token.lemma for token in (one, other))


def _is_doing(one: Token, other: Token) -> bool:
    """Return True if they are verbs or adverbs; traits ("a black car") may belong to two things."""
    return all(
        parts_of_speech(token.lemma)[:1] in {"v", "r"} or token.lower.endswith(("ing", "ly")) for token in (one, other)
    )


def _opposed_phrases(a: Reading, b: Reading, left: list[Token], right: list[Token]) -> tuple[str, str] | None:
    """Compare verbs with particles to each other and to single verbs; their words are removed from the
    remaining words.
    """
    mine, its = sorted(set(a.phrases) - set(b.phrases)), sorted(set(b.phrases) - set(a.phrases))
    if not mine and not its:
        return None
    for one in (*mine, *(token.lemma for token in left)):
        for other in (*its, *(token.lemma for token in right)):
            if (" " in one or " " in other) and are_opposites(one, other):
                left[:] = [token for token in left if token.lemma != one.partition(" ")[0]]
                right[:] = [token for token in right if token.lemma != other.partition(" ")[0]]
                return one, other
    return None


def _opposed_places(a: Reading, b: Reading) -> tuple[str, str] | None:
    """Compare prepositions: up and down the hill, into and out of the water."""
    mine, its = Counter(a.prepositions), Counter(b.prepositions)
    return next(
        ((one, other) for one in mine - its for other in its - mine if are_opposites(one, other)),
        None,
    )


def _far_and_near(a: Reading, b: Reading, left: list[Token], right: list[Token]) -> tuple[str, str] | None:
    """Compare a preposition of one statement with a word of the other: near the water, far from the water."""
    for words, reading, places in ((left, a, b), (right, b, a)):
        for word in words:
            for place in Counter(places.prepositions) - Counter(reading.prepositions):
                if are_opposites(word.lemma, place):
                    words.remove(word)
                    return word.lemma, place
    return None
