"""Flushes with a model behind a real endpoint: what fails waits or falls back, nothing is lost or doubled."""

import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine

from proof.fake_model import FakeModel
from proof.fake_replies import Asked, cut_connection, invalid_json, rate_limited, server_error, slow, truncated
from slowwave.settings import Settings
from slowwave_server.services.extraction.judging import rules_extractor
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.services.reports.status import read_status
from tests.support.flushing import make_scene
from tests.support.hostile import TURNS, worst
from tests.support.modelling import memory
from tests.support.talking import Talk

pytestmark = pytest.mark.servers

CELLO = {"memories": [memory("Maya plays the cello.", 1)]}


@pytest.fixture
def talk(database_url: str, engine: Engine, redis_client: Redis) -> Iterator[Talk]:
    scene = make_scene(engine, redis_client)
    return Talk(scene, redis_client, database_url)


def test_a_window_becomes_the_model_s_memories_and_the_ledger_says_so(talk: Talk) -> None:
    talk.scene.say("s1", "I play the cello.", name="Maya", trigger="idle")
    with FakeModel(
        answer={"memories": [memory("Maya plays the cello.", 1), memory("Maya plays the harp.", 7)]}
    ) as fake:
        result = talk.flush(talk.extractor(fake))
        spent = fake.tokens
    assert (result.outcome, result.stored) == ("stored", 1)
    assert talk.scene.memories() == ["Maya plays the cello."]
    (row,) = talk.ledger()
    assert row["extractor"] == "model openai fake-1"
    assert row["extractor_version"] == f"extract/2 + rules {rules_extractor(Settings()).version}"
    assert row["dropped"] == {"outside": 1}
    assert row["fallback"] is None
    assert row["tokens"] == spent


def test_no_reply_as_plain_text_is_an_answer(talk: Talk) -> None:
    talk.scene.say("s1", "I play the cello.", name="Maya", trigger="idle")
    with FakeModel(answer="NO_REPLY") as fake:
        assert talk.flush(talk.extractor(fake)).outcome == "no_reply"
        assert fake.calls == 1
    assert talk.scene.session("s1").processed_until == 1


@pytest.mark.parametrize(
    "failure",
    [
        rate_limited(7),
        server_error(500),
        server_error(503),
        cut_connection("before"),
        cut_connection("within"),
        slow(3),
    ],
    ids=["429", "500", "503", "cut before", "cut within", "time-out"],
)
def test_mistakes_1_and_10_a_transient_failure_waits_and_consumes_nothing(talk: Talk, failure: Any) -> None:
    talk.scene.say("s1", "I play the cello.", name="Maya", trigger="idle")
    with FakeModel(answer=[*[failure] * 5, CELLO]) as fake:
        extractor = talk.extractor(fake, timeout_seconds=0.25, breaker_failures=100)
        for failures in range(1, 6):
            result = talk.flush(extractor)
            session = talk.scene.session("s1")
            assert result.outcome == "failed"
            assert (session.processed_until, session.attempts, session.failures) == (0, 0, failures)
            assert session.not_before > talk.scene.clock()
            assert "cello" not in session.last_error
            talk.scene.clock.pass_time(600)
        assert talk.flush(extractor).outcome == "stored"
    assert talk.scene.memories() == ["Maya plays the cello."]
    assert talk.scene.windows("s1") == [(1, 1, "stored")]


def test_i3_a_window_that_the_model_never_gets_done_goes_to_the_rules_after_two_hours(talk: Talk) -> None:
    talk.scene.say("s1", "I have two dogs called Rex and Luna.", name="Maya", trigger="idle")
    talk.scene.sql("UPDATE slowwave.sessions SET failures = 32767 RETURNING id")
    began = talk.scene.clock()
    with FakeModel(answer=cut_connection("before")) as fake:
        extractor = talk.extractor(fake, breaker_failures=100)
        while talk.flush(extractor).outcome == "failed":
            assert talk.scene.session("s1").processed_until == 0
            talk.scene.clock.pass_time(600)
            assert fake.calls < 20
    assert talk.scene.clock() - began >= timedelta(hours=2)
    assert talk.scene.memories() == ["Maya has two dogs called Rex and Luna."]
    (row,) = talk.ledger()
    assert (row["extractor"], row["fallback"]) == ("rules", "failed")
    assert "times in 2.0 h" in row["fallback_why"]


@pytest.mark.parametrize(
    "failure", [invalid_json(), truncated(), {"memories": 3}], ids=["no JSON", "cut", "other JSON"]
)
def test_i3_a_model_that_gives_nothing_of_use_leaves_the_window_to_the_rules(talk: Talk, failure: Any) -> None:
    talk.scene.say("s1", "I have two dogs called Rex and Luna.", name="Maya", trigger="idle")
    with FakeModel(answer=failure) as fake:
        assert talk.flush(talk.extractor(fake)).outcome == "stored"
        assert fake.calls <= 2
    assert talk.scene.memories() == ["Maya has two dogs called Rex and Luna."]
    (row,) = talk.ledger()
    assert (row["extractor"], row["fallback"]) == ("rules", "failed")
    assert row["fallback_why"]
    assert "Rex" not in row["fallback_why"]
    assert row["tokens"] > 0


