"""Dates in words: exact as they were said, against the day of speech, wherever the text comes from."""

import time
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.dates import annotate, local_day, mentions
from tests.support.tables import for_each

MONDAY = date(2023, 5, 8)


def told(text: str, today: date = MONDAY) -> str:
    return annotate(text, mentions(text, today))


@for_each(
    ("text", "dated"),
    [
        ("I left yesterday.", "I left yesterday (2023-05-07)."),
        ("Last night I slept", "Last night (2023-05-07) I slept"),
        ("the day before yesterday", "the day before yesterday (2023-05-06)"),
        ("we fly tomorrow", "we fly tomorrow (2023-05-09)"),
        ("three days ago", "three days ago (2023-05-05)"),
        ("last Friday it broke", "last Friday (2023-05-05) it broke"),
        ("this Friday we go", "this Friday (2023-05-12) we go"),
        ("next Friday we go", "next Friday (2023-05-19) we go"),
        ("two Fridays ago", "two Fridays ago (2023-04-28)"),
        ("last week", "last week (week of 2023-05-01)"),
        ("last weekend", "last weekend (weekend of 2023-05-06)"),
        ("two weekends ago", "two weekends ago (weekend of 2023-04-29)"),
        ("a couple of weeks ago", "a couple of weeks ago (week of 2023-04-24)"),
        ("we camped this weekend", "we camped this weekend (weekend of 2023-05-06)"),
        ("we will camp this weekend", "we will camp this weekend (weekend of 2023-05-13)"),
        ("next month", "next month (2023-06)"),
        ("four months ago", "four months ago (2023-01)"),
        ("last year", "last year (2022)"),
        ("we moved the fair to 3 June", "we moved the fair to 3 June (2023-06-03)"),
        ("the court rescheduled it to May 20th", "the court rescheduled it to May 20th (2023-05-20)"),
        ("we moved to Lund on 3 December", "we moved to Lund on 3 December (2022-12-03)"),
        ("10 years ago", "10 years ago (2013)"),
        ("in two years", "in two years (2025)"),
        ("last summer", "last summer (summer 2022)"),
        ("last winter", "last winter (winter 2022/2023)"),
        ("last May", "last May (2022-05)"),
        ("next May", "next May (2024-05)"),
        ("we leave on 3 June", "we leave on 3 June (2023-06-03)"),
        ("we met on May 5, 2021", "we met on May 5, 2021 (2021-05-05)"),
        ("it is due on 30 June.", "it is due on 30 June (2023-06-30)."),
        ("the 3rd of June 2022", "the 3rd of June 2022 (2022-06-03)"),
        ("on Friday I was ill", "on Friday (2023-05-05) I was ill"),
        ("on Friday I will rest", "on Friday (2023-05-12) I will rest"),
    ],
)
def test_a_date_in_words_gets_its_date_and_keeps_its_words(text: str, dated: str) -> None:
    assert told(text) == dated


@pytest.mark.parametrize(
    "text",
    [
        "on Mondays",
        "on Friday's menu",
        "I may 5 times",
        "which is why this may have gone unnoticed",
        "30 February",
        "for 4 years",
        "3/4 of them",
        "it ran on 2023-05-01",
        "I am fine",
        "one day",
    ],
)
def test_what_names_no_single_date_stays(text: str) -> None:
    assert told(text) == text


def test_a_coming_date_without_a_year_does_not_turn_into_last_year() -> None:
    """The trap of parsers that prefer the past: they move "on 3 June" a year back although it lies ahead."""
    (mention,) = mentions("The wedding is on 3 June", date(2023, 5, 8))
    assert mention.first == date(2023, 6, 3)


def test_a_past_date_without_a_year_lies_behind() -> None:
    (mention,) = mentions("It was on 3 June that we met", date(2023, 5, 8))
    assert mention.first == date(2022, 6, 3)
    assert mention.past


def test_the_day_is_that_of_the_zone() -> None:
    late = datetime(2023, 5, 8, 23, 30, tzinfo=UTC)
    assert local_day(late, "Asia/Tokyo") == date(2023, 5, 9)
    assert local_day(late, "America/New_York") == date(2023, 5, 8)


WORDS = [
    "yesterday",
    "last Friday",
    "next month",
    "two weekends ago",
    "last fall",
    "in 3 weeks",
    "29 February",
    "this weekend",
]


@given(
    st.dates(), st.sampled_from([*WORDS, "last January", "400 years ago", "999 years ago", "the day after tomorrow"])
)
def test_any_day_of_the_calendar_can_be_the_day_of_speech(today: date, words: str) -> None:
    for mention in mentions(f"It was {words}.", today):
        assert mention.label


@given(
    st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 1, 1)),
    st.sampled_from(["last week", "last Friday", "yesterday"]),
)
def test_what_was_last_is_past(today: date, words: str) -> None:
    (mention,) = mentions(f"It broke {words}.", today)
    assert mention.past
    assert 0 < (today - mention.first).days <= 13


@given(st.text(max_size=200), st.dates())
def test_annotating_only_adds(text: str, today: date) -> None:
    found = mentions(text, today)
    shown = annotate(text, found)
    for mention in found:
        shown = shown.replace(f" ({mention.label})", "", 1)
    assert shown == text


@pytest.mark.parametrize("junk", ["a", "3 ", "in a couple of ", "last ", "jan ", "mar 1 ", "2023-", "the ", "1st of "])
def test_hostile_text_is_read_in_bounded_time(junk: str) -> None:
    began = time.process_time()
    mentions(junk * (100_000 // len(junk)), MONDAY)
    assert time.process_time() - began < 5


def test_what_was_decided_lies_ahead_although_the_deciding_is_past() -> None:
    (mention,) = mentions("We decided to fly to Lisbon on 14 May.", date(2026, 5, 8))
    assert (mention.label, mention.first) == ("2026-05-14", date(2026, 5, 14))
