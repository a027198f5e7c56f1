"""Numbers, times and dates of two statements: compared by value, whatever their spelling and unit."""

import pytest

from slowwave_server.domain.similarity import read
from slowwave_server.domain.similarity.amounts import values_differ
from slowwave_server.domain.similarity.spoken import with_digits
from tests.support.tables import for_each


@for_each(
    ("said", "written"),
    [
        ("two hundred and twelve votes", "212 votes"),
        ("a hundred words", "100 words"),
        ("one hundred and twenty thousand", "120000"),
        ("three hundred thousand and five", "300005"),
        ("twenty five cats", "25 cats"),
        ("5.5 million rows", "5500000 rows"),
        ("two dozen eggs", "24 eggs"),
        ("an eight-hour shift", "an 8 hour shift"),
        ("20 percent", "20%"),
        ("20 Prozent", "20%"),
        ("half past three", "3:30"),
        ("half past three in the afternoon", "3:30 pm"),
        ("twelve at night", "12:00 am"),
        ("twelve in the afternoon", "12:00 pm"),
        ("thirty-one and a half kilos", "31.5 kilos"),
        ("two and a half thousand", "2500"),
        ("a quarter to nine", "8:45"),
        ("ten minutes to four", "3:50"),
        ("at five to four", "at 3:55"),
        ("nine in the evening", "9:00 pm"),
        ("ten o'clock", "10:00"),
        ("at noon", "at 12:00"),
        ("until Friday noon", "until Friday 12:00"),
        ("at 7.30 pm", "at 7:30 pm"),
        ("half an hour early", "30 minutes early"),
        ("a quarter of an hour late", "15 minutes late"),
        ("a draught of two metres ten", "a draught of 2.10 meters"),
        ("the '24 vintage", "the 2024 vintage"),
        ("3.200 Euro", "3200 Euro"),
        ("um 15 Uhr", "um 15:00"),
        ("um 15.30 Uhr", "um 15:30"),
        ("à 20h30", "à 20:30"),
        ("from 2 to 9 December", "from 2 December to 9 December"),
    ],
)
def test_numbers_and_times_are_written_in_digits(said: str, written: str) -> None:
    assert with_digits(said) == written


@pytest.mark.parametrize(
    "text",
    [
        "five to ten people came",
        "half of the team",
        "a dozen eggs",
        "seven dwarfs",
        "one-to-one",
        "the '90s",
        "3.200 km",
    ],
)
def test_other_words_of_numbers_stay(text: str) -> None:
    assert with_digits(text) == text


EQUAL = [
    ("Flight 207 is two hours late", "Flight 207 has a delay of 120 minutes"),
    ("The user weighs 80 kg", "The user's weight is about 176 pounds"),
    ("The flat has 65 square metres", "The flat has around 700 square feet"),
    ("Rain since Monday: 62 mm", "From Monday up to now it rained 6.2 centimetres"),
    ("The tracker runs 24 months", "The tracker lasts two years"),
    ("Harriet has been a nurse for two decades", "Harriet has been a nurse for twenty years"),
    ("The ticket costs $45", "The ticket costs 45 dollars"),
    ("Ling earns £90k a year", "Ling's annual pay is 90,000 pounds"),
    ("Claims are paid back at 80 %", "Salus pays back 80 percent"),
    ("Chapter 4 is done", "The fourth chapter is done"),
    ("The garage door closes at ten in the evening", "The garage door closes at 22:00"),
    ("The pick-up is at 4:30 a.m.", "The pick-up is at half past four in the morning"),
    ("Phone him from ten on", "Phone him from 10:00"),
    ("Kofi was born on 3 March", "Kofi was born on 2011-03-03"),
    ("The pass is valid until 31 December", "The pass is valid until the end of December"),
    ("Ngozi is on call from 2 to 9 December", "From December 2nd through the 9th Ngozi is on call"),
    ("The sync is on Fri", "The sync is on Fridays"),
    ("Der Kurs beginnt um 15 Uhr", "Der Kurs beginnt um 15:00"),
    ("Gold members board first", "Gold members board before all others"),
    ("The user has three kids", "The user is a parent"),
    ("Two percent of the calls fail", "2 % of the calls fail"),
    ("Seven per cent of the seats stay empty", "7% of the seats stay empty"),
    ("Two thirds of the parcels arrive late, 30 of them broken", "30 parcels broke; 66.66667 % are late"),
    ("A quarter of the staff works from home", "25 % of the staff works from home"),
    ("9 in 10 customers come back", "90 % of the customers come back"),
    ("9 out of 10 customers come back", "Ninety percent of the customers come back"),
    ("The loan runs 3 wks", "The loan runs 21 d"),
    ("The oven is at 230 °C", "The oven is at 446 °F"),
    ("The oven is at 230 degrees Celsius", "Set the oven to 230 °C"),
    ("The grant is EUR 310k", "The grant is 310,000 euros"),
    ("The bottle holds 1,5 litres", "The bottle holds 1.5 litres"),
    ("Uploads may have 30 MB", "No upload may be bigger than thirty megabytes"),
    ("Call Ines first if room 4 leaks", "If there is a leak in the room, call Ines"),
]


@for_each(("a", "b"), EQUAL)
def test_one_value_in_two_spellings_differs_in_nothing(a: str, b: str) -> None:
    assert not values_differ(read(a).tokens, read(b).tokens)
    assert not values_differ(read(b).tokens, read(a).tokens)


DIFFERENT = [
    ("Flight 207 is two hours late", "Flight 207 has a delay of 90 minutes"),
    ("The user weighs 80 kg", "The user weighs 80 pounds"),
    ("The user weighs 80 kg", "The user's weight is about 190 pounds"),
    ("The fare allows two bags", "The fare comes with one bag"),
    ("The retro lasts an hour", "The retro lasts 90 minutes"),
    ("The job runs every 5 minutes", "The job runs every 5 hours"),
    ("The ticket costs $45", "The ticket costs €45"),
    ("The share is 20", "The share is 20 %"),
    ("The stand-up is at 9:30", "The stand-up is at 10:30"),
    ("The stand-up is at 09:30", "The stand-up is at 21:30"),
    ("The call is at 9:30 am", "The call is at 9:30 pm"),
    ("The call is at half past three", "The call is at a quarter past three"),
    ("Kofi was born on 3 March", "Kofi was born on 30 March"),
    ("The change of March 28th (2027-03-28)", "The change of March 28th (2027-03-29)"),
    ("The review is on 2026-04-05", "The review is on 2026-4-1"),
    ("The sync is on Tue", "The sync is on Thursdays"),
    ("The service runs Python 3.11.2", "The service runs Python 3.11.4"),
    ("The goal is two hundred votes", "The goal is 2,000 votes"),
    ("Two percent of the calls fail", "3 % of the calls fail"),
    ("Three fifths of the budget is pay", "Half of it, 50 %, is pay"),
    ("9 in 10 customers come back", "80 % of the customers come back"),
    ("The oven is at 230 °C", "The oven is at 230 °F"),
    ("The fee is USD 40", "The fee is 40 euros"),
    ("The bottle holds 1,5 litres", "The bottle holds 15 litres"),
    ("Ana was first in the race", "In the race Ana came third"),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_two_values_differ(a: str, b: str) -> None:
    assert values_differ(read(a).tokens, read(b).tokens)
    assert values_differ(read(b).tokens, read(a).tokens)