@pytest.mark.parametrize(("longest", "calls"), [(0.5, 1), (30, 2)])
def test_no_try_begins_that_might_end_later_than_an_extraction_may_take(talk: Talk, longest: float, calls: int) -> None:
    talk.scene.say("s1", "I have two dogs called Rex and Luna.", name="Maya", trigger="idle")
    with FakeModel(answer=slow(0.1, "no JSON")) as fake:
        assert talk.flush(talk.extractor(fake, longest)).outcome == "stored"
        assert fake.calls == calls
    assert talk.ledger()[0]["fallback"] == "failed"


def test_i7_at_a_cap_the_rules_go_on_and_the_ledger_names_it(talk: Talk) -> None:
    talk.scene.say("s1", "I have two dogs called Rex and Luna.", name="Maya", trigger="idle")
    with FakeModel(answer=CELLO) as fake:
        assert talk.flush(talk.extractor(fake, agent_daily_token_budget=10)).outcome == "stored"
        assert fake.calls == 0
    (row,) = talk.ledger()
    assert (row["extractor"], row["fallback"], row["tokens"]) == ("rules", "budget", 0)
    assert row["fallback_why"] == "memory.llm.agent_daily_token_budget"
    with talk.scene.engine.connect() as connection:
        status = read_status(connection, talk.scene.queue, "default", talk.scene.clock())
    assert status.left_to_rules == {"budget": 1, "failed": 0}


def test_i8_a_model_is_told_what_its_own_scope_knows_and_nothing_of_others(talk: Talk) -> None:
    scene = talk.scene
    scene.say("s0", "Maya keeps a cello in the attic.", trigger="idle")
    scene.say("s0", "Jonas keeps a cello in the vault.", agent="jonas", trigger="idle")
    scene.flush("s0")
    scene.flush("s0", agent="jonas")
    scene.clock.pass_time(60)
    scene.say("s1", "Where is my cello again?", name="Maya", trigger="idle")
    with FakeModel(answer={"memories": [memory("Maya keeps a cello in the attic.", 1)]}) as fake:
        assert talk.flush(talk.extractor(fake)).outcome == "no_reply"
        (asked,) = fake.asked
    assert f"[K1] {scene.clock():%Y-%m-%d} Maya keeps a cello in the attic." in asked.user
    assert "vault" not in asked.user
    # Mistake 24: what it was told is no evidence, and hasn't become any.
    assert talk.ledger()[-1]["dropped"] == {"known": 1}
    (sources,) = scene.sql(
        "SELECT count(*) FROM slowwave.memory_sources x JOIN slowwave.memories m ON m.id = x.memory_id"
        " WHERE m.content LIKE '%attic%'"
    )
    assert sources == (1,)


def test_mistake_27_flushes_that_hear_the_same_at_once_end_in_one_memory(talk: Talk) -> None:
    together = threading.Barrier(4, timeout=20)

    def answer(asked: Asked) -> Any:
        together.wait()
        return CELLO

    # Four agents of one room: no lease keeps them apart, the database alone does.
    for agent in "abcd":
        talk.scene.say("s1", "I play the cello.", agent=agent, name="Maya", trigger="idle")
    talk.scene.sql("UPDATE slowwave.sessions SET scope_id = (SELECT min(id) FROM slowwave.scopes) RETURNING id")
    results: list[FlushResult] = []
    with FakeModel(answer=answer) as fake:
        extractor = talk.extractor(fake)
        threads = [threading.Thread(target=lambda a=a: results.append(talk.flush(extractor, agent=a))) for a in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert [result.outcome for result in results] == ["stored"] * 4
    assert sum(result.stored for result in results) == 1
    assert talk.scene.memories() == ["Maya plays the cello."]
    assert talk.scene.sql("SELECT count(*) AS n FROM slowwave.memory_sources")[0].n == 4


def test_hostile_turns_reach_no_other_scope_and_no_other_trust(talk: Talk) -> None:
    scene = talk.scene
    scene.say("calm", "Jonas trusts nobody.", agent="jonas", trigger="idle")
    scene.flush("calm", agent="jonas")
    before = scene.sql("SELECT count(*) AS n FROM slowwave.scopes")[0].n

    def obey(asked: Asked) -> Any:
        shown = [
            int(line.split(" ")[0][1:]) for line in asked.user.splitlines() if line[:1] == "#" and line[1:2].isdigit()
        ]
        return {"memories": [_whole(item) for seq in shown for item in worst(TURNS[seq - 1], seq)]}

    scene.say("s1", *(turn.replace("\0", "") for turn in TURNS), name="Maya", trigger="idle")
    with FakeModel(answer=obey) as fake:
        extractor = talk.extractor(fake)
        while (result := talk.flush(extractor)).more:
            assert result.outcome in {"stored", "no_reply"}
        assert fake.calls >= 3
    rows = scene.sql(
        "SELECT a.name, m.trust, m.type, m.content FROM slowwave.memories m"
        " JOIN slowwave.scopes k ON k.id = m.scope_id LEFT JOIN slowwave.agents a ON a.name = k.name"
    )
    assert {row.name for row in rows} == {"maya", "jonas"}
    assert [row.content for row in rows if row.name == "jonas"] == ["Jonas trusts nobody."]
    assert {row.trust for row in rows} == {"user"}
    assert scene.sql("SELECT count(*) AS n FROM slowwave.scopes")[0].n == before + 1
    assert len(rows) > 20


def _whole(item: Mapping[str, Any]) -> dict[str, Any]:
    """As the schema of the prompt lets it through at the most."""
    return {key: value for key, value in (memory("", 1) | dict(item)).items() if key in memory("", 1)}
