"""What holds of mem0 alone: no doubles, no leaks, nothing that it does by itself."""

import logging
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, NoReturn
from uuid import UUID

import pytest
from sqlalchemy import text

from slowwave import Memory
from slowwave.call_timeout import CallTimeout
from slowwave.coordination.keys import CONSOLIDATE_QUEUE
from slowwave.embedding import EmbeddingFailed
from slowwave.errors import InvalidQuery, InvalidSettings
from slowwave.mem0_backend import Copy, CopyStore, Mem0Failed, Owner, connect, identity_of
from slowwave.mem0_backend.copies import Found
from slowwave.messages import DELIVER_OUTBOX
from slowwave.recall.selection import shown_line
from slowwave.recall.tokens import estimate
from slowwave.settings import Settings
from slowwave_server.services.forget.target import Target
from slowwave_server.services.mem0_backend.delivery import Mem0Report, copies_due, copies_of, deliver_to_mem0
from slowwave_server.services.memory_files.backends import note_identity
from slowwave_server.services.reports.copies import check_copies
from slowwave_server.workers.app import SlowwaveApp, make_app
from tests.conformance.conftest import MakeWorld
from tests.support.backing import QDRANT, Down, World
from tests.support.consolidating import NOW
from tests.support.processes import wait_until

pytestmark = [pytest.mark.long, pytest.mark.servers]

TEA, CELLO = "Maya drinks green tea", "Priya plays the cello"


class Dies:
    """A mem0 whose worker dies right after it wrote."""

    def __init__(self, store: CopyStore) -> None:
        self._store = store
        self.identity = store.identity

    def put(self, owner: Owner, copies: Sequence[Copy]) -> dict[UUID, str]:
        self._store.put(owner, copies)
        raise KeyboardInterrupt

    def remove(self, ids: Iterable[UUID]) -> None:
        self._store.remove(ids)
        raise KeyboardInterrupt

    def search(self, owner: Owner, question: str, limit: int) -> list[Found]:
        return self._store.search(owner, question, limit)


class OtherModel:
    name = "another model"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0, 0.0] for _ in texts]


