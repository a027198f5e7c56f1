"""A window is paid once: whoever loses its lease while a model answers leaves a call that the next worker waits for."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis import Redis
from sqlalchemy import Engine

from proof.fake_model import FakeModel
from proof.fake_replies import cut_connection, slow
from slowwave.identity import SessionRef
from slowwave.settings import Settings
from slowwave_server.domain.failures import TransientError, WindowTaken
from slowwave_server.domain.model_calls import Answer, ModelFailed
from slowwave_server.domain.model_extraction import KnownContext
from slowwave_server.models.engine import make_engine
from slowwave_server.services.extraction.window_answers import Question, WindowAnswers
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.retention.job import remove_old_answers
from tests.support.flushing import make_scene
from tests.support.modelling import memory
from tests.support.processes import wait_until
from tests.support.talking import Talk

pytestmark = pytest.mark.servers

CELLO = {"memories": [memory("Maya plays the cello.", 1)]}
SESSION = SessionRef("default", "maya", "s1")
ANSWER = Answer("", CELLO, 100, 20, "fake-1")


@pytest.fixture
def talk(database_url: str, engine: Engine, redis_client: Redis) -> Iterator[Talk]:
    scene = make_scene(engine, redis_client)
    return Talk(scene, redis_client, database_url)


def _rows(talk: Talk) -> list[Any]:
    return talk.scene.sql("SELECT * FROM slowwave.window_answers")


def _calls(talk: Talk) -> list[tuple[str, int]]:
    rows = talk.scene.sql("SELECT outcome, tokens_settled FROM slowwave.llm_calls ORDER BY reserved_at")
    return [(row.outcome, row.tokens_settled) for row in rows]


def _meanwhile(work: Callable[[], FlushResult]) -> tuple[threading.Thread, list[FlushResult]]:
    results: list[FlushResult] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    return thread, results


def _say(talk: Talk, *lines: str) -> None:
    talk.scene.say("s1", *lines, name="Maya", trigger="idle")


@pytest.mark.parametrize("losses", [1, 3])
def test_i7_lost_lease_pays_no_second_call(talk: Talk, redis_client: Redis, losses: int) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=slow(1.5, CELLO)) as fake:
        extractor = talk.extractor(fake)
        workers = []
        for _ in range(losses + 1):
            workers.append(_meanwhile(lambda: talk.flush(extractor)))
            wait_until(lambda: fake.calls == 1, 5, "the model is asked")
            wait_until(lambda: talk.scene.queue.inspect(SESSION).state == "running", 5, "a worker has the lease")
            redis_client.flushdb()
        for thread, _ in workers:
            thread.join(30)
        assert fake.calls == 1
        spent = fake.tokens
    outcomes = sorted(result.outcome for _, results in workers for result in results)
    assert outcomes == ["lost"] * losses + ["stored"]
    assert talk.scene.memories() == ["Maya plays the cello."]
    assert _calls(talk) == [("answered", spent)]
    assert [row["tokens"] for row in talk.ledger()] == [spent]
    assert _rows(talk) == []
    assert talk.scene.session("s1").attempts == 0


def test_window_that_grew_meanwhile_waits_for_the_same_answer(talk: Talk, redis_client: Redis) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=[slow(1.5, CELLO), {"memories": []}]) as fake:
        extractor = talk.extractor(fake)
        thread, results = _meanwhile(lambda: talk.flush(extractor))
        wait_until(lambda: fake.calls == 1, 5, "the model is asked")
        _say(talk, "I also own a boat.")
        redis_client.flushdb()
        second = talk.flush(extractor)
        thread.join(30)
        assert fake.calls == 1
        assert sorted([second.outcome, results[0].outcome]) == ["lost", "stored"]
        assert talk.scene.windows("s1") == [(1, 1, "stored")]
        assert talk.flush(extractor).outcome == "no_reply"
        assert fake.calls == 2
    assert [window[:2] for window in talk.scene.windows("s1")] == [(1, 1), (2, 2)]


def test_answer_of_a_worker_that_died_before_its_commit_is_used(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=CELLO) as fake:
        extractor = talk.extractor(fake)
        begun = replace(talk.scene.flusher, extractor=_Dies(extractor))
        _flush(talk, begun)
        assert [row.answer["data"] for row in _rows(talk)] == [CELLO]
        talk.scene.clock.pass_time(600)
        assert talk.flush(extractor).outcome == "stored"
        assert fake.calls == 1
    assert _rows(talk) == []


class _Dies:
    """An extractor whose worker is gone as soon as it has the answer."""

    def __init__(self, extractor: Any) -> None:
        self._extractor = extractor
        self.name, self.version = extractor.name, extractor.version

    def extract(self, *given: Any) -> Any:
        self._extractor.extract(*given)
        raise KeyboardInterrupt


def _flush(talk: Talk, flusher: Any) -> None:
    talk.scene.queue.offer(SESSION, "normal")
    with pytest.raises(KeyboardInterrupt):
        flusher.flush(SESSION)


def test_i3_dead_worker_is_waited_for_until_its_call_expires(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=CELLO) as fake:
        extractor = talk.extractor(fake, longest=1)
        _flush(talk, replace(talk.scene.flusher, extractor=_Dies(extractor)))
        talk.scene.sql("UPDATE slowwave.window_answers SET answer = NULL, answered_at = NULL RETURNING 1")
        assert fake.calls == 1
        assert talk.flush(extractor).outcome == "failed"
        assert fake.calls == 1
        assert "another worker" in talk.scene.session("s1").last_error
        assert talk.scene.session("s1").attempts == 1, "the dead worker's attempt counts, waiting does not"
        talk.scene.clock.pass_time(600)
        assert talk.flush(extractor).outcome == "stored"
        assert fake.calls == 2


def test_failed_call_leaves_nothing_behind_and_is_asked_again_later(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=[cut_connection("before"), CELLO]) as fake:
        extractor = talk.extractor(fake)
        assert talk.flush(extractor).outcome == "failed"
        assert _rows(talk) == []
        talk.scene.clock.pass_time(600)
        assert talk.flush(extractor).outcome == "stored"


@pytest.mark.parametrize("target", [Target.of_agent("default", "maya"), Target.of_session("default", "maya", "s1")])
def test_i10_forget_takes_waiting_answers(
    talk: Talk, redis_client: Redis, database_url: str, tmp_path: Path, target: Target
) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=CELLO) as fake:
        _flush(talk, replace(talk.scene.flusher, extractor=_Dies(talk.extractor(fake))))
    assert len(_rows(talk)) == 1
    settings = Settings.model_validate({"database_url": database_url, "memory": {"files": {"root": str(tmp_path)}}})
    engine = make_engine(database_url)
    Forgetter(engine, redis_client, settings, talk.scene.clock).forget(target, by="maya")
    engine.dispose()
    assert _rows(talk) == []


def test_retention_takes_answers_that_nobody_committed(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    with FakeModel(answer=CELLO) as fake:
        _flush(talk, replace(talk.scene.flusher, extractor=_Dies(talk.extractor(fake))))
    now = talk.scene.clock()
    assert remove_old_answers(talk.scene.engine, now=now) == 0
    assert remove_old_answers(talk.scene.engine, now=now + timedelta(hours=25)) == 1


def _answers(talk: Talk, wait: float = 0.3) -> WindowAnswers:
    return WindowAnswers(talk.scene.engine, talk.scene.clock, wait, 30)


def _question(talk: Talk, *, digest: bytes = b"one", to_seq: int = 1) -> Question:
    return Question(talk.scene.session("s1").id, 1, to_seq, digest, KnownContext.of("Maya has a boat."))


def test_stored_answer_comes_with_what_was_known_to_its_prompt(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    question = _question(talk)
    assert _answers(talk).ask(question, lambda: ANSWER) == (ANSWER, question.known)
    other = replace(question, known=KnownContext.of("Maya has a car."))
    assert _answers(talk).ask(other, _never) == (ANSWER, question.known)


def _never() -> Answer:
    raise AssertionError("nobody asks")


def test_another_question_about_the_window_is_asked(talk: Talk) -> None:
    _say(talk, "I play the cello.", "I own a boat.")
    _answers(talk).ask(_question(talk), lambda: ANSWER)
    again = replace(ANSWER, input_tokens=7)
    for question in (_question(talk, digest=b"two"), _question(talk, to_seq=2)):
        assert _answers(talk).ask(question, lambda: again)[0] == again


def test_waiting_ends_in_time(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    talk.scene.sql(
        "INSERT INTO slowwave.window_answers"
        " VALUES (:id, 1, 1, 'one', :owner, '{}', NULL, :now, :later, NULL) RETURNING 1",
        id=talk.scene.session("s1").id, owner=uuid4(), now=talk.scene.clock(),
        later=talk.scene.clock() + timedelta(seconds=30),
    )  # fmt: skip
    with pytest.raises(TransientError, match="another worker still waits"):
        _answers(talk).ask(_question(talk), _never)


def test_a_dead_call_of_a_worker_whose_clock_was_ahead_is_asked_again(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    ahead = talk.scene.clock() + timedelta(hours=6)
    talk.scene.sql(
        "INSERT INTO slowwave.window_answers"
        " VALUES (:id, 1, 1, 'one', :owner, '{}', NULL, :now, :later, NULL) RETURNING 1",
        id=talk.scene.session("s1").id, owner=uuid4(), now=ahead, later=ahead + timedelta(seconds=30),
    )  # fmt: skip
    assert _answers(talk).ask(_question(talk), lambda: ANSWER)[0] == ANSWER


def test_committed_window_is_asked_nothing(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    question = _question(talk)
    talk.scene.flush("s1")
    with pytest.raises(WindowTaken):
        _answers(talk).ask(question, _never)


def test_failure_of_the_call_reaches_its_own_worker(talk: Talk) -> None:
    _say(talk, "I play the cello.")

    def fails() -> Answer:
        raise ModelFailed("no")

    with pytest.raises(ModelFailed):
        _answers(talk).ask(_question(talk), fails)
    assert _rows(talk) == []


def test_answer_that_is_too_long_is_used_and_not_stored(talk: Talk) -> None:
    _say(talk, "I play the cello.")
    long = replace(ANSWER, data={"memories": ["x" * 500_000]})
    assert _answers(talk).ask(_question(talk), lambda: long)[0] == long
    assert _rows(talk) == []
