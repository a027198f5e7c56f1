"""The guard: find the difference in meaning between two similar statements. It runs before every score.

It compares, in this order: the subjects, the values of an attribute, denials, opposites, exchanged parts, and a changed
word in the same frame.
"""

from itertools import pairwise

from slowwave_server.domain.similarity.alignment import Alignment
from slowwave_server.domain.similarity.amounts import are_one_measure
from slowwave_server.domain.similarity.claims import excludes
from slowwave_server.domain.similarity.exchanges import find_exchange
from slowwave_server.domain.similarity.findings import Finding
from slowwave_server.domain.similarity.lexicon import are_kin, are_synonyms, is_kind_of, lemma
from slowwave_server.domain.similarity.opposition import find_opposition
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.tokens import Token, tokenise

_MUTUAL = frozenset(
    "marri engag friend sibl colleagu partner neighbour neighbor roommat cousin meet date twin divorc".split()
)
_EXCLUSIVE = frozenset("be prefer live reside base work marry name call host belong attend cost weigh last".split())
"""Verbs for which one subject usually has one object at a time."""
_MOST_TOLD_BESIDE = 5
"""The most words that a statement may have besides the content that the other one denies."""
_MOST_TOLD_OF_A_KIND = 1
"""The same limit if the other statement denies something wider."""
_ONE_OCCASION = 2 * 24 * 3600.0
"""The most seconds between two reports of one event."""
_ONCE = frozenset("be have decide choose agree name call marry move learn adopt join graduate bear retire".split())
"""Verbs of states and of lasting results."""
_ONCE_IN_LIFE = frozenset("graduate bear die retire found establish".split())
_ENOUGH = 2
"""The number of words besides names with which a statement is complete by itself."""
_VAGUE = frozenset({"", "be", "have"})
_OWNERS = frozenset("of my our your his her their its".split())
_SAME_PARTICIPANTS = 3
_SAME_NEIGHBOURS = 0.6


def find_difference(a: Reading, b: Reading, aligned: Alignment, seconds_apart: float | None = None) -> Finding | None:
    """Return the most important difference in meaning; None if the guard allows that both mean the same.

    seconds_apart: the seconds between the times at which they were said, if known.
    """
    if a.claimed and a.claimed == b.claimed:
        return None
    return (
        _doers(a, b, aligned)
        or _values(a, b)
        or _negation(a, b, aligned)
        or find_opposition(a, b, aligned)
        or find_exchange(a, b)
        or _occasions(a, b, seconds_apart)
        or _words(a, b, aligned)
    )


def _doers(a: Reading, b: Reading, aligned: Alignment) -> Finding | None:
    one, other = a.doer, b.doer
    if one.names and other.names:
        if one.names & other.names:
            return _relatives(a, b)
        if a.names | one.names != b.names | other.names:
            return Finding("subjects", f"one is about {_spoken(one.names)}, the other about {_spoken(other.names)}")
        return _swapped(a, b, aligned)
    if not one.head or not other.head or one.stems & other.stems or _alike(one.head, other.head):
        return None
    if one.head in b.stems and other.head in a.stems and a.clause.passive == b.clause.passive:
        return _swapped(a, b, aligned)
    return None


def _swapped(a: Reading, b: Reading, aligned: Alignment) -> Finding | None:
    """Find two roles that are swapped: "Maya manages Jonas", "Jonas manages Maya".

    With another verb, each may say the same from its side: "Maya chairs the meeting", "the meeting has Maya as chair".
    """
    other_form = a.clause.existential or b.clause.existential or a.polarity.denied != b.polarity.denied
    if other_form or not _MUTUAL.isdisjoint(a.stems):
        return None
    same_verb = a.clause.verb == b.clause.verb and a.clause.verb not in _VAGUE
    if a.clause.verb != b.clause.verb and (a.clause.verb in _VAGUE) != (b.clause.verb in _VAGUE):
        return None
    if aligned.only_a and aligned.only_b and not same_verb:
        return None
    return Finding("distinct", "the roles are swapped")


