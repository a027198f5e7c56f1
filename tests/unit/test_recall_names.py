"""Which words of a query are names, which count more for the relevance."""

import pytest

from slowwave.recall.names import is_name, names_in


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Is Mia still flying to Rome with 59XX6W?", {"mia", "rome", "59xx6w"}),
        ("What did we tell anya_garcia_5901?", {"anya_garcia_5901"}),
        ("The CV is done. Where is it?", {"cv"}),
        ("and Émile's team?", {"émile", "s"}),
        ("where does she work?", set()),
    ],
)
def test_capitals_and_digits_make_a_name(query: str, names: set[str]) -> None:
    assert names_in(query) == names


def test_stems_of_a_name_belong_to_it() -> None:
    names = names_in("Was Amelia Davis's booking on May 21?")
    assert [lexeme for lexeme in ("amelia", "davi", "book", "21", "s") if is_name(lexeme, names)] == [
        "amelia",
        "davi",
        "21",
    ]
