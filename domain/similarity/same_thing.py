"""Decide whether a later statement names the subject of an earlier one: "the log level of the worker"."""

import re
from functools import lru_cache
from itertools import pairwise

from slowwave_server.domain.similarity.lexicon import parts_of_speech, stem
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.topics import OF_VERSION, ROLES, is_person, read_clause

_PARTS = re.compile(r"[-/]")
_SPEAKERS = frozenset(("user", "we", "i"))
_SPOKEN = frozenset(stem(word) for word in ("instruct", "instruction", "directive"))
_OPENERS = frozenset("yes yeah yep yup ok okay oh well".split())
_NOBODY = frozenset("you your no nobody nothing it this that".split())

_CACHED = 8192  # a pass compares each statement with many others
_CERTAIN = 3
"""A subject of so many words may be named without its head: "the left eye" of "the prescription for the left eye"."""


def names_thing(older: Reading, newer: Reading) -> bool:
    """Return True if the newer statement names the thing of the older one: it contains each word of the older subject,
    which is not only a person ("Nora's allergy"), and names no other owner.
    """
    if not owners(newer) <= _words(older) or any(map(tells_of_talk, (older, newer))):
        return False
    thing = thing_of(older)
    missing, of_thing = thing - _words(newer), thing - _people(older)
    return bool(of_thing) and (not missing or (missing == {older.doer.head} and len(of_thing) >= _CERTAIN))


def lacks_thing(newer: Reading, older: Reading) -> bool:
    """Return True if the newer statement does not contain each word of the older subject: "the left eye", "the right
    eye".
    """
    return not thing_of(older) <= _words(newer)


@lru_cache(_CACHED)
def tells_of_talk(reading: Reading) -> bool:
    """Return True for an instruction, for talk about the listener or no person, and for the result of a tool's call."""
    first = next((token.lower for token in reading.tokens if token.lower not in _OPENERS), "")
    return first in _NOBODY or "_" in first or not _SPOKEN.isdisjoint(reading.stems)


def are_other_things(older: Reading, newer: Reading) -> bool:
    """Return True if the newer statement is about another owner's thing or another role."""
    known, said = _words(older), _words(newer)
    if owners(older) - said and (newer.doer.names - _SPEAKERS) - known:
        return True
    roles = thing_of(older) & ROLES
    return bool(roles - said and (ROLES & said) - known)


def give_other_values(older: Reading, newer: Reading) -> bool:
    """Return True if each gives a value that the other one lacks, of one kind, or both or neither of a version."""
    mine, its = own_kinds(older, newer), own_kinds(newer, older)
    return bool(mine and its) and (bool(mine & its) or (OF_VERSION in mine) == (OF_VERSION in its))


def rival_kinds(older: Reading, newer: Reading) -> set[str]:
    """Return the kinds of values that each gives otherwise than the other one."""
    return own_kinds(older, newer) & own_kinds(newer, older)


def own_kinds(reading: Reading, other: Reading) -> set[str]:
    """Return the kinds of values that a statement gives and the other one lacks."""
    own = read_clause(reading.text).own(read_clause(other.text), with_names=True)
    return {value.kind for value in own}


@lru_cache(_CACHED)
def owners(reading: Reading) -> frozenset[str]:
    """Return the people and the names that own something in the subject: "Nora's allergy", "my brother's car"."""
    subject = reading.tokens[reading.clause.start : reading.clause.end]
    return frozenset(
        token.stem
        for token, behind in pairwise(subject)
        if behind.kind == "possessive" and (token.kind == "name" or is_person(token))
    )


@lru_cache(_CACHED)
def _people(reading: Reading) -> frozenset[str]:
    return frozenset(token.stem for token in reading.tokens if token.kind == "name" or is_person(token))


@lru_cache(_CACHED)
def thing_of(reading: Reading) -> frozenset[str]:
    """Return the words and the numbers of the subject, or of a label ("Cache TTL: 300 seconds"); none for the speaker,
    an order, and a statement without a verb.
    """
    if reading.clause.end == len(reading.tokens):
        label, colon, _ = reading.text.partition(": ")
        return frozenset(read_clause(label).topic) if colon else frozenset()
    subject = reading.tokens[reading.clause.start : _end(reading)]
    first = subject[0] if subject else None
    if first is None or (first.lower == first.lemma and parts_of_speech(first.lemma).startswith("v")):
        return frozenset()
    numbers = frozenset(token.stem for token in subject if token.kind == "number")
    named = frozenset(token.stem for token in subject if token.kind in {"word", "name"})
    return numbers | (named & set(read_clause(reading.text).topic)) - _SPEAKERS


def _end(reading: Reading) -> int:
    """Return the end of the subject; it includes a plural before another verb: "our container images live on"."""
    end, tokens = reading.clause.end, reading.tokens
    if end + 1 < len(tokens) and tokens[end].kind == tokens[end + 1].kind == "word" and tokens[end].lower.endswith("s"):
        noun, verb = tokens[end], tokens[end + 1]
        is_noun = parts_of_speech(noun.lemma).startswith("n") and verb.lower == verb.lemma
        return end + 1 if is_noun and "v" in parts_of_speech(verb.lemma) else end
    return end


@lru_cache(_CACHED)
def _words(reading: Reading) -> frozenset[str]:
    parts = frozenset(stem(part) for token in reading.tokens for part in _PARTS.split(token.lemma))
    return parts | {token.stem for token in reading.tokens} | {stem(token.lower) for token in reading.tokens}
