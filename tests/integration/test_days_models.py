"""Days summarised by a model: lines stand on what was said, and the rules stand in for it where it can't."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine

from proof.fake_model import FakeModel
from slowwave.settings import Days, Settings
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import AskModel, BudgetReached, ModelFailed, Prompt, Spender
from slowwave_server.services.days.finalize import FinalizeReport, finalize_ended
from slowwave_server.services.days.model_summarizer import ModelSummarizer, choose_summarizer
from slowwave_server.services.llm.build import build_model
from tests.support.answering import Oracle, Reply
from tests.support.summarizing import NOON, Diary

pytestmark = pytest.mark.servers

YESTERDAY = NOON.date() - timedelta(days=1)
A_DAY_AGO = NOON - timedelta(days=1)
LINES = (
    "I want to move the release to Friday.",
    "We decided to keep Postgres for the archive.",
    "My sister Lena works as a nurse in Oslo.",
)
MODEL = "model summarize/2 test oracle-1"
CAP = BudgetReached("memory.llm.daily_token_budget", datetime(2024, 5, 11, tzinfo=UTC))
WISHED = Days(daily_summary_use_model=True)


@pytest.fixture
def diary(engine: Engine) -> Diary:
    return Diary(engine)


def echo(prompt: Prompt) -> dict[str, Any]:
    """The last event, in the words in which it was said, with its speaker's name."""
    seq, speaker, said = re.findall(r"^\[(\d+)\] \d\d:\d\d, ([^:]+): (.+)$", prompt.user, re.MULTILINE)[-1]
    return {"lines": [{"facet": "said", "text": f"{speaker}: {said}", "seq": int(seq)}]}


def by(model: AskModel) -> ModelSummarizer:
    return ModelSummarizer(model, Spender("default", "maya"))


def makers(diary: Diary) -> list[str]:
    rows = diary.sql("SELECT summarizer FROM slowwave.day_segments ORDER BY session_id, from_seq")
    return [row.summarizer for row in rows]


def finalized(diary: Diary, model: AskModel) -> FinalizeReport:
    return finalize_ended(diary.engine, WISHED, now=diary.now, choose=choose_summarizer(WISHED, model))


