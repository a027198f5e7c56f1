"""`slowwave mem0`, and what other commands say of it."""

import pytest

from tests.support.backing import World
from tests.support.shelling import Shell

pytestmark = [pytest.mark.long, pytest.mark.servers]


def shell_of(world: World, backend: str = "mem0") -> Shell:
    broker = world.settings().broker_url
    return Shell(world.database_url, broker, world.folder, SLOWWAVE_MEMORY__BACKEND=backend)


def test_sync_feeds_mem0_without_a_worker_and_status_and_search_show_it(mem0: World) -> None:
    shell, who = shell_of(mem0), mem0.who
    mem0.choose("postgres")
    mem0.agent().hear("Maya drinks green tea")
    assert "no worker delivers to mem0" in shell("backend", "status", "mem0").stdout
    assert shell("backend", "status", "mem0").exit_code == 1
    done = shell("backend", "sync", "mem0", who)
    assert (done.exit_code, done.stdout.strip()) == (0, f"{who}: 1 memory written")
    status = shell.json("backend", "status", "mem0")
    assert (status["fed"], status["problem"], status["identity"]) == (True, None, "local all-MiniLM-L6-v2")
    (mine,) = [scope for scope in status["scopes"] if scope["scope"] == who]
    assert (mine["copies"], mine["waiting"]) == (1, 0)
    # Postgres finds nothing that shares no word with the question.
    assert [hit["content"] for hit in shell.json("search", who, "favourite beverage")] == ["Maya drinks green tea"]
    assert shell.json("status", exit_code=1)["backends"] == {"mem0": 0}
    assert shell.json("backend", "sync", "mem0", who, "--again")[who]["written"] == 1


def test_sync_with_another_backend_says_what_to_set(mem0: World) -> None:
    refused = shell_of(mem0, "postgres")("backend", "sync", "mem0")
    assert refused.exit_code != 0
    assert "memory.backend must be mem0" in refused.stderr
