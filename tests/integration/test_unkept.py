"""Notes and summaries of days that failed show in status and doctor until they are made."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from slowwave_server.services.days.book import ended_days
from slowwave_server.services.reports.unkept import Unkept, check_unkept, read_unkept
from slowwave_server.workers.cli.main import app
from tests.support.shelling import CliRunner
from tests.support.summarizing import NOON, Diary, Interrupted

pytestmark = pytest.mark.servers

A_DAY_AGO = NOON - timedelta(days=1)
YESTERDAY = A_DAY_AGO.date()


@pytest.fixture
def diary(engine: Engine) -> Diary:
    return Diary(engine)


def fail() -> None:
    raise OSError("no room left")


def unkept(diary: Diary) -> Unkept:
    with diary.engine.connect() as connection:
        return read_unkept(connection, diary.now, "default")


def test_a_failed_summary_is_told_until_it_is_made(diary: Diary) -> None:
    diary.say("s1", "We decided to keep Postgres for the archive.", at=A_DAY_AGO)
    diary.summarize(YESTERDAY, final=True, summarizer=Interrupted(before_merge=fail))
    assert unkept(diary) == Unkept(notes=0, days=1)
    with diary.engine.connect() as connection:
        check = check_unkept(connection, now=diary.now)
        assert (check.issue, check.finding) == ("notes-fail", "1 summary of a day failed")
        assert len(ended_days(connection, now=diary.now + timedelta(minutes=6), limit=9)) == 1
    diary.summarize(YESTERDAY, final=True)
    assert unkept(diary) == Unkept(notes=0, days=0)


def test_a_failed_summary_of_a_reopened_day_is_told(diary: Diary) -> None:
    diary.say("s1", "We decided to keep Postgres for the archive.", at=A_DAY_AGO)
    diary.summarize(YESTERDAY, final=True)
    diary.say("s1", "We also decided to rent a second server.", at=A_DAY_AGO)
    report = diary.summarize(YESTERDAY, final=True, summarizer=Interrupted(before_merge=fail))
    assert report.outcome == "failed"
    assert unkept(diary) == Unkept(notes=0, days=1)
    diary.summarize(YESTERDAY, final=True)
    assert unkept(diary) == Unkept(notes=0, days=0)


def test_status_counts_what_failed(diary: Diary, database_url: str, valkey_url: str, tmp_path: Path) -> None:
    here = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url, "SLOWWAVE_SPOOL": str(tmp_path)}
    shell = CliRunner(env=here)
    assert "will be tried again" not in shell.invoke(app, ["status"]).stdout
    diary.say("s1", "We decided to keep Postgres for the archive.", at=A_DAY_AGO)
    diary.summarize(YESTERDAY, final=True, summarizer=Interrupted(before_merge=fail))
    shown = " ".join(shell.invoke(app, ["status"]).stdout.split())
    assert "notes 1 summary of a day failed and will be tried again; `slowwave doctor` says more" in shown
    found = json.loads(shell.invoke(app, ["status", "--json"]).stdout)
    assert (found["failed_notes"], found["failed_days"]) == (0, 1)


def test_failed_days_are_found_by_their_index(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = connection.execute(text("EXPLAIN SELECT day FROM slowwave.days WHERE last_error IS NOT NULL")).scalars()
        assert "days_failed_idx" in " ".join(plan)
