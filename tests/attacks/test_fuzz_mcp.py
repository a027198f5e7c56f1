"""The tools of `slowwave mcp` with any arguments: an answer or an error, no write where refused; it serves on."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave import Memory
from slowwave_server.workers.cli.mcp import tools_of
from slowwave_server.workers.shared.shell import Shell
from tests.attacks import strategies as odd
from tests.attacks.fuzzing import Witness, examples, tried
from tests.support.capturing import TURN, broken_sessions, settings_of

mcp = pytest.importorskip("mcp", reason="install the extra `mcp`")
make_server = pytest.importorskip("slowwave_server.workers.mcp_server").make_server

pytestmark = pytest.mark.servers

TIMEOUT_SECONDS = 60
LONGEST = 5000
HALVES = re.compile(r"\\ud[89a-f][0-9a-f]{2}")
"""Surrogates, which no client of the SDK can send."""
tree = odd.json_values
TOOLS: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "search": {"query": odd.often(odd.texts, tree), "limit": odd.often(st.integers(1, 50), odd.edge_numbers)},
    "context": {
        "query": odd.often(st.one_of(st.none(), odd.texts), tree),
        "session": odd.often(st.sampled_from([None, "monday"]), st.one_of(odd.odd_text, tree)),
        "max_tokens": odd.often(st.integers(50, 20_000), st.one_of(odd.edge_numbers, tree)),
    },
    "explain": {"memory_id": odd.often(st.uuids().map(str), st.one_of(odd.odd_text, tree))},
    "remember": {
        "content": odd.often(odd.texts, st.one_of(odd.odd_text, tree)),
        "importance": odd.often(st.floats(0, 1), st.one_of(odd.edge_numbers, tree)),
        "type": odd.often(st.sampled_from(["fact", "preference", "event"]), tree),
        "scope": odd.often(st.sampled_from([None, "room:kitchen"]), st.one_of(odd.odd_text, tree)),
    },
    "consolidate_now": {},
}
WRITING = {"remember", "consolidate_now"}
REQUIRED = {"search": {"query"}, "explain": {"memory_id"}, "remember": {"content"}}


@pytest.fixture(scope="module")
def server(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = settings_of(module_database, valkey_url, Path(tmp_path_factory.mktemp("mcp")) / "spool")
    shell = Shell()
    shell.settings = settings
    with Memory(settings) as memory, closing(shell):
        memory.turn_completed("atlas", "monday", TURN)
        yield make_server(tools_of(shell, memory, "atlas", ("room:kitchen",)))


def call(server: Any, *calls: tuple[str, Any]) -> list[Any]:
    """What one client is answered, call by call."""

    async def session() -> list[Any]:
        with anyio.fail_after(TIMEOUT_SECONDS):
            async with mcp.Client(server) as client:
                return [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(session)


def test_every_tool_is_fuzzed_with_every_argument(server: Any) -> None:
    async def session() -> Any:
        async with mcp.Client(server) as client:
            return (await client.list_tools()).tools

    listed = {tool.name: set(tool.input_schema["properties"]) for tool in anyio.run(session)}
    assert listed == {name: set(fields) for name, fields in TOOLS.items()}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_with_anything_answers_or_refuses_and_the_server_lives(
    name: str, server: Any, witness: Witness, module_database: str
) -> None:
    payloads = odd.payloads(TOOLS[name], frozenset(REQUIRED.get(name, ()))).map(odd.written)

    @examples(6)
    @given(payloads)
    def holds(written: str) -> None:
        arguments = json.loads(HALVES.sub("?", written)) if len(written) < LONGEST else None
        if not isinstance(arguments, dict):
            return
        before = witness.look()
        answer, after = call(server, (name, arguments), ("search", {"query": "dogs"}))
        tried(f"mcp {name}", taken=not answer.is_error)
        told = "".join(part.text for part in answer.content)
        assert "Traceback" not in told
        assert not after.is_error
        if answer.is_error:
            assert 0 < len(told) < LONGEST
        if answer.is_error or name not in WRITING:
            assert witness.look() == before, told[:200]

    holds()
    assert broken_sessions(module_database) == []
