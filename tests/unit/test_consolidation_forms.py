"""Statements of one form: the same words with other numbers, dates or times."""

import pytest

from slowwave_server.domain.consolidation.forms import form_of, shared_form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I keep the green ledger number 3 in drawer 3.", "I keep the green ledger number 14 in drawer 14."),
        ("Maya finished level 3 of the game.", "Maya finished level 4 of the game."),
        ("On Monday the plan is to swim 10 laps.", "On Tuesday the plan is to swim 11 laps."),
        ("The flight leaves at 14:00.", "The flight leaves at 15:30."),
    ],
)
def test_numbers_dates_and_times_leave_the_form(one: str, other: str) -> None:
    assert shared_form(one, other) is not None
    assert form_of(one) == form_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I keep the green ledger number 3 in drawer 3.", "I keep the red ledger number 4 in drawer 4."),
        ("Maya lives in Rome.", "Maya lives in Lisbon."),
        ("Maya has 3 cats.", "Maya has no cats."),
    ],
)
def test_another_word_is_another_form(one: str, other: str) -> None:
    assert shared_form(one, other) is None
