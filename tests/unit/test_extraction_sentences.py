"""Sentences: where one ends, and that hostile text is cut in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.sentences import MAX_SENTENCE, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Dr. Okafor. She runs it.", ["I met Dr. Okafor.", "She runs it."]),
        ("We need e.g. tea. Then go.", ["We need e.g. tea.", "Then go."]),
        ("It opens at 9 a.m. on Jan. 5 as always.", ["It opens at 9 a.m. on Jan. 5 as always."]),
        ("It closed at 5 p.m. Nobody came.", ["It closed at 5 p.m.", "Nobody came."]),
        ("Ask J. Okafor about it.", ["Ask J. Okafor about it."]),
        ("Nobody saw what I did. We left.", ["Nobody saw what I did.", "We left."]),
        ("I was, well ... tired of it.", ["I was, well ... tired of it."]),
        ("I waited... Then she came.", ["I waited...", "Then she came."]),
        ("Not really.We left early.", ["Not really.", "We left early."]),
        ("Version 3.11 works! Really?", ["Version 3.11 works!", "Really?"]),
        ("- buy milk\n- call Priya", ["buy milk", "call Priya"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


def test_two_statements_about_the_speaker_come_one_by_one() -> None:
    assert list(sentences("I teach maths at school, and I have two old dogs")) == [
        "I teach maths at school.",
        "I have two old dogs",
    ]


def test_a_clause_that_depends_on_another_stays_with_it() -> None:
    whole = "When I am tired and I have no time I order food."
    assert list(sentences(whole)) == [whole]


def test_a_statement_is_parted_from_the_question_behind_it() -> None:
    assert list(sentences("I have two dogs, do you have any pets?")) == ["I have two dogs.", "do you have any pets?"]


def test_an_endless_sentence_is_cut_at_a_space_and_marked() -> None:
    (cut,) = sentences("word " * 500)
    assert len(cut) <= MAX_SENTENCE + 2
    assert cut.endswith("word …")


def test_an_unbroken_run_is_data_and_no_sentence() -> None:
    assert list(sentences("x" * 5000)) == []


@given(st.text())
def test_any_text_gives_trimmed_sentences_made_of_its_words(text: str) -> None:
    for sentence in sentences(text):
        assert sentence == sentence.strip() != ""
        assert "\n" not in sentence


@pytest.mark.parametrize("junk", ["!", "! ", ".a", "a.", "...\n", "((", "a ", "I and I ", "'\"", "e.g. ", ", do you"])
def test_hostile_text_is_cut_in_bounded_time(junk: str) -> None:
    text = junk * (100_000 // len(junk)) + "a"
    began = time.process_time()
    count = sum(1 for _ in sentences(text))
    assert count <= len(text)
    assert time.process_time() - began < 5


def test_a_line_break_amid_a_sentence_of_a_mail_ends_nothing() -> None:
    mail = "We use one antenna to bring the network to everyone in the house and\nthe other one to let them in.\nDave"
    assert list(sentences(mail)) == [
        "We use one antenna to bring the network to everyone in the house and the other one to let them in.",
        "Dave",
    ]


def test_a_number_of_a_list_is_no_sentence() -> None:
    assert list(sentences("1. Vendor the module.\n2. Use SSH.")) == ["Vendor the module.", "Use SSH."]