def test_a_model_summarises_a_day_once_and_the_summary_says_so(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    model = Oracle(echo)
    assert diary.summarize(YESTERDAY, summarizer=by(model)).outcome == "summarized"
    assert diary.summarize(YESTERDAY, final=True, summarizer=by(model)).status == "final"
    summary = diary.summaries(YESTERDAY)[-1]
    assert (summary.made_by, summary.summarizer) == ("model", MODEL)
    assert [line["seq"] for line in summary.lines] == [3]
    assert len(model.asked) == 1, "what is kept is not asked for again"
    assert model.asked[0][1] == Spender("default", "maya")
    diary.check()


def test_the_rules_stand_in_for_a_model_and_their_name_says_why(diary: Diary) -> None:
    failed, waiting = f"rules/2 for {MODEL}", f"rules/2 until {MODEL}"
    replies: dict[str, tuple[Reply, str]] = {
        "maya": (lambda _p: ModelFailed("no JSON", tokens=9), failed),
        "jonas": (lambda _p: {"lines": [{"facet": "said", "text": "Priya owns 9 cats.", "seq": 1}]}, failed),
        "lena": (lambda _p: {"lines": [{"facet": "said"}]}, failed),
        "omar": (lambda _p: CAP, waiting),
    }
    for agent, (reply, name) in replies.items():
        diary.say(f"s-{agent}", *LINES, agent=agent, at=A_DAY_AGO)
        model = Oracle(reply)
        assert diary.summarize(YESTERDAY, agent, final=True, summarizer=by(model)).status == "final"
        summary = diary.summaries(YESTERDAY)[-1]
        assert (summary.made_by, summary.summarizer) == ("rules", name)
        assert "Oslo" in summary.text
        assert makers(diary)[-1] == name
        assert len(model.asked) == 1, "a segment is never asked about half by half"


def test_i7_what_the_rules_made_for_want_of_budget_is_made_again_when_there_is_some(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    diary.say("s2", "The invoice for Jonas was paid this morning.", at=A_DAY_AGO)
    spent = [0, 1, 1]
    scarce = Oracle(lambda prompt: CAP if spent.pop(0) else echo(prompt))
    assert finalized(diary, scarce).finalized == 1
    assert diary.summaries(YESTERDAY)[-1].summarizer == f"{MODEL}; 1 of 2 parts by rules/2 until {MODEL}"
    assert diary.summaries(YESTERDAY)[-1].made_by == "model"
    assert [report.outcome for report in finalized(diary, scarce).days] == ["unchanged"], "the cap still holds"
    rich = Oracle(echo)
    assert [report.version for report in finalized(diary, rich).days] == [2]
    assert len(rich.asked) == 1
    assert makers(diary) == [MODEL, MODEL]
    assert diary.entry(YESTERDAY).status == "final"
    assert finalized(diary, rich).days == ()
    diary.check()


def test_mistake_10_a_day_waits_while_the_model_is_away_and_loses_nothing(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    away = Oracle(lambda _prompt: TransientError("the endpoint is down", retry_after=7))
    report = diary.summarize(YESTERDAY, final=True, summarizer=by(away))
    assert (report.outcome, len(away.asked)) == ("failed", 1)
    # By this a question that never gets an answer is known, and given up in the end (I3).
    assert away.asked[0][0].about == "day maya s1 1"
    entry = diary.entry(YESTERDAY)
    assert entry.not_before is not None
    assert entry.not_before > diary.now
    assert (entry.version, makers(diary)) == (0, [])
    assert diary.summarize(YESTERDAY, final=True, summarizer=by(Oracle(echo))).status == "final"


def test_a_summary_that_dies_keeps_what_the_model_was_paid_for(diary: Diary) -> None:
    diary.say("s1", *(f"{line} ({n})" for n in range(70) for line in LINES), at=A_DAY_AGO)
    replies: list[object] = [None, TransientError("cut")]
    first = Oracle(lambda prompt: replies.pop(0) or echo(prompt))
    assert diary.summarize(YESTERDAY, summarizer=by(first)).outcome == "failed"
    assert makers(diary) == [MODEL]
    second = Oracle(echo)
    assert diary.summarize(YESTERDAY, summarizer=by(second)).outcome == "summarized"
    assert len(second.asked) == len(makers(diary)) - 1 == 2


def test_without_the_setting_no_model_is_asked() -> None:
    model = Oracle(echo)
    assert choose_summarizer(Days(), model) is choose_summarizer(WISHED, None)
    assert choose_summarizer(WISHED, model) is not choose_summarizer(WISHED, None)


def test_mistake_17_a_day_through_the_real_caller_pays_for_each_try(diary: Diary, redis_client: Redis) -> None:
    pytest.importorskip("openai")
    diary.say("s1", *LINES, at=A_DAY_AGO)
    said = {"lines": [{"facet": "wanted", "text": "Maya wants to move the release to Friday.", "seq": 1}]}
    with FakeModel(answer=["no JSON", said]) as fake:
        llm = {"driver": "openai", "model": "fake", "base_url": fake.base_url, "api_key": "none"}
        settings = Settings.model_validate({"memory": {"llm": llm, "days": {"daily_summary_use_model": True}}})
        model = build_model(settings, diary.engine, redis_client, lambda: diary.now)
        assert model is not None
        report = diary.summarize(YESTERDAY, final=True, summarizer=by(model))
        assert report.status == "final"
        assert [line["text"] for line in diary.summaries(YESTERDAY)[-1].lines] == [said["lines"][0]["text"]]
        calls = diary.sql("SELECT purpose, agent, outcome, tokens_settled FROM slowwave.llm_calls")
        assert {(call.purpose, call.agent) for call in calls} == {("summarize", "maya")}
        assert sorted(call.outcome for call in calls) == ["answered", "failed"]
        assert sum(call.tokens_settled for call in calls) == fake.tokens
