"""Calls of a model, from reservation to settlement, against an endpoint that misbehaves (I7, mistake 17)."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from proof.fake_model import FakeModel
from proof.fake_replies import Asked, cut_connection, invalid_json, rate_limited, refused, server_error, truncated
from slowwave.errors import InvalidSettings
from slowwave.recall.tokens import estimate
from slowwave.settings import Llm, MemorySettings, Settings
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import AskModel, BudgetReached, ModelFailed, Prompt, Spender, Unanswered
from slowwave_server.models.engine import make_engine
from slowwave_server.services.llm.build import build_caller, build_model, with_command
from slowwave_server.services.llm.drivers import UnfitAnswer
from tests.support.budgeting import Purse, SetClock, at_once

pytestmark = pytest.mark.servers

MAYA = Spender("default", "maya")
SCHEMA = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
PROMPT = Prompt("extract", "extract/1", "Say what is known.", "Priya keeps bees.", SCHEMA)
GOOD = {"said": "Priya keeps bees."}


@dataclass
class Setup:
    """A model at a fake endpoint, and its ledger."""

    engine: Engine
    redis: Redis
    fake: FakeModel
    clock: SetClock = field(default_factory=SetClock)

    def model(self, *, engine: Engine | None = None, **llm: Any) -> AskModel:
        caps = {"driver": "openai", "model": "fake-1", "base_url": self.fake.base_url, "breaker_failures": 1000} | llm
        settings = Settings(memory=MemorySettings(llm=Llm.model_validate(caps)))
        made = build_model(settings, engine or self.engine, self.redis, self.clock)
        assert made is not None
        return made

    @property
    def purse(self) -> Purse:
        return Purse(self.engine, Llm(), self.clock)

    def rows(self, columns: str) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            query = text(f"SELECT {columns} FROM slowwave.llm_calls ORDER BY reserved_at, settled_at")
            found = connection.execute(query)
            return [tuple(row) for row in found]


@pytest.fixture
def setup(engine: Engine, redis_client: Redis) -> Iterator[Setup]:
    with FakeModel(GOOD) as fake:
        yield Setup(engine, redis_client, fake)


def test_i7_a_call_is_reserved_counted_and_kept_without_its_words(setup: Setup) -> None:
    open_then: list[tuple[Any, ...]] = []

    def answer(_asked: Asked) -> Any:
        open_then.extend(setup.rows("outcome, tokens_settled"))
        return GOOD

    setup.fake.answer = answer
    model = setup.model()
    answered = model.ask(PROMPT, Spender("default", "maya", 7))
    assert answered.data == GOOD
    assert model.name == "openai fake-1"
    assert open_then == [(None, None)]
    (row,) = setup.rows("*")
    assert setup.rows("agent, run_id, purpose, model, prompt, outcome, counted, tokens_settled") == [
        ("maya", 7, "extract", "openai fake-1", "extract/1", "answered", True, setup.fake.tokens)
    ]
    assert "Priya" not in str(row)
    assert setup.purse.counted("default") == (1, 0, 0, setup.fake.tokens)


def test_mistake_17_each_failure_is_counted_with_what_it_cost(setup: Setup) -> None:
    def after(answer: Any) -> tuple[str, bool, int]:
        tokens = setup.fake.tokens
        setup.fake.answer = answer
        with pytest.raises((TransientError, ModelFailed)):
            setup.model().ask(PROMPT, MAYA)
        setup.clock.forward(seconds=1)
        *_, (outcome, counted, settled) = setup.rows("outcome, counted, tokens_settled")
        assert not counted or settled == setup.fake.tokens - tokens
        return outcome, counted, settled

    assert after([rate_limited(3)]) == ("unanswered", True, 0)
    assert after([server_error()]) == ("unanswered", True, 0)
    assert after([refused(403)]) == ("failed", True, 0)
    setup.redis.flushall()  # the breaker of a refused key
    assert after([truncated()])[:2] == ("failed", True)
    outcome, counted, settled = after([cut_connection("within")])
    assert (outcome, counted) == ("unanswered", False)
    assert settled == setup.rows("tokens_reserved")[-1][0]
    calls, failures, reserved, _ = setup.purse.counted("default")
    assert (calls, failures, reserved) == (5, 5, 0)


def test_mistake_17_an_unfit_answer_is_tried_once_more_as_a_call_of_its_own(setup: Setup) -> None:
    setup.fake.answer = [invalid_json(), GOOD]
    assert setup.model().ask(PROMPT, MAYA).data == GOOD
    assert [outcome for (outcome,) in setup.rows("outcome")] == ["failed", "answered"]
    assert setup.purse.counted("default") == (2, 1, 0, setup.fake.tokens)
    setup.fake.answer = [invalid_json()]
    with pytest.raises(UnfitAnswer):
        setup.model().ask(PROMPT, MAYA)
    assert setup.fake.calls == 4


def test_an_endpoint_may_refuse_one_field_after_the_other_and_the_first_question_gets_its_answer(setup: Setup) -> None:
    setup.fake.forget(
        GOOD, refuses=["temperature", "max_tokens", "response_format.json_schema", "response_format.json_object"]
    )
    assert setup.model().ask(PROMPT, MAYA).data == GOOD
    assert setup.fake.calls == 6


def test_i3_a_question_that_never_gets_an_answer_is_given_up_and_an_outage_of_an_hour_is_not_that(setup: Setup) -> None:
    setup.fake.answer = cut_connection("before")
    model, other = setup.model(), setup.model(model="fake-2")
    silent, apart = replace(PROMPT, about="window 7 1"), replace(PROMPT, about="window 7 9")

    def ask(asked: AskModel, prompt: Prompt, tenant: str = "default") -> Exception:
        with pytest.raises((Unanswered, ModelFailed)) as failed:
            asked.ask(prompt, Spender(tenant, "maya"))
        return failed.value

    for _ in range(12):
        assert isinstance(ask(model, silent), Unanswered)
        setup.clock.forward(minutes=5)
    setup.fake.answer = server_error()
    setup.clock.forward(hours=2)
    assert isinstance(ask(model, silent), Unanswered), "who refuses before any work says nothing about the question"
    setup.fake.answer = cut_connection("before")
    # I8: what another tenant asks, another window, and another model are questions of their own.
    for kept in (ask(model, PROMPT), ask(model, apart), ask(other, silent), ask(model, silent, "elsewhere")):
        assert isinstance(kept, Unanswered)
    given_up = ask(model, silent)
    assert isinstance(given_up, ModelFailed)
    assert "13 times in 3.0 h" in str(given_up)
    assert given_up.tokens == setup.rows("tokens_reserved")[-1][0]
    assert "window" not in str(setup.rows("*"))
    # A day later it is a new one.
    setup.clock.forward(hours=25)
    assert isinstance(ask(model, silent), Unanswered)


def test_i7_at_the_cap_nothing_is_asked_and_a_second_try_needs_room_too(setup: Setup) -> None:
    with pytest.raises(BudgetReached) as reached:
        setup.model(daily_token_budget=100).ask(PROMPT, MAYA)
    assert reached.value.cap == "memory.llm.daily_token_budget"
    assert setup.fake.calls == 0
    assert setup.rows("1") == []
    setup.fake.answer = [invalid_json()]
    with pytest.raises(BudgetReached):
        setup.model(max_calls_per_run=1).ask(PROMPT, Spender("default", "maya", 3))
    assert setup.fake.calls == 1


def test_i7_what_is_not_asked_uses_no_budget(setup: Setup) -> None:
    setup.fake.answer = [server_error()]
    model = setup.model(breaker_failures=2)
    for _ in range(2):
        with pytest.raises(Unanswered):
            model.ask(PROMPT, MAYA)
    with pytest.raises(TransientError) as closed:
        model.ask(PROMPT, MAYA)
    assert closed.value.retry_after
    assert setup.fake.calls == 2
    assert setup.purse.counted("default") == (2, 2, 0, 0)


def test_i7_whoever_is_stopped_in_mid_call_pays_in_full(setup: Setup) -> None:
    class Stopped(BaseException):
        pass

    class Stopping:
        name = "stopping 1"
        endpoint = "stopping"

        def complete(self, *_: object, **__: object) -> Any:
            raise Stopped

    caller = build_caller(Stopping(), Llm(), setup.engine, setup.redis, setup.clock)
    with pytest.raises(Stopped):
        caller.ask(PROMPT, MAYA)
    ((outcome, counted, settled, reserved),) = setup.rows("outcome, counted, tokens_settled, tokens_reserved")
    assert (outcome, counted, settled) == ("unanswered", False, reserved)


@dataclass
class Misbehaving:
    """Every fifth request fails, each time in another way. unknown: tokens of answers that were cut on the way."""

    unknown: int = 0
    _asked: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    def __call__(self, asked: Asked) -> Any:
        with self._lock:
            self._asked += 1
            number, fails = divmod(self._asked, 5)
        if fails:
            return GOOD
        reply = (rate_limited(0), server_error(), invalid_json(), cut_connection("within"), truncated())[number % 5]
        if reply.cut:
            with self._lock:
                self.unknown += asked.input_tokens + estimate(str(reply.content))
        return reply


def test_mistake_17_eight_workers_at_once_spend_what_the_endpoint_counts_and_never_more_than_the_cap(
    setup: Setup,
) -> None:
    """A fifth of the calls fails; who got no answer asks again, as a flush does."""
    setup.fake.answer = misbehaving = Misbehaving()
    cap = 12_000
    highest: list[int] = []
    answers: list[int] = []
    refusals: list[BudgetReached] = []

    def work(number: int) -> None:
        engine = make_engine(setup.engine.url.render_as_string(hide_password=False))
        model = setup.model(engine=engine, daily_token_budget=cap, max_output_tokens=900, max_concurrency=8)
        for _ in range(25):
            try:
                answers.append(model.ask(PROMPT, Spender("default", ("maya", "jonas")[number % 2])).tokens)
            except BudgetReached as reached:
                refusals.append(reached)
            except (TransientError, ModelFailed):
                pass
            _, _, reserved, settled = Purse(engine, Llm()).counted("default")
            highest.append(reserved + settled)
        engine.dispose()

    at_once(work, 8)
    calls, failures, reserved, settled = setup.purse.counted("default")
    costs = setup.rows("counted, tokens_settled")
    counted, guessed = (sum(tokens for known, tokens in costs if known is wanted) for wanted in (True, False))
    assert setup.purse.ledger("default") == (calls, failures, reserved, settled)
    assert (calls, reserved) == (setup.fake.calls, 0)
    assert counted == setup.fake.tokens - misbehaving.unknown
    assert guessed >= misbehaving.unknown
    assert settled == counted + guessed
    assert max(highest) <= cap
    assert failures == calls // 5
    assert len(answers) == calls - failures
    assert refusals


@pytest.mark.parametrize(
    ("llm", "words"),
    [
        (Llm(driver="openai"), "memory.llm.model names no model"),
        (Llm(driver="command"), "memory.llm.command names no program"),
    ],
)
def test_a_model_that_is_half_set_up_is_a_sentence(llm: Llm, words: str) -> None:
    nowhere = make_engine("postgresql://slowwave@127.0.0.1:1/slowwave")
    with pytest.raises(InvalidSettings, match=words):
        build_model(Settings(memory=MemorySettings(llm=llm)), nowhere, Redis(port=1), SetClock())


def test_without_a_driver_there_is_no_model_and_a_job_may_name_a_program(setup: Setup) -> None:
    settings = Settings()
    assert build_model(settings, setup.engine, setup.redis, setup.clock) is None
    said = json.dumps(GOOD)
    model = build_model(with_command(settings, f"echo '{said}'"), setup.engine, setup.redis, setup.clock)
    assert model is not None
    assert model.ask(PROMPT, MAYA).data == GOOD
    assert setup.rows("model, outcome") == [("command echo", "answered")]
