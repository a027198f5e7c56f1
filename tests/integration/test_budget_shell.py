"""`slowwave admin budget` and the line of `slowwave status`: use, remainder, and the end of each cap (I7)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine
from typer.testing import Result

from slowwave import Memory, Settings
from slowwave.settings import Llm
from slowwave_server.domain.model_calls import Spender
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.reports.budget import read_budget
from slowwave_server.workers.cli.main import app
from tests.support.budgeting import Purse, SetClock
from tests.support.midday import wait_past_midnight
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

CAPS = Llm(
    driver="openai", model="small-1", max_output_tokens=100, daily_token_budget=1000, agent_daily_token_budget=400
)
ENVIRONMENT = {
    "SLOWWAVE_MEMORY__LLM__DRIVER": "openai",
    "SLOWWAVE_MEMORY__LLM__MODEL": "small-1",
    "SLOWWAVE_MEMORY__LLM__MAX_OUTPUT_TOKENS": "100",
    "SLOWWAVE_MEMORY__LLM__DAILY_TOKEN_BUDGET": "1000",
    "SLOWWAVE_MEMORY__LLM__AGENT_DAILY_TOKEN_BUDGET": "400",
}


def spent(engine: Engine, database_url: str) -> Purse:
    """Maya's budget of today is used up, Jonas' is not; a call of another tenant; one is under way, one was lost."""
    with Memory(Settings(database_url=database_url)) as memory:
        for agent in ("maya", "jonas"):
            memory.turn_completed(agent, "monday", [{"role": "user", "content": "Priya keeps bees."}])
    wait_past_midnight()
    purse = Purse(engine, CAPS, SetClock(datetime.now(UTC)))
    purse.budget.settle(purse.reserve(Spender("default", "maya"), 200), "answered", 150)
    purse.budget.settle(purse.reserve(Spender("default", "maya"), 180), "unanswered", None)
    purse.budget.settle(purse.reserve(Spender("default", "jonas", 7), 100), "failed", 30)
    purse.budget.settle(purse.reserve(Spender("other", "maya"), 100), "answered", 99)
    purse.reserve(Spender("default", "jonas"), 40, seconds=3600)
    return purse


def run(database_url: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env=ENVIRONMENT | {"SLOWWAVE_DATABASE_URL": database_url})


def test_it_says_what_was_used_and_what_is_left(engine: Engine, database_url: str) -> None:
    spent(engine, database_url)
    found = json.loads(run(database_url, "admin", "budget", "--json").stdout)
    today = {line["agent"]: line for line in found["used"] if line["period"] == "day"}
    assert list(today) == [None, "maya", "jonas"]
    figures = [
        (line["calls"], line["failures"], line["settled"], line["reserved"], line["left"]) for line in today.values()
    ]
    assert figures == [(4, 2, 360, 40, 600), (2, 1, 330, 0, 70), (2, 1, 30, 40, 330)]
    assert [line["reached"] for line in today.values()] == [False, True, False]
    assert found["purposes"] == [
        {
            "purpose": "extract", "calls": 4, "answered": 1, "failed": 1, "unanswered": 1, "lost": 0,
            "tokens": 360, "uncounted": 180,
        }
    ]  # fmt: skip
    (model,) = found["models"]
    assert (model["calls"], model["tokens"], model["purposes"]) == (3, 360, ["extract"])
    assert [found["days"][-1][name] for name in ("calls", "tokens")] == [4, 400]
    assert (found["open_calls"], found["open_tokens"], found["overdue"], found["tenant"]) == (1, 40, 0, "default")


def test_it_says_which_cap_holds_until_when(engine: Engine, database_url: str) -> None:
    spent(engine, database_url)
    ends = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d 00:00 UTC")
    sentence = f"memory.llm.agent_daily_token_budget of maya is reached until {ends}: the rules"
    shown = run(database_url, "admin", "budget").stdout
    assert sentence in shown
    assert "180 of them estimated from reservations" in shown
    assert sentence in run(database_url, "status").stdout
    assert "is reached" not in run(database_url, "--tenant", "other", "status").stdout


def test_one_agent_is_shown_beside_all_and_an_unknown_one_is_named(engine: Engine, database_url: str) -> None:
    spent(engine, database_url)
    found = json.loads(run(database_url, "admin", "budget", "--agent", "jonas", "--json").stdout)
    assert {line["agent"] for line in found["used"]} == {None, "jonas"}
    assert (found["purposes"][0]["calls"], found["open_calls"]) == (2, 1)
    missing = run(database_url, "admin", "budget", "--agent", "jonsa")
    assert missing.exit_code == 1
    assert "did you mean 'jonas'" in missing.stderr


def test_i8_a_tenant_sees_only_its_own(engine: Engine, database_url: str) -> None:
    purse = spent(engine, database_url)
    with engine.connect() as connection:
        other = read_budget(connection, "other", CAPS, purse.clock.now)
        nobody = read_budget(connection, "nobody", CAPS, purse.clock.now)
    assert [(line.agent, line.settled) for line in other.used if line.period == "week"] == [(None, 99), ("maya", 99)]
    assert (sum(line.calls for line in nobody.used), nobody.purposes, nobody.open_calls) == (0, (), 0)


def test_i7_forgetting_an_agent_gives_no_tokens_back(engine: Engine, database_url: str) -> None:
    purse = spent(engine, database_url)
    before = purse.counted("default")
    erase(engine, Target.of_agent("default", "maya"), clock=purse.clock, by="test", dry_run=False)
    assert purse.counted("default") == before
