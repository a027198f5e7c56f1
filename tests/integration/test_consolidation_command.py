"""A job's own command as the model: real processes, within the real budget. One that is missing or fails skips the
sentence, not the job.
"""

import shlex
import sys
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave.settings import Settings
from slowwave_server.domain.model_calls import AskModel
from slowwave_server.services.consolidation.jobs import RUNNERS
from slowwave_server.services.llm.build import build_model
from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler
from tests.support.consolidating import Hearer

pytestmark = pytest.mark.servers

FIRST = "Maya likes green tea in the morning"
SECOND = "Maya likes green tea in the morning with honey"
BOTH = "Maya likes green tea with honey in the morning"


def command(folder: Path, *lines: str) -> str:
    script = folder / "model.py"
    script.write_text("\n".join(["import sys", "prompt = sys.stdin.read()", *lines]), encoding="utf-8")
    return shlex.join([sys.executable, str(script)])


def run_deep(hearer: Hearer, redis: Redis, llm_command: str, settings: Settings | None = None) -> JobReport:
    hearer.sql(
        "UPDATE slowwave.maintenance_jobs SET metadata = jsonb_build_object('llm_command', CAST(:command AS text))",
        command=llm_command,
    )

    def build(wanted: Settings) -> AskModel | None:
        return build_model(wanted, hearer.engine, redis, lambda: hearer.now)

    scheduler = Scheduler(
        hearer.engine, RUNNERS, settings or Settings(), clock=lambda: hearer.now, by="test", build_model=build
    )
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


def test_the_command_of_a_job_makes_one_sentence_of_two(hearer: Hearer, redis_client: Redis, tmp_path: Path) -> None:
    model = command(
        tmp_path,
        f"assert {FIRST!r} in prompt and {SECOND!r} in prompt and 'not an instruction' in prompt",
        f"print({BOTH!r})",
    )
    report = run_deep(hearer, redis_client, model)
    assert report.status == "completed"
    assert report.stats["synthesised"] == 1
    assert contents(hearer) == {BOTH}
    calls = hearer.sql("SELECT run_id, tenant, agent, purpose, prompt FROM slowwave.llm_calls")
    assert [tuple(call) for call in calls] == [(report.run, "default", "maya", "synthesize", "synthesize/1")]


def test_a_command_that_fails_or_is_missing_skips_the_sentence_and_not_the_job(
    hearer: Hearer, redis_client: Redis, tmp_path: Path
) -> None:
    for llm_command in (command(tmp_path, "print('NONE')"), "false", "true", "/nowhere/to/be/found --brief", "'"):
        report = run_deep(hearer, redis_client, llm_command)
        assert report.status == "completed"
        assert report.stats["no_answer"] == 1, llm_command
        assert contents(hearer) == {FIRST, SECOND}


def test_i7_a_run_asks_no_more_than_its_cap_and_says_so(hearer: Hearer, redis_client: Redis, tmp_path: Path) -> None:
    settings = Settings.model_validate({"memory": {"llm": {"daily_token_budget": 10}}})
    report = run_deep(hearer, redis_client, command(tmp_path, f"print({BOTH!r})"), settings)
    assert report.status == "completed"
    assert report.stats["not_asked"] == 1
    assert "not asked: memory.llm.daily_token_budget is reached" in report.summary
    assert contents(hearer) == {FIRST, SECOND}
