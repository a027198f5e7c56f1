"""Pages of days: the book, a summary with what each line rests on, two versions beside each other."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console
from tests.support.summarizing import NOON, Diary

pytestmark = pytest.mark.servers

DAY = NOON.date()
NEXT = NOON + timedelta(days=1)
MARKUP = "<b>bold</b>"


@pytest.fixture
def diary(engine: Engine) -> Diary:
    return Diary(engine)


def summarized(diary: Diary) -> None:
    """A day of two versions: what came late opened it again."""
    diary.say("monday", "I want to take the ferry to Bergen.", f"We decided to {MARKUP} go.", tenant=TENANT)
    diary.now = NEXT
    (ref,) = [entry.ref for entry in diary.book(tenant=TENANT) if entry.ref.day == DAY]
    assert diary.summarize(ref, final=True).version == 1
    diary.say("tuesday", "I want to book a cabin, too.", tenant=TENANT, at=NOON + timedelta(hours=3))
    assert diary.summarize(ref, final=True).version == 2


def test_days_are_listed_and_read_on(console: Console, diary: Diary) -> None:
    for number in range(60):
        diary.say(f"s{number}", "It rains.", tenant=TENANT, at=datetime(2024, 1, 1, 12, tzinfo=UTC) + timedelta(number))
    diary.say("s0-k", "It rains in here.", tenant=TENANT, room="kitchen", at=datetime(2024, 2, 29, 12, tzinfo=UTC))
    first = console.get("/days").text
    assert first.count("/days/show?") == 50
    assert "room:kitchen" in first
    (older,) = [part.replace("&amp;", "&") for part in first.split('"') if part.startswith("/days?after=")]
    rest = console.get(older).text
    assert rest.count("/days/show?") == 11
    assert "1 January 2024" in rest
    since = console.get("/days?since=2024-02-28&agent=maya").text
    assert since.count("/days/show?") == 3
    assert console.get("/days?since=yesterday").status_code == 400
    assert console.get("/days?agent=nobody").status_code == 404
    assert "There are no days yet" in console.get("/days", who="stranger").text


def test_a_day_says_what_its_lines_rest_on_and_what_two_versions_differ_in(console: Console, diary: Diary) -> None:
    summarized(diary)
    address = f"/days/show?agent=maya&day={DAY}"
    shown = console.get(address).text
    for words in (
        "version 2, final",
        "monday#1</a>",
        "tuesday#1</a>",
        "<h2>Wanted</h2>",
        "I want to book a cabin, too.",
    ):
        assert words in shown, words
    assert MARKUP not in shown
    first = console.get(f"{address}&version=1").text
    assert ("version 1" in first, "cabin" in first) == (True, False)


def test_a_line_whose_event_is_gone_says_so(console: Console, diary: Diary) -> None:
    summarized(diary)
    diary.sql("DELETE FROM slowwave.events")
    shown = console.get(f"/days/show?agent=maya&day={DAY}").text
    assert "monday#1, which retention removed" in shown


def test_what_is_not_there_is_said(console: Console, diary: Diary) -> None:
    summarized(diary)
    asked = {
        f"agent=maya&day={DAY}&version=9": 404,
        f"agent=maya&day={DAY}&version=x": 400,
        f"agent=maya&day={DAY}&scope=room:kitchen": 404,
        f"agent=maya&day={date(1999, 1, 1)}": 404,
        f"agent=mayo&day={DAY}": 404,
        "agent=maya&day=today": 400,
        "agent=maya": 400,
    }
    assert {query: console.get(f"/days/show?{query}").status_code for query in asked} == asked
    assert console.get(f"/days/show?agent=maya&day={DAY}", who="stranger").status_code == 404
