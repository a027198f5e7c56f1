"""`slowwave run rebuild` as a person and as a script use it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine

from proof.fake_model import FakeModel
from proof.fake_replies import Asked
from tests.support.flushing import Scene, make_scene
from tests.support.modelling import memory
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


class SceneShell(Shell):
    """A shell, and the flushed sessions that its commands rebuild."""

    def __init__(self, database_url: str, broker_url: str, scene: Scene) -> None:
        super().__init__(database_url, broker_url)
        self.scene = scene

    def model(self, fake: FakeModel, **more: str) -> dict[str, str]:
        of_model = {"DRIVER": "openai", "MODEL": "fake-1", "BASE_URL": fake.base_url} | more
        return {f"SLOWWAVE_MEMORY__LLM__{name}": value for name, value in of_model.items()}


@pytest.fixture
def shell(database_url: str, engine: Engine, valkey_url: str, redis_client: Redis) -> Iterator[SceneShell]:
    scene = make_scene(engine, redis_client)
    for session in ("s1", "s2", "s3"):
        scene.say(session, f"Maya keeps bees in garden {session}.", trigger="idle")
        scene.flush(session)
    return SceneShell(database_url, valkey_url, scene)


def tending(asked: Asked) -> Any:
    line = next(line for line in asked.user.splitlines() if line.startswith("#1 "))
    garden = line.rstrip(".").rsplit(" ", 1)[-1]
    return {"memories": [memory(f"The user said Maya keeps her bees in garden {garden}.", 1)]}


def test_a_rebuild_shows_what_differs_asks_and_can_be_undone(shell: SceneShell) -> None:
    with FakeModel(answer=tending) as fake:
        model = shell.model(fake)
        refused = shell("run", "rebuild", "maya", "--extractor", "model", stdin="n\n", **model)
        assert refused.exit_code == 0, refused.output
        assert "3 changed" in refused.output
        assert "Nothing was changed" in refused.output
        assert "Maya keeps bees in garden s1." in shell.scene.memories()
        done = shell("run", "rebuild", "maya", "--extractor", "model", "--yes", "--json", **model)
        assert done.exit_code == 0, done.output
        assert fake.calls == 3, "nothing is asked twice"
    report = json.loads(done.stdout)
    assert report["switched"]
    assert (report["read"], report["calls"], len(report["changed"])) == (3, 0, 3)
    assert report["tokens"] > 0
    assert "rebuild" in shell("run", "list", "--kind", "rebuild").output
    undone = shell("run", "undo", str(report["run"]))
    assert undone.exit_code == 0, undone.output
    live = shell.scene.sql("SELECT content FROM slowwave.memories WHERE status <> 'archived' ORDER BY content")
    assert [row.content for row in live] == [f"Maya keeps bees in garden {name}." for name in ("s1", "s2", "s3")]


def test_i7_at_a_cap_a_rebuild_stops_says_so_and_goes_on_later(shell: SceneShell) -> None:
    with FakeModel(answer=tending) as fake:
        model = shell.model(fake, MAX_CALLS_PER_RUN="2")
        stopped = shell("run", "rebuild", "maya", "--extractor", "model", "--yes", **model)
        assert stopped.exit_code == 1
        assert "memory.llm.max_calls_per_run is reached" in stopped.output
        assert "the same command continues" in stopped.stderr
        done = shell("run", "rebuild", "maya", "--extractor", "model", "--yes", **model)
        assert done.exit_code == 0, done.output
        assert fake.calls == 3


def test_what_was_left_to_the_rules_is_read_by_the_model_when_it_can(shell: SceneShell) -> None:
    shell.scene.sql(
        "UPDATE slowwave.flushes SET fallback = 'budget' WHERE id = (SELECT min(id) FROM slowwave.flushes) RETURNING id"
    )
    with FakeModel(answer=tending) as fake:
        result = shell("run", "rebuild", "maya", "--only-fallback", "--yes", "--json", **shell.model(fake))
        assert result.exit_code == 0, result.output
        assert fake.calls == 1
    assert json.loads(result.stdout)["windows"] == 1


def test_what_cant_be_done_is_said_in_a_sentence(shell: SceneShell) -> None:
    asked = shell("run", "rebuild", "maya", "--json")
    assert asked.exit_code == 2
    missing = shell("run", "rebuild", "maya", "--extractor", "model", "--yes")
    assert missing.exit_code == 2
    assert "memory.llm.driver must be openai or command" in missing.stderr
    unknown = shell("run", "rebuild", "mayo", "--yes")
    assert unknown.exit_code == 1
    assert "did you mean 'maya'" in unknown.stderr
