"""The times of questions: intervals against a table, anchors, order, and what is no time at all."""

import subprocess
import sys
from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.recall.times import Anchor, Interval, TimeQuestion, asks_order, read_times, says_time
from slowwave.recall.times.hints import LANGUAGES, hints_at_time
from slowwave.recall.times.words import language
from tests.support.asked_times import ENGLISH, NO_TIME, OTHERS, asked
from tests.support.tables import for_each

NOW = datetime(2023, 6, 5, 12, tzinfo=UTC)


def days(question: str, now: datetime = NOW) -> tuple[date | None, date | None] | None:
    interval = read_times(question, now).interval
    if interval is None:
        return None
    return interval.begin and interval.begin.date(), interval.end and interval.end.date()


def wrong(lines: str) -> list[tuple[str, object]]:
    return [(question, days(question)) for question, begin, end in asked(lines) if days(question) != (begin, end)]


def test_times_in_english_questions_are_read() -> None:
    assert wrong(ENGLISH) == []


def test_times_in_german_french_and_spanish_are_read() -> None:
    assert wrong(OTHERS) == []


def test_words_that_are_also_other_words_name_no_time() -> None:
    assert [question for question in NO_TIME.strip().splitlines() if read_times(question, NOW).interval] == []


@pytest.mark.parametrize(
    ("zone", "begin"),
    [
        (UTC, datetime(2023, 3, 31, tzinfo=UTC)),
        (ZoneInfo("Asia/Tokyo"), datetime(2023, 4, 1, tzinfo=ZoneInfo("Asia/Tokyo"))),
    ],
)
def test_days_begin_where_the_asker_is(zone: tzinfo, begin: datetime) -> None:
    interval = read_times("What happened today?", datetime(2023, 3, 31, 20, tzinfo=UTC).astimezone(zone)).interval
    assert interval is not None
    assert interval.begin == begin


def test_the_date_with_a_year_wins_over_others() -> None:
    assert days("What did Ana finish last Friday, on 23 January 2022?") == (date(2022, 1, 23), date(2022, 1, 24))


def test_relative_times_are_searched_for_as_dates() -> None:
    assert read_times("What did Ana paint last month?", NOW).rest == "What did Ana paint May 2023?"
    assert read_times("What did Ana paint yesterday?", NOW).rest == "What did Ana paint 4 June 2023?"
    assert read_times("Was malte Ana im Oktober 2022?", NOW).rest == "Was malte Ana October 2022?"
    assert read_times("What did Ana paint in March?", NOW).rest == "What did Ana paint in March?"


@pytest.mark.parametrize(
    ("question", "anchor"),
    [
        ("What was Maya's address before I moved?", Anchor("before", "I moved")),
        ("What has changed since the release?", Anchor("since", "the release")),
        ("What did Ana realize after the charity race?", Anchor("after", "the charity race")),
        ("After the race, what did Ana eat?", Anchor("after", "the race")),
        ("What did she paint during her holiday?", Anchor("during", "her holiday")),
        ("Was änderte sich seit dem Umzug?", Anchor("since", "dem Umzug")),
        ("What did we decide before March?", None),
        ("What did we decide?", None),
    ],
)
def test_a_clause_with_an_event_is_an_anchor(question: str, anchor: Anchor | None) -> None:
    assert read_times(question, NOW).anchor == anchor


