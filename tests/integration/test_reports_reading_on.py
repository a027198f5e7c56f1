"""Lists are read on where a page of them ended: everything once, in the same order, whatever came meanwhile; and what
models cost over days, model by model.
"""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text

from slowwave.settings import Llm
from slowwave_server.domain.model_calls import Spender
from slowwave_server.services.days.book import day_book
from slowwave_server.services.llm.budget import ReservationRequest
from slowwave_server.services.reports.dead_letters import list_dead_letters
from slowwave_server.services.reports.quarantine import list_quarantined
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.runs import read_run
from slowwave_server.services.reports.spending import read_spending
from tests.support.budgeting import THURSDAY, Purse
from tests.support.installation import Installation
from tests.support.passing import Past, day
from tests.support.summarizing import Diary

pytestmark = pytest.mark.servers


def test_days_are_read_on_by_day_agent_and_scope(engine: Engine) -> None:
    diary = Diary(engine)
    for number in range(3):
        at = datetime(2024, 5, 1 + number, 12, tzinfo=UTC)
        for agent in ("maya", "jonas", "Zoë"):
            diary.say(f"{agent}-{number}", "Priya keeps bees.", agent=agent, at=at)
            diary.say(f"{agent}-{number}-k", "Tea is out.", agent=agent, at=at, room="kitchen:2")
    diary.say("elsewhere", "Hello.", tenant="other")
    every = [(entry.ref.day, entry.ref.agent, entry.ref.scope) for entry in diary.book()]
    assert len(every) == 18
    read: list[tuple[object, ...]] = []
    after = None
    while True:
        with engine.connect() as connection:
            page = day_book(connection, "default", after=after, limit=4)
        read += [(entry.ref.day, entry.ref.agent, entry.ref.scope) for entry in page]
        if len(page) < 4:
            break
        last = page[-1].ref
        after = (last.day, last.agent, last.scope)
    assert read == every
    with engine.connect() as connection:
        mayas = day_book(connection, "default", "maya", after=every[5], limit=50)
    assert [entry.ref.agent for entry in mayas] == ["maya"] * 4


def test_runs_and_the_changes_of_one_are_read_on(engine: Engine) -> None:
    past = Past(engine)
    memories = [past.say(f"Maya has {number} boats.", session=f"s{number}") for number in range(5)]
    numbers = []
    for number in range(3):
        with past.run(at=day(number)) as run:
            for which, memory in enumerate(memories):
                run.set(memory, "edited", content=f"Maya has {which} boats and {number} oars.")
        numbers.append(run.id)
    with engine.connect() as connection:
        assert [run.id for run in list_runs(connection, "default", before=numbers[2])] == [numbers[1], numbers[0]]
        assert list_runs(connection, "other", before=numbers[2]) == []
        first = read_run(connection, "default", numbers[1], limit=3)
        assert first.more_after is not None
        rest = read_run(connection, "default", numbers[1], after=first.more_after, limit=3)
        whole = read_run(connection, "default", numbers[1], limit=5)
    assert (first.changed, rest.changed, rest.more_after, whole.more_after) == (5, 5, None, None)
    assert first.changes + rest.changes == whole.changes
    assert [change.memory for change in whole.changes] == memories


def test_letters_and_events_set_aside_are_read_on(engine: Engine) -> None:
    installation = Installation(engine)
    letters = [installation.letter("slowwave.record_turn", {"n": n}, "session: missing") for n in range(3)]
    installation.letter("slowwave.record_turn", {"n": 9}, "session: missing", tenant="other")
    agent, scope = installation.agent("maya"), installation.scope("maya")
    said = [("Maya", f"line {n}") for n in range(3)]
    session = installation.session(agent, scope, "monday", *said, processed_until=3)
    for seq in (1, 2, 3):
        installation.quarantine(session, seq, "ValueError: no")
    with engine.connect() as connection:
        assert [letter.id for letter in list_dead_letters(connection, "default", before=letters[2])] == letters[1::-1]
        events = list_quarantined(connection, "default", limit=2)
        rest = list_quarantined(connection, "default", before=events[-1].window, limit=2)
    assert [event.seq for event in (*events, *rest)] == [3, 2, 1]


def test_i7_what_models_cost_is_told_by_day_and_by_model(engine: Engine) -> None:
    purse = Purse(engine, Llm(driver="openai"))
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO slowwave.agents (tenant, name) VALUES ('default', 'maya')"))

    def ask(model: str, tokens: int | None, tenant: str = "default", agent: str = "maya") -> None:
        taken = purse.budget.reserve(Spender(tenant, agent), ReservationRequest("extract", model, "extract/1", 500, 60))
        if tokens is not None:
            purse.budget.settle(taken, "answered", tokens)

    ask("openai large-1", 300)
    ask("openai small-1", 40)
    ask("openai large-1", 77, tenant="other")
    purse.clock.forward(days=1)
    ask("openai small-1", 5, agent="jonas")
    ask("openai small-1", None, agent="jonas")
    with engine.connect() as connection:
        found = read_spending(connection, "default", purse.clock.now, days=3)
        mayas = read_spending(connection, "default", purse.clock.now, agent="maya", days=3)
    friday = (THURSDAY + timedelta(days=1)).date()
    assert [(spent.day, spent.calls, spent.failures, spent.tokens) for spent in found.days] == [
        (friday - timedelta(days=2), 0, 0, 0),
        (friday - timedelta(days=1), 2, 0, 340),
        (friday, 2, 0, 505),
    ]
    told = [(m.model, m.calls, m.tokens, m.tokens_today, m.tokens_week) for m in found.models]
    assert told == [("openai large-1", 1, 300, 0, 300), ("openai small-1", 2, 45, 5, 45)]
    assert found.models[1].purposes == ("extract",)
    assert [(m.calls, m.tokens) for m in mayas.models] == [(1, 300), (1, 40)]
