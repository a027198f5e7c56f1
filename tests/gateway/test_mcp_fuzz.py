"""Anything at `/mcp`: no answer of 500, no write where refused, and the server lists its tools on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attacks import strategies as odd
from tests.attacks.fuzzing import Witness, examples, tried
from tests.attacks.test_fuzz_mcp import REQUIRED, TOOLS, WRITING
from tests.gateway.conftest import Doors
from tests.gateway.test_mcp import HEADERS, call

pytestmark = pytest.mark.servers

METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "prompts/get",
    "notifications/initialized",
)
KEPT = ("api_keys",)
"""A key's last use is noted, whatever it asks."""
requests = st.fixed_dictionaries(
    {
        "jsonrpc": odd.often(st.just("2.0"), odd.json_values),
        "method": odd.often(st.sampled_from(METHODS), odd.json_values),
    },
    optional={
        "id": odd.often(st.integers(0, 99), odd.json_values),
        "params": odd.often(st.dictionaries(odd.odd_text, odd.json_values, max_size=3), odd.json_values),
    },
)
bodies = st.one_of(
    requests.map(odd.written),
    st.lists(requests, max_size=3).map(odd.written),
    odd.json_texts,
    st.text(max_size=200),
)
headers = st.fixed_dictionaries(
    {
        "Accept": odd.often(st.just(HEADERS["Accept"]), st.sampled_from(["", "text/html", "*/*", "application/json"])),
        "Content-Type": odd.often(
            st.just("application/json"), st.sampled_from(["", "text/plain", "application/json;x"])
        ),
    },
    optional={
        "Mcp-Session-Id": st.from_regex(r"[!-~]{0,40}", fullmatch=True),
        "MCP-Protocol-Version": odd.often(st.just("2025-06-18"), st.from_regex(r"[!-~]{0,20}", fullmatch=True)),
    },
)


@pytest.fixture(scope="module")
def key(doors: Doors) -> str:
    return doors.key(agents=("support",), scopes=("room:kitchen",))


@pytest.fixture(scope="module")
def witness(module_database: str) -> Iterator[Witness]:
    """Sees whether a call wrote something."""
    witness = Witness(module_database)
    yield witness
    witness.close()


def checked(doors: Doors, key: str, answer: Any) -> bool:
    """Check what every answer keeps; return whether it has a result without an error."""
    assert answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text
    listed = call(doors, key, "tools/list").json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == set(TOOLS)
    if answer.status_code >= 400 or not answer.content:
        return False
    told = answer.json()
    return all(
        "result" in one and not one["result"].get("isError") for one in (told if isinstance(told, list) else [told])
    )


def test_any_message_is_answered_or_refused(doors: Doors, key: str, witness: Witness) -> None:
    @examples(40)
    @given(bodies, headers, st.sampled_from(["POST"] * 5 + ["GET", "PUT", "DELETE"]))
    def holds(body: str, given: dict[str, str], method: str) -> None:
        before = witness.look(without=KEPT)
        answer = doors.ask(method, "/mcp", key=key, content=body.encode("utf-8", "replace"), headers=given)
        tried("http mcp message", taken=checked(doors, key, answer))
        assert witness.look(without=KEPT) == before

    holds()


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_any_argument_of_a_tool_is_answered_or_refused(name: str, doors: Doors, key: str, witness: Witness) -> None:
    @examples(10)
    @given(odd.payloads(TOOLS[name], frozenset(REQUIRED.get(name, ()))).map(odd.written))
    def holds(arguments: str) -> None:
        params = f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}'
        body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
        before = witness.look(without=KEPT)
        told = {**HEADERS, "Content-Type": "application/json"}
        answer = doors.ask("POST", "/mcp", key=key, content=body.encode("utf-8", "replace"), headers=told)
        taken = checked(doors, key, answer)
        tried(f"http mcp {name}", taken=taken)
        if not taken or name not in WRITING:
            assert witness.look(without=KEPT) == before, answer.text[:200]

    holds()
