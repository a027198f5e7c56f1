"""The year of a day that a turn names without it."""

from datetime import date

import pytest

from slowwave_server.domain.dates import mentions
from slowwave_server.domain.extraction.years import with_years

TODAY = date(2026, 7, 14)


def labels(said: str, turn: str) -> list[str]:
    return [one.label for one in with_years(mentions(said, TODAY), said, f"{turn} {said}", TODAY)]


@pytest.mark.parametrize(
    ("said", "turn", "dated"),
    [
        ("The sauna on March 28th is booked.", "Ferry: Monday, March 23rd, 2026.", ["2026-03-28"]),
        ("The sauna on March 28th is booked.", "Ferry: 2026-03-23.", ["2026-03-28"]),
        ("The sauna on March 28th is booked.", "Ferry: Monday.", ["2027-03-28"]),
        ("The sauna on March 28th is booked.", "Ferry: May 23rd, 2026.", ["2027-03-28"]),
        ("The sauna on March 28th is booked.", "Ferry: March 2, 2026 and March 4, 2025.", ["2027-03-28"]),
        ("The sauna on March 28th, 2029 is booked.", "Ferry: March 23rd, 2026.", ["2029-03-28"]),
        ("The sauna is booked.", "Ferry: March 23rd, 2026.", []),
    ],
)
def test_a_day_has_the_year_that_its_turn_states_for_the_month(said: str, turn: str, dated: list[str]) -> None:
    assert labels(said, turn) == dated


def test_a_day_of_a_stated_year_that_is_over_is_past() -> None:
    said = "The sauna on March 28th is booked."
    (day,) = with_years(mentions(said, TODAY), said, f"Ferry: March 23rd, 2026. {said}", TODAY)
    assert day.past


def test_a_day_that_the_stated_year_does_not_have_stays() -> None:
    today, said = date(2028, 1, 5), "The ferry leaves on February 29th."
    found = mentions(said, today)
    assert with_years(found, said, f"The crew came on February 2, 2027. {said}", today) == found != ()
