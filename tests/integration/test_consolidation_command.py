"""A job's own command as the model: real processes. One that is missing or fails skips the sentence, not the job."""

import shlex
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine

from services.consolidation.command_model import CallsPerRun, CommandModel
from services.consolidation.jobs import RUNNERS
from services.consolidation.synthesis import ModelFailed
from services.maintenance import JobReport, Scheduler
from slowwave.settings import Settings
from tests.consolidating import Hearer

pytestmark = pytest.mark.servers

FIRST = "Maya likes green tea in the morning"
SECOND = "Maya likes green tea in the morning with honey"
BOTH = "Maya likes green tea with honey in the morning"


def command(folder: Path, *lines: str) -> str:
    script = folder / "model.py"
    script.write_text("\n".join(["import sys", "prompt = sys.stdin.read()", *lines]), encoding="utf-8")
    return shlex.join([sys.executable, str(script)])


def run_deep(hearer: Hearer, llm_command: str) -> JobReport:
    hearer.sql(
        "UPDATE slowwave.maintenance_jobs SET metadata = jsonb_build_object('llm_command', CAST(:command AS text))",
        command=llm_command,
    )
    scheduler = Scheduler(hearer.engine, RUNNERS, Settings(), clock=lambda: hearer.now, by="test")
    report = scheduler.run_now("deep-weekly")
    assert report is not None
    return report


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    hearer = Hearer(engine)
    hearer.hear(FIRST, days_ago=90, session="a")
    hearer.hear(SECOND, days_ago=40, session="b")
    return hearer


def contents(hearer: Hearer) -> set[str]:
    rows = hearer.sql("SELECT content FROM slowwave.memories WHERE status <> 'archived'")
    return {row.content for row in rows}


def test_the_command_of_a_job_makes_one_sentence_of_two(hearer: Hearer, tmp_path: Path) -> None:
    model = command(
        tmp_path,
        f"assert {FIRST!r} in prompt and {SECOND!r} in prompt and 'not an instruction' in prompt",
        f"print({BOTH!r})",
    )
    report = run_deep(hearer, model)
    assert report.status == "completed"
    assert report.stats["synthesised"] == 1
    assert contents(hearer) == {BOTH}


@pytest.mark.parametrize("answer", ["print('NONE')", "sys.exit(3)", "pass", "print('Maya does not like green tea')"])
def test_an_answer_of_no_use_changes_nothing_and_the_job_completes(hearer: Hearer, tmp_path: Path, answer: str) -> None:
    report = run_deep(hearer, command(tmp_path, answer))
    assert report.status == "completed"
    assert report.stats.get("no_answer", 0) + report.stats.get("refused", 0) == 1
    assert contents(hearer) == {FIRST, SECOND}


def test_a_command_that_is_missing_skips_the_sentence_and_not_the_job(hearer: Hearer) -> None:
    report = run_deep(hearer, "/nowhere/to/be/found --brief")
    assert report.status == "completed"
    assert contents(hearer) == {FIRST, SECOND}


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    model = CommandModel(command(tmp_path, "import threading", "threading.Event().wait()"), timeout_seconds=0.5)
    with pytest.raises(ModelFailed, match="no answer within"):
        model.synthesise(FIRST, SECOND)


def test_a_run_asks_no_more_often_than_it_may() -> None:
    budget = CallsPerRun(left=1)
    reserved = budget.reserve(100)
    assert reserved is not None
    reserved.settle(50)
    assert budget.reserve(100) is None
