"""Ended days become final, each by itself: by sweep, by hand, as a maintenance job; and whose day begins when."""

from datetime import date, timedelta

import pytest
from sqlalchemy import Engine

from slowwave.settings import Settings
from slowwave_server.services.days.agents import InvalidDay, configure_agent
from slowwave_server.services.days.book import ended_days, mark_settling
from slowwave_server.services.days.finalize import DayNotOver, FinalizeReport, NoSuchDay, finalize_day, finalize_ended
from slowwave_server.services.days.jobs import RUNNERS
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.maintenance.scheduler import Scheduler
from tests.support.summarizing import NOON, Diary

pytestmark = pytest.mark.servers

TODAY = NOON.date()
PAST = [TODAY - timedelta(days=n) for n in range(5, 0, -1)]
_POISON = """
CREATE FUNCTION slowwave.poison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.day = '{day}' THEN RAISE EXCEPTION 'My sister Lena works as a nurse'; END IF;
    RETURN NEW;
END $$
"""


@pytest.fixture
def diary(engine: Engine) -> Diary:
    return Diary(engine)


def speak(diary: Diary, *days: date, agent: str = "maya") -> None:
    for day in days:
        diary.say(f"{agent}-{day}", "We decided to move the release.", agent=agent, at=NOON - (TODAY - day))


def poison(diary: Diary, day: date, table: str) -> None:
    diary.sql(_POISON.format(day=day))
    diary.sql(
        f"CREATE TRIGGER poison BEFORE INSERT OR UPDATE ON slowwave.{table}"
        " FOR EACH ROW EXECUTE FUNCTION slowwave.poison()"
    )


def sweep(diary: Diary, limit: int = 1000) -> FinalizeReport:
    return finalize_ended(diary.engine, diary.settings, now=diary.now, limit=limit)


def statuses(diary: Diary) -> dict[date, str]:
    return {entry.ref.day: entry.status for entry in diary.book("maya")}


def test_a_sweep_makes_every_ended_day_final_and_leaves_today_open(diary: Diary) -> None:
    speak(diary, *PAST, TODAY)
    speak(diary, PAST[0], agent="jonas")
    report = sweep(diary)
    assert (report.finalized, report.failed) == (6, ())
    assert statuses(diary) == dict.fromkeys(PAST, "final") | {TODAY: "open"}
    assert sweep(diary).days == ()
    diary.check()


@pytest.mark.parametrize("table", ["day_summaries", "day_segments", "days"])
def test_mistake_36_a_bad_day_keeps_no_later_day_waiting(diary: Diary, table: str) -> None:
    speak(diary, *PAST)
    poison(diary, PAST[1], table)
    report = sweep(diary)
    assert report.finalized == 4
    assert [(failed.day.day, failed.error) for failed in report.failed] == [(PAST[1], "RaiseException (P0001)")]
    if table != "days":  # where not even the failure can be noted, it comes again with each sweep
        assert diary.entry(PAST[1]).last_error == "RaiseException (P0001)"
        assert statuses(diary) == dict.fromkeys(PAST, "final") | {PAST[1]: "settling"}
        assert sweep(diary).days == (), "it waits its turn"
        diary.now += timedelta(minutes=6)
    assert len(sweep(diary).failed) == 1
    diary.sql(f"DROP TRIGGER poison ON slowwave.{table}")
    diary.now += timedelta(minutes=6)
    assert sweep(diary).finalized == 1
    assert set(statuses(diary).values()) == {"final"}


def test_ended_days_read_settling_until_their_summary_is_there(diary: Diary) -> None:
    speak(diary, *PAST[:2])
    with diary.engine.begin() as connection:
        days = ended_days(connection, now=diary.now, limit=9)
        mark_settling(connection, days)
        mark_settling(connection, days)
    assert set(statuses(diary).values()) == {"settling"}
    sweep(diary)
    with diary.engine.begin() as connection:
        mark_settling(connection, days)
    assert set(statuses(diary).values()) == {"final"}, "what is truly final stays so"
    speak(diary, PAST[0])
    with diary.engine.begin() as connection:
        mark_settling(connection, days)
    assert statuses(diary) == {PAST[0]: "settling", PAST[1]: "final"}