def _relatives(a: Reading, b: Reading) -> Finding | None:
    """Compare relatives: Maya and Maya's sister are two people, unless both statements mention the sister."""
    one, other = a.doer, b.doer
    owned = {
        reading.doer.head for reading in (a, b) if reading.doer.head not in reading.doer.names and _has_owner(reading)
    }
    if len(owned) == 1 and one.head != other.head and any(_is_being(head) for head in owned):
        without = b if one.head in owned else a
        if any(_alike(token.lemma, lemma(next(iter(owned)))) for token in without.content if token.kind == "word"):
            return None
        return Finding("subjects", f"only one is about somebody's {next(iter(owned))}")
    return None


def _has_owner(reading: Reading) -> bool:
    """Return True for "Maya's sister" and "a sister of Maya", but not for "supplier for gravel"."""
    subject = reading.tokens[reading.clause.start : reading.clause.end]
    return any(token.kind == "possessive" or token.lower in _OWNERS for token in subject)


def _is_being(head: str) -> bool:
    return is_kind_of(head, "person") or is_kind_of(head, "animal") or is_kind_of(head, "relative")


def _alike(one: str, other: str) -> bool:
    return are_synonyms(one, other) or is_kind_of(one, other) or is_kind_of(other, one)


def _spoken(names: frozenset[str]) -> str:
    return " and ".join("the user" if name == "user" else name.capitalize() for name in sorted(names))


def _values(a: Reading, b: Reading) -> Finding | None:
    for one in a.claims:
        for other in b.claims:
            if excludes(one, other):
                if are_one_measure(tokenise(one.object_text), tokenise(other.object_text)):
                    continue
                if {one.value, other.value} == {"yes", "no"}:
                    return Finding("conflict", "only one is negated", one)
                first, second = sorted((one.object_text, other.object_text))
                return Finding("conflict", f"{one.attribute}: one says {first}, the other {second}", one)
    return None


def _negation(a: Reading, b: Reading, aligned: Alignment) -> Finding | None:
    if a.polarity.denied == b.polarity.denied:
        return _absence(a, b, aligned)
    denied_only, denied_narrower, told_only = (
        (aligned.only_a, aligned.narrower_a, aligned.only_b)
        if a.polarity.denied
        else (aligned.only_b, aligned.narrower_b, aligned.only_a)
    )
    if _same_scene(a, b, aligned) and len(denied_only) == 1 and _is_act(denied_only[0]):
        denied_only = () if any(map(_is_act, told_only)) else denied_only
    # The denied thing must equal the other statement's thing or be wider: a person who plays a flute plays an
    # instrument.
    of_a_kind = (aligned.narrower_a or aligned.narrower_b) and not (a.clause.scene and b.clause.scene)
    most_told = _MOST_TOLD_OF_A_KIND if of_a_kind else _MOST_TOLD_BESIDE
    if denied_only or denied_narrower or len(told_only) > most_told or not _says_enough(a, b):
        return Finding("apart", "only one is negated, of something else")
    if a.tokens[0].lemma == "some" == b.tokens[0].lemma:
        return Finding("apart", "some do and some do not")
    return Finding("conflict", "only one is negated", next(iter(a.claims), None))


def _says_enough(a: Reading, b: Reading) -> bool:
    """Return True if each statement alone says enough to contradict the other or to equal it."""
    lightest = min(a.weight, b.weight)
    if lightest >= _ENOUGH:
        return True
    if lightest == 0 or a.leans or b.leans:
        return False
    extra = a.distinct_stems ^ b.distinct_stems
    return len(extra) <= _ENOUGH and a.doer.stems == b.doer.stems and a.clause.verb == b.clause.verb


def _same_scene(a: Reading, b: Reading, aligned: Alignment) -> bool:
    """Return True if two scenes have so much in common that their verbs name the same act."""
    return a.clause.scene and b.clause.scene and aligned.shared >= _SAME_PARTICIPANTS


def _is_act(token: Token) -> bool:
    return token.lower.endswith("ing")


