"""Which words of a query are names, which count more for the relevance."""

import pytest

from slowwave.recall.names import name_of, names_in


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Is Mia still flying to Rome with 59XX6W?", [{"mia"}, {"rome"}, {"59xx6w"}]),
        ("What did we tell anya_garcia_5901?", [{"anya_garcia_5901"}]),
        ("The CV is done. Where is it?", [{"cv"}]),
        ("and Émile's team?", [{"émile", "s"}]),
        ("What did Amelia Rossi tell Maya's Aunt Lin?", [{"amelia", "rossi"}, {"maya", "s"}, {"aunt", "lin"}]),
        ("from San Francisco, Rome and JFK on May 18", [{"san", "francisco"}, {"rome"}, {"jfk"}, {"may", "18"}]),
        ("where does she work?", []),
    ],
)
def test_capitals_and_digits_make_a_name(query: str, names: list[set[str]]) -> None:
    assert names_in(query) == names


def test_stems_of_a_name_belong_to_it() -> None:
    names = names_in("Was Amelia Davis's booking on May 21?")
    lexemes = ("amelia", "davi", "book", "21", "s", "-07")
    assert [name_of(lexeme, names) for lexeme in lexemes] == [0, 0, None, 1, None, 2]
    assert [name_of(lexeme, names_in("from Miami to Mia")) for lexeme in ("mia", "miami")] == [1, 0]
