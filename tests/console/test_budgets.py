"""The page of budgets: what was used and is left, which cap holds, what each day and model cost (I7)."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from slowwave.settings import Llm, Settings
from slowwave_server.domain.model_calls import Spender
from slowwave_server.workers.console.bar_chart import BOTTOM, HEIGHT, TOP, WIDTH, draw_bar_chart
from tests.console.conftest import TENANT, open_console
from tests.support.budgeting import Purse, SetClock
from tests.support.midday import wait_past_midnight

CAPS = Llm(
    driver="openai", model="small-1", max_output_tokens=100, daily_token_budget=1000, agent_daily_token_budget=400
)


@pytest.mark.servers
def test_i7_it_says_what_is_left_and_which_cap_holds(
    engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis
) -> None:
    memory: Any = {"llm": CAPS.model_dump()}
    made = Settings(database_url=database_url, broker_url=valkey_url, tenant=TENANT, memory=memory)
    with open_console(engine, redis_client, made) as console:
        console.memory.turn_completed("maya", "monday", [{"role": "user", "content": "Priya keeps bees."}])
        assert "No model was called on any of these days." in console.get("/budgets").text
        wait_past_midnight()
        purse = Purse(engine, CAPS, SetClock(datetime.now(UTC)))
        purse.budget.settle(purse.reserve(Spender(TENANT, "maya"), 200), "answered", 330)
        purse.budget.settle(purse.reserve(Spender("globex", "maya"), 100), "answered", 99)
        purse.reserve(Spender(TENANT, "jonas"), 40, seconds=3600)
        shown = console.get("/budgets").text
        for words in (
            "openai small-1",
            "630 of 1,000",
            "70 of 400",
            "fake small",
            "1 call under way, 40 tokens set aside",
        ):
            assert words in shown, words
        assert "memory.llm.agent_daily_token_budget of maya is reached until" in shown
        assert len(re.findall(r'<rect class="bar"', shown)) == 1
        assert "cap of a day: 1,000" in shown
        mayas = console.get("/budgets?agent=maya").text
        assert "cap of a day: 400" in mayas
        assert console.get("/budgets?agent=mayo").status_code == 404
        others = console.get("/budgets", who="stranger").text
        assert ("330" in others, "901 of 1,000" in others) == (False, True)


@settings(max_examples=80)
@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40), st.one_of(st.none(), st.integers(1, 10**9)))
def test_bars_stay_within_their_plot_and_stand_in_the_order_of_what_they_show(
    values: list[int], limit: int | None
) -> None:
    plot = draw_bar_chart([(value, "", "") for value in values], limit=limit)
    for bar in plot.bars:
        assert bar.x >= 0
        assert bar.x + bar.width <= WIDTH + 0.2
        assert TOP - 0.1 <= bar.y <= HEIGHT - BOTTOM
        assert bar.y + bar.height == pytest.approx(plot.base_y, abs=0.11)
    heights = [bar.height for bar in plot.bars]
    for one, other in zip(range(len(values)), range(1, len(values)), strict=False):
        if values[one] > values[other]:
            assert heights[one] >= heights[other]
    if plot.limit_y is not None and limit is not None:
        assert all(
            (bar.y < plot.limit_y - 0.1) <= (value > limit) for bar, value in zip(plot.bars, values, strict=True)
        )