def _absence(a: Reading, b: Reading, aligned: Alignment) -> Finding | None:
    missing = a.polarity.without ^ b.polarity.without
    if not missing:
        return None
    reason = f"one is without {' and '.join(sorted(missing))}"
    same = not aligned.only_a and not aligned.only_b
    return Finding("conflict" if same else "apart", reason)


def _words(a: Reading, b: Reading, aligned: Alignment) -> Finding | None:
    only_a, only_b = aligned.only_a, aligned.only_b
    if not only_a and not only_b and not _same_order(a.order, b.order) and _MUTUAL.isdisjoint(a.stems):
        return Finding("differs", "the same words in another order")
    if not only_a or not only_b:
        extra = (*only_a, *only_b, *aligned.narrower_a, *aligned.narrower_b)
        if not extra:
            return None if _says_enough(a, b) else Finding("differs", "both say too little")
        return Finding("differs", "only one speaks of " + ", ".join(token.text for token in extra[:3]))
    told = [token for token in (*only_a, *only_b) if token.kind != "word"]
    if a.clause.definite and b.clause.definite:
        exact = all(token.kind in {"number", "date", "time"} for token in told)
        if len(only_a) == len(only_b) and (len(only_a) == 1 or (exact and len(told) == 2 * len(only_a))):
            return _slot(a, b, only_a[0], only_b[0])
    if told:
        return Finding("apart", f"only one speaks of {told[0].text}")
    first, second = sorted((only_a[0].text, only_b[0].text))
    return Finding("differs", f"one speaks of {first}, the other of {second}")


def _same_order(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return True if most words have the same neighbours: "in the morning she …" may move, adjectives may not."""
    both = set(a) & set(b)
    one, other = ([stem for stem in stems if stem in both] for stems in (a, b))
    mine, its = set(pairwise(one)), set(pairwise(other))
    return 2 * len(mine & its) >= _SAME_NEIGHBOURS * (len(mine) + len(its))


def _slot(a: Reading, b: Reading, one: Token, other: Token) -> Finding:
    """Find the same frame with one changed word, about a definite subject."""
    first, second = sorted((one.text, other.text))
    reason = f"one says {first}, the other {second}"
    kinds = {one.kind, other.kind}
    if a.leans or b.leans or one.stem in a.doer.stems or other.stem in b.doer.stems:
        return Finding("apart", reason)
    again = {a.clause.verb, b.clause.verb}.isdisjoint(_ONCE_IN_LIFE)
    if kinds <= {"date", "time"} and _tells_past(a) and _tells_past(b) and again:
        return Finding("distinct", f"on different occasions: {reason}")
    if kinds == {"number"} or kinds <= {"date", "time"}:
        return Finding("conflict", reason)
    if a.clause.scene or b.clause.scene:
        return Finding("differs", reason)
    verbs = {a.clause.verb, b.clause.verb}
    rivals = kinds == {"name"} or are_kin(one.lemma, other.lemma)
    exclusive = (
        rivals and (verbs <= _EXCLUSIVE or (a.clause.state and b.clause.state)) and a.prepositions == b.prepositions
    )
    return Finding("conflict" if exclusive else "apart", reason)


def _occasions(a: Reading, b: Reading, seconds_apart: float | None) -> Finding | None:
    """Separate occasions: a past event that was told on two days may have happened twice."""
    if seconds_apart is None or abs(seconds_apart) < _ONE_OCCASION or a.dates or b.dates:
        return None
    if not (_tells_past(a) and _tells_past(b)) or not {a.clause.verb, b.clause.verb}.isdisjoint(_ONCE):
        return None
    return Finding("apart", "told on different days: it may have happened twice")


def _tells_past(reading: Reading) -> bool:
    """Return True if the statement tells a past event that may happen again on another day."""
    verb = reading.clause.verb
    token = next((token for token in reading.tokens[reading.clause.end :] if token.lemma == verb), None)
    return token is not None and token.lower not in {verb, "is"} and not token.lower.endswith(("s", "ing"))
