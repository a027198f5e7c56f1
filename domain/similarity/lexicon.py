"""Relations between words: dictionary forms, synonyms, wider words, opposites. The data is WordNet and Slowwave's own
list.

The tables are loaded once, with the first text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from Stemmer import Stemmer

_ENDINGS = {
    "n": (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("ies", "y")),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e"), ("ier", "y"), ("iest", "y")),
}
_PREFIXES = {"un": "av", "in": "a", "im": "a", "ir": "a", "il": "a", "dis": "a", "non": "a", "non-": "a"}
"""With the parts of speech that they negate: "impress" is not the opposite of the verb "press"."""
_OUR = re.compile(r"\b(fav|col|neighb|flav|behavi|hon|lab|rum|hum|harb|vap)our")
_ISE = re.compile(r"is(e|ed|es|ing)$")
_SPELLINGS = {
    "centre": "center", "theatre": "theater", "metre": "meter", "litre": "liter", "fibre": "fiber", "grey": "gray",
    "programme": "program", "cheque": "check", "tyre": "tire", "pyjamas": "pajamas", "licence": "license",
    "defence": "defense", "cosy": "cozy", "mum": "mom",
}  # fmt: skip
_SHORTEST_ROOT = 4
_CACHED = 65_536
_NEAR = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry. parts: parts of speech by frequency, of "nvarp" (p: a proper noun); the other fields: words of the same
    senses, and opposites.

    wider: the words of wider senses, the nearest first.
    """

    parts: str
    same: tuple[str, ...]
    wider: tuple[str, ...]
    opposite: tuple[str, ...]


@cache
def _lines_by_word() -> tuple[dict[str, str], dict[str, str]]:
    words: dict[str, str] = {}
    irregular: dict[str, str] = {}
    for line in _lines("wordnet.tsv"):
        word, tab, rest = line.partition("\t")
        if tab:
            words[word] = rest
        else:
            form, _, word = line.partition(" = ")
            irregular.setdefault(form, word)
    return words, irregular


@lru_cache(_CACHED)
def _entry(word: str) -> Entry | None:
    line = _lines_by_word()[0].get(word)
    if line is None:
        return None
    parts, same, wider, opposite = line.split("\t")
    return Entry(parts, tuple(same.split()), tuple(wider.split()), tuple(opposite.split()))


@cache
def _own_opposites() -> dict[tuple[str, str], bool]:
    """Return pairs of words, in both directions, with True if they exclude each other only for a definite subject."""
    pairs: dict[tuple[str, str], bool] = {}
    for line in _lines("opposites.txt"):
        left, right = (side.split(", ") for side in line.removeprefix("~ ").split(" / "))
        both = ((one, other) for one in left for other in right)
        pairs |= {pair: line.startswith("~") for one, other in both for pair in ((one, other), (other, one))}
    return pairs


@cache
def _kinds() -> dict[str, str]:
    kinds: dict[str, str] = {}
    for line in _lines("kinds.txt"):
        kind, _, names = line.partition(": ")
        kinds |= dict.fromkeys(names.split(", "), kind)
    return kinds


def kind_of_name(name: str) -> str:
    """Return the kind of a well-known name (lower case): "database" for mysql; "" for an unknown name."""
    return _kinds().get(name, "")


def _lines(name: str) -> Iterator[str]:
    text = (files("slowwave_server.domain.similarity") / name).read_text("utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def lemma(word: str) -> str:
    """Return the dictionary form of `word` (lower case), or `word` itself if none is known."""
    return _remembered_lemma(word) if word.isalpha() else _lemma(word)


def _lemma(word: str) -> str:
    words, irregular = _lines_by_word()
    word = american(word)
    if word in irregular:
        return irregular[word]
    if word in words and not word.endswith(("ing", "ed")):
        return word
    if word.endswith("men") and word not in words:
        return word[:-2] + "an"  # policewomen
    for part, endings in _ENDINGS.items():
        for ending, instead in endings:
            if word.endswith(ending) and part in parts_of_speech(base := word[: -len(ending)] + instead):
                return base
    return word


# Words repeat, but numbers and identifiers rarely do: caching them would fill a worker's memory within weeks.
_remembered_lemma = lru_cache(_CACHED)(_lemma)


def american(word: str) -> str:
    """Return the American spelling of a word with two spellings."""
    if "our" in word:
        return _OUR.sub(r"\1or", word)
    if word.endswith(("ise", "ised", "ises", "ising", "isation")):
        other = word[:-7] + "ization" if word.endswith("isation") else _ISE.sub(r"iz\1", word)
        return other if other.removesuffix("d").removesuffix("s") in _lines_by_word()[0] else word
    return _SPELLINGS.get(word, word)


def stem(word: str) -> str:
    """Return the common stem of a word's forms and derivations: "allergi" of allergic and allergies."""
    return _remembered_stem(word) if word.isalpha() else _stem(word)


def _stem(word: str) -> str:
    return str(Stemmer("english").stemWord(word))


_remembered_stem = lru_cache(_CACHED)(_stem)


def is_common_word(word: str) -> bool:
    """Return True if the dictionary has `word` (lower case) in some form, so that a capital does not prove a name."""
    return parts_of_speech(lemma(word)) not in {"", "p"}


def parts_of_speech(word: str) -> str:
    """Return the parts of speech of a dictionary form, the most frequent first, of "nvarp"; "" if it is unknown."""
    found = _entry(word)
    return found.parts if found else ""


@lru_cache(_CACHED)
def are_synonyms(one: str, other: str) -> bool:
    """Return True if two dictionary forms can mean the same."""
    mine, its = _entry(one), _entry(other)
    return one == other or (mine is not None and other in mine.same) or (its is not None and one in its.same)


@lru_cache(_CACHED)
def is_kind_of(narrow: str, wide: str) -> bool:
    """Return True if every `narrow` is a `wide`: a flute is an instrument."""
    found = _entry(narrow)
    return found is not None and wide in found.wider


@lru_cache(_CACHED)
def are_kin(one: str, other: str) -> bool:
    """Return True if two words name two kinds of the same thing: red and blue are colours, tea and coffee drinks."""
    mine, its = _entry(one), _entry(other)
    if mine is None or its is None or one == other:
        return False
    return not set(mine.wider[:_NEAR]).isdisjoint(its.wider[:_NEAR])


def wider_words(word: str) -> tuple[str, ...]:
    """Return the wider words of a dictionary form, the nearest first; empty if it is unknown."""
    found = _entry(word)
    return found.wider if found else ()


@lru_cache(_CACHED)
def are_opposites(one: str, other: str, *, of_anyone: bool = False) -> bool:
    """Return True if two words (lower case, dictionary forms or as written) exclude each other: open and closed.

    of_anyone: True to count only pairs that also exclude each other for an indefinite subject; "a dog is running" and
    "a dog is standing" do not.
    """
    own = _own_opposites().get((one, other))
    if own is not None:
        return not (own and of_anyone)
    mine, its = _entry(one), _entry(other)
    if mine is not None and other in mine.opposite:
        return True
    short, long, root = (one, other, mine) if len(one) < len(other) else (other, one, its)
    if len(short) < _SHORTEST_ROOT or not long.endswith(short):
        return False
    turned = _PREFIXES.get(long[: -len(short)], "")
    return root is not None and any(part in root.parts for part in turned)