class Picky(OtherModel):
    """Refuses a text, and with it each batch that holds it."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if any("poison" in text for text in texts):
            raise EmbeddingFailed("another model answered 400", transient=False, by_text=True)
        return super().embed(texts)


class Silent(Down):
    """A mem0 that keeps its askers waiting until it is let go."""

    def __init__(self) -> None:
        self.go = Event()

    def search(self, owner: Owner, question: str, limit: int) -> list[Found]:
        self.go.wait(10)
        return super().search(owner, question, limit)


def owner(world: World) -> Owner:
    return Owner("default", "agent", world.who)


@pytest.fixture
def qdrant(make_world: MakeWorld) -> World:
    """mem0 with a store of its own, of which Postgres knows nothing."""
    return make_world(QDRANT)


@pytest.mark.parametrize("kind", ["mem0", QDRANT])
def test_a_worker_that_dies_between_mem0_and_postgres_leaves_no_double(make_world: MakeWorld, kind: str) -> None:
    world = make_world(kind)
    heard = [world.agent().hear(content) for content in (TEA, CELLO)]
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            world.deliver(store=Dies(world.store()))
    assert world.waiting() == 2
    world.deliver()
    assert world.held() == [TEA, CELLO]
    assert {row["id"] for row in world.rows(owner(world))} == {str(memory) for memory in heard}
    world.change(heard[0], status="archived", archive_reason="expired")
    with pytest.raises(KeyboardInterrupt):
        world.deliver(store=Dies(world.store()))
    world.deliver()
    assert (world.held(), world.waiting()) == ([CELLO], 0)


def test_mistake_27_many_writers_at_once_leave_one_copy(mem0: World) -> None:
    memory = mem0.agent().hear(TEA)
    with mem0.engine.connect() as connection:
        copies = copies_of(connection, mem0.agent().scope_id, [memory])
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: mem0.store().put(owner(mem0), copies), range(8)))
    assert any(not failed for failed in outcomes)
    assert mem0.held() == [TEA]
    with ThreadPoolExecutor(2) as pool:
        scope, store = mem0.agent().scope_id, mem0.store()
        reports = list(pool.map(lambda _: deliver_to_mem0(mem0.engine, scope, store, now=NOW), range(2)))
    assert sorted(report.written for report in reports) == [0, 1]
    assert mem0.held() == [TEA]


def test_i10_a_delivery_that_read_before_the_forget_brings_nothing_back(mem0: World) -> None:
    memory = mem0.agent().hear(TEA)
    with mem0.engine.connect() as connection:
        copies = copies_of(connection, mem0.agent().scope_id, [memory])
    assert mem0.forget(Target.of_memory("default", memory)).problems == ()
    assert set(mem0.store().put(owner(mem0), copies)) == {memory}
    assert mem0.held() == []


def test_i10_what_is_forgotten_while_mem0_is_down_is_hidden_at_once_and_gone_later(qdrant: World) -> None:
    heard = {content: qdrant.agent().hear(content) for content in (TEA, CELLO)}
    qdrant.deliver()
    report = qdrant.forget(Target.of_memory("default", heard[TEA]), lambda _: Down())
    assert report.counts["copies in mem0"] == 1
    (problem,) = report.problems
    assert "1 copy" in problem
    assert "no search shows" in problem
    assert qdrant.held() == [TEA, CELLO]
    assert [hit.content for hit in qdrant.ask("What tea does Maya drink?")] in ([], [CELLO])
    qdrant.choose("postgres")
    with qdrant.engine.connect() as connection:
        assert check_copies(connection, "postgres", 30, now=NOW).verdict == "problem"
        assert copies_due(connection, "postgres", limit=10, now=NOW) == [], "it backs off"
    qdrant.agent().sql("UPDATE slowwave.outbox SET not_before = NULL")
    with qdrant.engine.connect() as connection:
        assert [scope.name for scope in copies_due(connection, "postgres", limit=10, now=NOW)] == [qdrant.who]
    qdrant.kind = QDRANT
    assert qdrant.deliver()
    assert qdrant.held() == [CELLO], "what nobody touched stays, for when mem0 is chosen again"
    rows = qdrant.agent().sql("SELECT count(*) AS n FROM slowwave.outbox WHERE memory_id = :m", m=heard[TEA])
    assert rows[0].n == 0, "its id goes, too"


def test_i10_what_went_with_its_memory_is_not_said_to_be_there_still(mem0: World) -> None:
    """Nor does it take a model to know that, which may not be installed where somebody forgets."""

    def no_model(_: Settings) -> NoReturn:
        raise InvalidSettings("no model is installed")

    memory = mem0.agent().hear(TEA)
    mem0.deliver()
    report = mem0.forget(Target.of_memory("default", memory), no_model)
    assert (report.problems, report.counts["copies in mem0"]) == ((), 1)
    assert (mem0.held(), mem0.waiting()) == ([], 0)


def test_i10_a_copy_that_a_forget_wants_written_anew_is_hidden_until_it_is(mem0: World) -> None:
    memory = mem0.agent().hear(TEA)
    mem0.deliver()
    # As a forget marks what rested on a conversation that is gone, and on others.
    marked = "UPDATE slowwave.outbox SET forgotten = true, changes = changes + 1 WHERE memory_id = :m"
    mem0.agent().sql(marked, m=memory)
    assert mem0.ask("What tea does Maya drink?") == []
    mem0.deliver()
    assert [hit.content for hit in mem0.ask("What tea does Maya drink?")] == [TEA]
    mem0.agent().sql("UPDATE slowwave.outbox SET changes = changes + 1 WHERE memory_id = :m", m=memory)
    assert [hit.content for hit in mem0.ask("What tea does Maya drink?")] == [TEA], "any other change hides nothing"


def test_mistake_16_a_text_that_the_model_refuses_holds_up_no_other_copy(mem0: World) -> None:
    for content in (TEA, "the poison is in the tea", CELLO):
        mem0.agent().hear(content)
    report = mem0.deliver(store=connect(mem0.settings(), Picky()))
    assert isinstance(report, Mem0Report)
    assert (report.state, report.written, report.error) == ("failed", 2, "another model answered 400")
    assert (mem0.held(), mem0.waiting()) == ([TEA, CELLO], 1)
    mem0.deliver()
    assert mem0.waiting() == 0, "another model may take it"


def test_a_search_does_not_wait_for_mem0_for_ever(mem0: World) -> None:
    mem0.agent().hear(CELLO)
    silent = Silent()
    with Memory(mem0.settings()) as memory:
        memory.store.mem0._store = silent
        memory.store.mem0.call_timeout = CallTimeout(0.05)
        assert [hit.content for hit in memory.search(mem0.who, "Who plays the cello?")] == [CELLO]
    silent.go.set()


def test_a_search_keeps_its_budget_and_refuses_what_it_cannot_do(mem0: World) -> None:
    for content in (CELLO, TEA):
        mem0.agent().hear(content)
    mem0.deliver()
    both = mem0.ask("Who plays the cello and drinks tea?")
    assert len(both) == 2
    budget = max(estimate(shown_line(hit)) for hit in both)
    assert mem0.ask("Who plays the cello and drinks tea?", max_tokens=budget) == both[:1]
    for wrong in ({"max_tokens": -1}, {"min_relevance": 2.0}, {"around": 99}, {"order": "random"}):
        with pytest.raises(InvalidQuery, match=next(iter(wrong))):
            mem0.ask("Who?", **wrong)


def test_scores_say_what_the_order_says(mem0: World) -> None:
    bergen = mem0.agent().hear("Maya moved away to Bergen")
    porto = mem0.agent().hear("Maya lives in Porto")
    mem0.agent().hear(CELLO)
    mem0.change(porto, valid_to=NOW, superseded_by=bergen)
    mem0.deliver()
    hits = mem0.ask("Does Maya live in Porto?")
    # mem0 finds Porto first; the value that holds stands before it all the same.
    assert [hit.content for hit in hits][:2] == ["Maya moved away to Bergen", "Maya lives in Porto"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_a_host_loads_mem0_before_the_first_question(mem0: World) -> None:
    with Memory(mem0.settings()) as memory:
        memory.warm()
        wait_until(lambda: memory.store.mem0._store is not None, 60, "mem0 is connected")


def test_a_mem0_that_cannot_be_loaded_is_told_by_the_first_question(mem0: World, tmp_path: Path) -> None:
    missing = mem0.settings()
    wrong = missing.memory.mem0.model_copy(update={"config": str(tmp_path / "missing.yaml")})
    settings = missing.model_copy(update={"memory": missing.memory.model_copy(update={"mem0": wrong})})
    with Memory(settings) as memory:
        memory.warm()
        with pytest.raises(InvalidSettings, match="can't be read"):
            memory.search(mem0.who, "Who plays the cello?")


def test_where_mem0_does_not_answer_postgres_does_and_the_log_says_so(
    mem0: World, caplog: pytest.LogCaptureFixture
) -> None:
    mem0.agent().hear(CELLO)
    with Memory(mem0.settings()) as memory:
        memory.store.mem0._store = Down()
        assert [hit.content for hit in memory.search(mem0.who, "Who plays the cello?")] == [CELLO]
        assert [hit.content for hit in memory.context(mem0.who, query="Who plays the cello?").memories] == [CELLO]
    assert "mem0 did not answer, Postgres does" in caplog.text


def test_a_context_takes_what_is_relevant_from_mem0(mem0: World) -> None:
    for content in (TEA, CELLO):
        mem0.agent().hear(content)
    mem0.deliver()
    with Memory(mem0.settings()) as memory:
        memory.store.mem0._store = mem0.store()
        # No word of the question stands in what answers it.
        found = memory.context(mem0.who, query="Which musical instrument?")
    assert found.memories[0].content == CELLO


def test_nothing_is_logged_kept_or_asked_by_mem0_itself(mem0: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    memory = mem0.agent().hear(TEA)
    mem0.deliver()
    mem0.agent().sql("UPDATE slowwave.outbox SET changes = changes + 1 WHERE memory_id = :m", m=memory)
    mem0.deliver()
    mem0.ask("What tea does Maya drink?")
    mem0.store().remove([memory, memory])
    assert mem0.held() == []
    assert "green tea" not in caplog.text
    assert sys.modules["mem0.memory.telemetry"].MEM0_TELEMETRY is False
    inside: Any = mem0.store()
    assert inside._memory.history(str(memory)) == []
    with pytest.raises(Mem0Failed, match="asked for a model"):
        inside._memory.llm.generate_response([{"role": "user", "content": "hello"}])


def test_vectors_of_another_model_are_never_compared_and_all_are_made_anew(mem0: World) -> None:
    mem0.agent().hear(TEA)
    mem0.deliver()
    other = connect(mem0.settings(), OtherModel())
    assert other.search(owner(mem0), "What tea does Maya drink?", 5) == []
    with mem0.engine.begin() as connection:
        assert not note_identity(connection, identity_of(mem0.settings()), NOW)
        assert note_identity(connection, other.identity, NOW)
    assert mem0.waiting() == 1
    mem0.deliver(store=other)
    assert [found.content for found in other.search(owner(mem0), "What?", 5)] == [TEA]
    assert mem0.ask("What tea does Maya drink?") == []
    mem0.begin()  # a worker starts with the model of before
    mem0.number -= 1
    mem0.deliver()
    assert mem0.ask("What tea does Maya drink?")[0].content == TEA


def test_what_is_missing_or_wrong_is_told_in_a_sentence(mem0: World) -> None:
    def settings(**memory: Any) -> Settings:
        return mem0.settings().model_copy(update={"memory": mem0.settings().memory.model_copy(update=memory)})

    wrong = mem0.folder / "wrong.yaml"
    for words in ("- a list\n", "vector_store: 7\n", "vector_store:\n  provider: nobody\n"):
        wrong.write_text(words, encoding="utf-8")
        config = mem0.settings().memory.mem0.model_copy(update={"config": str(wrong)})
        with pytest.raises(InvalidSettings, match="mem0"):
            connect(settings(mem0=config))
    unset = "import sys; sys.modules['mem0'] = None; from slowwave import Settings; from slowwave.mem0_backend import"
    code = f"{unset} connect; connect(Settings(memory={{'backend': 'mem0'}}))"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "install the extra `mem0` of slowwave" in failed.stderr


@pytest.fixture
def app(mem0: World) -> Iterator[SlowwaveApp]:
    mem0.redis.flushall()
    app = make_app(mem0.settings())
    app.loader.import_default_modules()
    app.runtime().memory.store.mem0._store = mem0.store()
    yield app
    app.close_runtime()


def test_workers_deliver_to_mem0_what_the_tick_finds(mem0: World, app: SlowwaveApp) -> None:
    mem0.agent().hear(TEA)
    app.tasks["slowwave.sync_files"].apply()
    assert mem0.redis.llen(CONSOLIDATE_QUEUE) >= 1
    deliver = app.tasks[DELIVER_OUTBOX]
    assert deliver.apply(kwargs={"agent": mem0.who}).get() == "current"
    assert mem0.held() == [TEA]
    assert deliver.apply(kwargs={"agent": mem0.who}).get() == "off", "nothing waits"
    app.runtime().memory.store.mem0._store = Down()
    mem0.agent().hear(CELLO)
    assert deliver.apply(kwargs={"agent": mem0.who}).get() == "failed"
    with mem0.engine.connect() as connection:
        errors = connection.execute(text("SELECT last_error FROM slowwave.outbox WHERE last_error IS NOT NULL")).all()
    assert [row.last_error for row in errors] == ["mem0: no route to 1 of agent"]
