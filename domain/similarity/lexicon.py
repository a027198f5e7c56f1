"""What words mean to each other: dictionary forms, synonyms, wider words, opposites. WordNet, and a list of our own.

The tables are read once, when the first text is.

Must not know: sentences.
"""

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
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-", "mis", "de")
_SHORTEST_ROOT = 4
_CACHED = 65_536


@dataclass(frozen=True, slots=True)
class Entry:
    """parts: parts of speech by frequency, of "nvar"; the words of the same sense, of wider senses, and opposites."""

    parts: str
    same: frozenset[str]
    wider: frozenset[str]
    opposite: frozenset[str]


@cache
def _table() -> tuple[dict[str, Entry], dict[str, str]]:
    entries: dict[str, Entry] = {}
    irregular: dict[str, str] = {}
    for line in _lines("wordnet.tsv"):
        if "\t" in line:
            word, parts, same, wider, opposite = line.split("\t")
            words = (frozenset(cell.split()) for cell in (same, wider, opposite))
            entries[word] = Entry(parts, *words)
        else:
            form, _, word = line.partition(" = ")
            irregular.setdefault(form, word)
    return entries, irregular


@cache
def _own_opposites() -> frozenset[tuple[str, str]]:
    pairs = set()
    for line in _lines("opposites.txt"):
        left, right = (side.split(", ") for side in line.split(" / "))
        pairs |= {(one, other) for one in left for other in right}
    return frozenset(pairs | {(other, one) for one, other in pairs})


def _lines(name: str) -> Iterator[str]:
    text = (files("domain.similarity") / name).read_text("utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


@lru_cache(_CACHED)
def lemma(word: str) -> str:
    """The dictionary form of `word` (lower case); `word` itself where none is known."""
    entries, irregular = _table()
    if word in irregular:
        return irregular[word]
    if word in entries and not word.endswith("ing"):
        return word
    for part, endings in _ENDINGS.items():
        for ending, instead in endings:
            if word.endswith(ending):
                found = entries.get(word[: -len(ending)] + instead)
                if found is not None and part in found.parts:
                    return word[: -len(ending)] + instead
    return word


@lru_cache(_CACHED)
def stem(word: str) -> str:
    """What the forms and derivations of a word have in common: "allergi" of allergic and allergies."""
    return str(Stemmer("english").stemWord(word))


def is_common_word(word: str) -> bool:
    """Whether the dictionary has `word` (lower case) in some form, so that a capital need not make it a name."""
    entries, _ = _table()
    return lemma(word) in entries


def parts_of_speech(word: str) -> str:
    """The parts of speech of a dictionary form, the most frequent first: "n", "v", "a", "r"; "" if it is unknown."""
    found = _table()[0].get(word)
    return found.parts if found else ""


@lru_cache(_CACHED)
def are_synonyms(one: str, other: str) -> bool:
    """Whether two dictionary forms can mean the same."""
    entries, _ = _table()
    return (
        one == other
        or (one in entries and other in entries[one].same)
        or (other in entries and one in entries[other].same)
    )


@lru_cache(_CACHED)
def is_kind_of(narrow: str, wide: str) -> bool:
    """Whether what `narrow` names is always what `wide` names: a flute is an instrument."""
    found = _table()[0].get(narrow)
    return found is not None and wide in found.wider


@lru_cache(_CACHED)
def are_opposites(one: str, other: str) -> bool:
    """Whether two words (lower case, as written or dictionary forms) exclude each other: open and closed."""
    entries, _ = _table()
    if (one, other) in _own_opposites() or (one in entries and other in entries[one].opposite):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST_ROOT or not long.endswith(short):
        return False
    return long[: -len(short)] in _PREFIXES and short in entries