@pytest.mark.parametrize(
    ("question", "order", "asks_when"),
    [
        ("When did Ana move?", None, True),
        ("Which year did Ana move?", None, True),
        ("How long has Ana had her dog?", None, True),
        ("Which came first, the move or the wedding?", "chronological", True),
        ("Which dog did Ana adopt first - Rex or Bello?", "chronological", True),
        ("In what order did the releases come out?", "chronological", True),
        ("How many days passed between the order and the refund?", "chronological", True),
        ("How long did it take to fix the leak?", "chronological", True),
        ("Wie viele Tage lagen zwischen Umzug und Hochzeit?", "chronological", True),
        ("What is Ana's latest address?", "latest", False),
        ("When did Ana most recently call?", "latest", True),
        ("What did Ana originally want?", "first", False),
        ("What helps even when I am down?", None, False),
        ("Who won first place?", None, False),
        ("What is the first name of Ben's mother?", None, False),
        ("How many eggs are needed?", None, False),
    ],
)
def test_what_a_question_asks_about_time(question: str, order: str | None, asks_when: bool) -> None:
    times = read_times(question, NOW)
    assert (times.order, times.asks_when) == (order, asks_when)
    assert asks_order(question) is (order == "chronological")


def test_times_before_the_first_year_are_none() -> None:
    assert read_times("What did people eat 3000 years ago?", NOW).interval is None


def test_what_to_do_today_asks_for_no_interval() -> None:
    assert read_times("What should I do today?", NOW) == TimeQuestion("What should I do today?")
    assert days("What should I have done yesterday?") == (date(2023, 6, 4), date(2023, 6, 5))


def test_only_makes_an_interval_strict() -> None:
    assert read_times("What did we decide only in March?", NOW).strict
    assert not read_times("What did we decide in March?", NOW).strict
    assert not read_times("What is the only option?", NOW).strict


def test_of_a_long_message_its_question_alone_is_read() -> None:
    report = "We met last week and moved the launch to October. " * 20
    assert read_times(report, NOW) == TimeQuestion(report)
    assert read_times(f"{report}Who is the owner?", NOW).interval is None
    times = read_times(f"{report}What did Ana say yesterday?", NOW)
    assert times.interval == Interval(datetime(2023, 6, 4, tzinfo=UTC), datetime(2023, 6, 5, tzinfo=UTC))
    told = "Ana called yesterday. I was out all day, and then the lights went off. What is the next step for the house?"
    assert read_times(told, NOW).interval is None
    assert times.rest == f"{report}What did Ana say 4 June 2023?"


@pytest.mark.parametrize("text", ["I ran a race yesterday.", "We met in May.", "Two years ago I moved.", "in 2010"])
def test_texts_that_say_when(text: str) -> None:
    assert says_time(text, "en")


@pytest.mark.parametrize("text", ["I may go.", "The last dance was fun.", "The ball is round."])
def test_texts_that_say_no_time(text: str) -> None:
    assert not says_time(text, "en")


@for_each("question", [*(q for q, *_ in asked(ENGLISH)), *(q for q, *_ in asked(OTHERS))])
def test_the_first_look_notices_every_time(question: str) -> None:
    assert hints_at_time(question.lower())


@pytest.mark.parametrize("question", ["Which seat does Maya like?", "Who is the owner of the billing service?"])
def test_the_first_look_passes_questions_without_a_time(question: str) -> None:
    assert not hints_at_time(question.lower())


def test_a_question_without_a_time_loads_no_grammar() -> None:
    code = (
        "import sys; from datetime import UTC, datetime; from slowwave.recall import search, times;"
        "times.read_times('Which seat does Maya like?', datetime.now(UTC));"
        "sys.exit('slowwave.recall.times.grammar' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.text(max_size=300), st.integers(1990, 2090).map(lambda year: datetime(year, 2, 28, tzinfo=UTC)))
def test_anything_can_be_asked(question: str, now: datetime) -> None:
    read_times(question, now)


words = st.sampled_from([word.replace("_", " ") for code in LANGUAGES for word in language(code).meanings])
numbers = st.integers(0, 3000).map(str)


@given(st.lists(words | numbers | st.sampled_from(["?", ",", "5/3", "1.2.2023", "the", "boot"]), max_size=12))
def test_words_for_times_in_any_order_raise_nothing(said: list[str]) -> None:
    interval = read_times(" ".join(said), NOW).interval
    assert interval is None or interval.begin is None or interval.end is None or interval.begin < interval.end