def test_a_sweep_takes_no_more_days_than_it_was_told_and_stops_when_asked(diary: Diary) -> None:
    speak(diary, *PAST)
    assert [report.day.day for report in sweep(diary, limit=2).days] == PAST[:2]
    stopped = finalize_ended(diary.engine, diary.settings, now=diary.now, go_on=lambda: False)
    assert stopped.days == ()


def test_a_named_day_is_made_final_in_each_of_its_scopes(diary: Diary) -> None:
    speak(diary, PAST[0])
    diary.say("r1", "The kitchen is booked for Priya.", room="kitchen", at=NOON - timedelta(days=5))

    def finalize(day: date, agent: str = "maya", scope: str | None = None, *, force: bool = False) -> FinalizeReport:
        return finalize_day(
            diary.engine, "default", agent, day, settings=diary.settings, now=diary.now, scope=scope, force=force
        )

    assert {(report.day.scope, report.status) for report in finalize(PAST[0], scope="room:kitchen").days} == {
        ("room:kitchen", "final")
    }
    assert {(r.day.scope, r.outcome) for r in finalize(PAST[0]).days} == {
        (None, "summarized"),
        ("room:kitchen", "unchanged"),
    }
    with pytest.raises(NoSuchDay, match=r"no events on 2024-05-06; its newest day is 2024-05-05"):
        finalize(PAST[1])
    with pytest.raises(UnknownName, match="did you mean 'maya'"):
        finalize(PAST[0], agent="maja")
    speak(diary, TODAY)
    with pytest.raises(DayNotOver, match="2024-05-10 is not over"):
        finalize(TODAY)
    (report,) = finalize(TODAY, force=True).days
    assert (report.outcome, report.status) == ("summarized", "open")


def test_the_maintenance_job_tells_what_it_would_do_and_does_it(diary: Diary) -> None:
    speak(diary, *PAST)
    poison(diary, PAST[2], "day_summaries")
    scheduler = Scheduler(diary.engine, RUNNERS, Settings(), clock=lambda: diary.now, by="test")
    dry = scheduler.run_now("finalize-days", dry_run=True)
    assert dry is not None
    assert dry.summary == "5 days would be made final"
    assert set(statuses(diary).values()) == {"open"}
    run = scheduler.run_now("finalize-days")
    assert run is not None
    assert (run.status, run.summary) == ("completed", "4 days of 5 made final, 1 failed and are tried again")
    assert run.stats == {"ended": 5, "finalized": 4, "summarized": 4, "failed": 1}
    again = scheduler.run_now("finalize-days")
    assert again is not None
    assert again.summary == "every ended day is final"


def test_a_zone_and_a_cutoff_hour_hold_for_events_from_now_on(diary: Diary) -> None:
    late = NOON.replace(hour=23)
    diary.say("s1", "Said late in the evening.", at=late)
    with diary.engine.begin() as connection:
        set_ = configure_agent(connection, "default", "maya", timezone="Asia/Tokyo", cutoff_hour=4)
        assert (set_.timezone, set_.cutoff_hour) == ("Asia/Tokyo", 4)
        assert configure_agent(connection, "default", "maya", cutoff_hour=5).timezone == "Asia/Tokyo"
        assert configure_agent(connection, "default", "maya").cutoff_hour == 5
    diary.say("s1", "The same moment, told again.", at=late)
    assert {entry.ref.day: entry.total_messages for entry in diary.book("maya")} == {
        TODAY: 1,
        TODAY + timedelta(days=1): 1,
    }
    diary.check()


def test_zones_and_hours_that_do_not_exist_are_refused_by_name(diary: Diary) -> None:
    diary.say("s1", "Hello there.")
    with diary.engine.begin() as connection:
        with pytest.raises(InvalidDay, match="did you mean 'Europe/Berlin'"):
            configure_agent(connection, "default", "maya", timezone="europe/berlin")
        with pytest.raises(InvalidDay, match="from 0 to 23, not 24"):
            configure_agent(connection, "default", "maya", cutoff_hour=24)
        with pytest.raises(UnknownName):
            configure_agent(connection, "default", "nobody", cutoff_hour=4)
        assert configure_agent(connection, "default", "maya").timezone == "UTC"
