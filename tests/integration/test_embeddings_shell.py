"""`slowwave backend`, and the tick of workers that makes vectors."""

import json
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from proof.fake_model import FakeModel
from proof.fake_replies import server_error
from slowwave import Memory, Settings
from slowwave.settings import Embeddings, MemorySettings
from slowwave_server.beat_schedule import schedule
from slowwave_server.workers.app import make_app
from slowwave_server.workers.cli.main import app
from tests.support.recalling import Shelf
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers


def run(environment: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    done = CliRunner(env=environment).invoke(app, ["backend", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_vectors_from_settings_to_search(database_url: str, valkey_url: str, tmp_path: Path) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection, FakeModel() as fake:
        shelf = Shelf(connection)
        shelf.say("monday", "The puppy sleeps", "Bread is cheap")
        shelf.keep("Jonas lives in Oslo")
        base = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_SPOOL": str(tmp_path)}
        assert "Vectors are off" in run(base, "status", "vectors")[1]
        assert run(base, "sync", "vectors")[0] == 1
        key = "SLOWWAVE_MEMORY__EMBEDDINGS__"
        environment = base | {f"{key}DRIVER": "openai", f"{key}MODEL": "small", f"{key}BASE_URL": fake.base_url}
        code, said, _ = run(environment, "sync", "vectors")
        assert (code, said.strip()) == (0, "Vectors of 1 memory and 2 events were made.")
        (space,) = json.loads(run(environment, "status", "vectors", "--json")[1])["spaces"]
        assert space["model"] == "openai small"
        assert (space["state"], space["memories"], space["events"]) == ("serving", 1, 2)
        # A worker's tick does the same.
        shelf.keep("Priya drinks tea")
        embeddings = Embeddings(driver="openai", model="small", base_url=fake.base_url)
        settings = Settings(
            database_url=database_url,
            broker_url=valkey_url,
            spool=tmp_path,
            memory=MemorySettings(embeddings=embeddings),
        )
        assert schedule(settings)["slowwave.index_vectors"]["schedule"] == 15
        assert "slowwave.index_vectors" not in schedule(Settings())
        workers = make_app(settings)
        try:
            workers.loader.import_default_modules()
            assert workers.tasks["slowwave.index_vectors"].apply().get() == "done"
            with Memory(settings) as memory:
                fake.forget("OK")
                assert memory.search("maya", "Where does Jonas live?")[0].content == "Jonas lives in Oslo"
                assert memory.context("maya", query="tea for Priya").memories[0].content == "Priya drinks tea"
                assert fake.calls == 2
                # An endpoint that is away leaves the words.
                fake.forget(server_error())
                assert memory.search("maya", "Does Jonas live in Oslo?")[0].content == "Jonas lives in Oslo"
                assert workers.tasks["slowwave.index_vectors"].apply().get() == "done"
                shelf.keep("Maya has a dog", since=datetime(2024, 5, 1, tzinfo=UTC))
                assert workers.tasks["slowwave.index_vectors"].apply().get() == "failed"
        finally:
            workers.close_runtime()
        code, _, complaint = run(environment, "sync", "vectors")
        assert code == 3
        assert "not all vectors were made: openai small answered 500" in complaint
        assert run(environment, "sync", "vectors", "--again")[0] == 3
        (space,) = json.loads(run(environment, "status", "vectors", "--json")[1])["spaces"]
        assert (space["state"], space["memories"]) == ("serving", 2), "what serves is not thrown away for nothing"
