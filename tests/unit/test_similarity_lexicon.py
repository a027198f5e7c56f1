"""What words mean to each other: dictionary forms, synonyms, kinds, opposites."""

from importlib.resources import files

import pytest

from slowwave_server.domain.similarity import lexicon
from slowwave_server.domain.similarity.lexicon import (
    are_kin,
    are_opposites,
    are_synonyms,
    is_common_word,
    is_kind_of,
    lemma,
)
from tests.support.tables import for_each

OWN = [
    line.removeprefix("~ ").split(" / ")
    for line in (files("slowwave_server.domain.similarity") / "opposites.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("children", "child"),
        ("policewomen", "policewoman"),
        ("running", "run"),
        ("opened", "open"),
        ("sat", "sit"),
        ("cities", "city"),
        ("favourite", "favorite"),
        ("organised", "organize"),
        ("rent", "rent"),
        ("xyzzy", "xyzzy"),
    ],
)
def test_words_have_one_dictionary_form(word: str, expected: str) -> None:
    assert lemma(word) == expected


@for_each("sides", OWN)
def test_a_line_of_opposites_has_two_sides_that_share_no_word_and_hold_both_ways(sides: list[str]) -> None:
    left, right = (side.split(", ") for side in sides)
    assert not set(left) & set(right)
    assert all(are_opposites(one, other) and are_opposites(other, one) for one in left for other in right)


@pytest.mark.parametrize(
    ("one", "other", "of_anyone"),
    [("open", "closed", True), ("large", "small", True), ("valid", "invalid", True), ("sit", "stand", False)],
)
def test_opposites_that_only_one_and_the_same_excludes_are_marked(one: str, other: str, of_anyone: bool) -> None:
    assert are_opposites(one, other)
    assert are_opposites(one, other, of_anyone=True) is of_anyone


@pytest.mark.parametrize(
    ("one", "other"), [("table", "unstable"), ("press", "impress"), ("play", "display"), ("cat", "dog"), ("red", "red")]
)
def test_words_that_only_look_like_opposites_are_none(one: str, other: str) -> None:
    assert not are_opposites(one, other)


def test_kinds_have_a_direction_and_kin_has_none() -> None:
    assert is_kind_of("flute", "instrument")
    assert not is_kind_of("instrument", "flute")
    assert are_kin("tea", "coffee")
    assert are_kin("coffee", "tea")
    assert not are_kin("tea", "jazz")
    assert are_synonyms("big", "large")
    assert are_synonyms("large", "big")


def test_proper_nouns_are_no_common_words() -> None:
    assert is_common_word("deploys")
    assert not is_common_word("paris")
    assert not is_common_word("lindqvist")


def test_numbers_and_identifiers_leave_nothing_in_memory() -> None:
    before = lexicon._remembered_stem.cache_info().currsize, lexicon._remembered_lemma.cache_info().currsize
    for number in range(100):
        word = f"no{number}"
        assert (lexicon.stem(word), lexicon.lemma(word)) == (word, word)
    assert lexicon.stem("1990s") == "1990s"
    assert (lexicon._remembered_stem.cache_info().currsize, lexicon._remembered_lemma.cache_info().currsize) == before
