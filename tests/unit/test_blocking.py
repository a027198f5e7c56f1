"""Keys lead to what a statement may have to do with: few, the same everywhere, and shared by what is alike."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.blocking import MAX_CORE, MAX_KEYS, block_keys, claim_keys
from slowwave_server.domain.similarity import read

NOUNS = (
    "violin garden harbour lantern kettle bridge castle meadow turtle saddle compass orchard basket mirror candle "
    "hammer island pocket ribbon shelter"
).split()
some_words = st.lists(st.sampled_from(NOUNS), min_size=1, max_size=14, unique=True)


def keys(text: str) -> set[int]:
    return set(block_keys(read(text)))


@given(st.text(max_size=400))
def test_any_text_has_a_bounded_number_of_keys_that_a_bigint_holds(text: str) -> None:
    found = block_keys(read(text))
    assert len(found) == len(set(found)) <= MAX_KEYS
    assert all(-(2**63) <= key < 2**63 for key in found)


@given(some_words.flatmap(lambda words: st.tuples(st.just(words), st.permutations(words))))
def test_the_order_of_words_changes_no_key(orders: tuple[list[str], list[str]]) -> None:
    one, other = orders
    assert keys(" ".join(one)) == keys(" ".join(other))


@given(st.lists(st.sampled_from(NOUNS), min_size=2, max_size=MAX_CORE, unique=True), st.data())
def test_short_texts_that_are_one_word_apart_share_a_key(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    shorter = words[:place] + words[place + 1 :]
    replaced = [*shorter, "zeppelin"]
    assert keys(" ".join(words)) & keys(" ".join(shorter))
    assert keys(" ".join(words)) & keys(" ".join(replaced))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Maya works at Initech", "Maya works at Hooli"),
        ("Jonas lives in Porto", "Jonas's home is in Oslo"),
        ("Priya has two cats", "Priya has three cats"),
        ("The release is on Friday", "The release is on Monday"),
    ],
)
def test_values_of_one_attribute_meet_whatever_they_are(one: str, other: str) -> None:
    assert set(claim_keys(read(one))) & set(claim_keys(read(other)))
    assert set(claim_keys(read(one))) <= keys(one)


def test_the_same_attribute_of_somebody_else_has_another_key() -> None:
    assert not set(claim_keys(read("Maya works at Initech"))) & set(claim_keys(read("Jonas works at Initech")))


def test_long_texts_that_share_most_words_share_keys() -> None:
    long = (
        "On Sunday Maya repaired the old wooden boat of her uncle in the harbour with a borrowed drill and new screws"
    )
    other = "Maya repaired her uncle's old wooden boat in the harbour on Sunday using a borrowed drill and brass screws"
    assert len(keys(long) & keys(other)) >= 4


def test_texts_without_a_word_in_common_share_no_key() -> None:
    assert not keys("Priya repairs old violins") & keys("Deploys run every Tuesday night")
    assert keys("") == keys("the of and") == set()


def test_keys_are_the_same_in_every_process() -> None:
    text = "Maya keeps 3 turtles in Oslo"
    code = f"import json; from slowwave_server.domain.blocking import *; print(json.dumps(block_keys(read({text!r}))))"
    code = "from slowwave_server.domain.similarity import read; " + code
    for seed in ("1", "2"):
        shown = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert tuple(json.loads(shown.stdout)) == block_keys(read(text))


@pytest.mark.parametrize(
    ("file", "labels", "least"),
    [
        ("value-swaps.jsonl", {"conflict", "duplicate"}, 0.97),
        ("sick-dev.jsonl", {"contradiction"}, 0.97),
        ("sick-dev.jsonl", {"entailment"}, 0.95),
    ],
)
def test_pairs_that_people_found_alike_share_a_key(
    shared_data: Path, file: str, labels: set[str], least: float
) -> None:
    lines = (shared_data / file).read_text(encoding="utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["label"] in labels]
    assert sum(bool(keys(pair["a"]) & keys(pair["b"])) for pair in pairs) >= least * len(pairs)
