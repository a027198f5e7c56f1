"""MCP at /mcp: the tools of the agent that the key fixes, with the rights that the key has."""

from typing import Any

import pytest

from tests.gateway.conftest import Doors

HEADERS = {"Accept": "application/json, text/event-stream"}


def call(doors: Doors, key: str, method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return doors.post("/mcp", body, key=key, headers=HEADERS)


@pytest.fixture(scope="module")
def key(doors: Doors) -> str:
    return doors.key(agents=("support",), scopes=("room:board",))


def test_client_begins_and_lists_the_tools(doors: Doors, key: str) -> None:
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    begun = call(doors, key, "initialize", **info)
    assert begun.json()["result"]["serverInfo"]["name"] == "slowwave"
    listed = call(doors, key, "tools/list").json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == {"search", "context", "explain", "remember", "consolidate_now"}


def test_remember_notes_for_the_agent_of_the_key(doors: Doors, key: str) -> None:
    noted = call(doors, key, "tools/call", name="remember", arguments={"content": "Invoices go out as PDF."})
    assert noted.json()["result"]["structuredContent"]["id"], noted.text
    found = doors.rows(
        "SELECT k.kind, k.name FROM slowwave.working_memory w JOIN slowwave.scopes k ON k.id = w.scope_id"
    )
    assert found == [("agent", "support")]
    told = call(doors, key, "tools/call", name="context", arguments={}).json()["result"]
    assert not told.get("isError"), told


def test_tool_without_its_right_is_refused(doors: Doors) -> None:
    reader = doors.key(agents=("support",), rights=("read",))
    told = call(doors, reader, "tools/call", name="remember", arguments={"content": "x"}).json()["result"]
    assert told["isError"]
    assert "does not have the right 'record'" in told["content"][0]["text"]


@pytest.mark.parametrize("agents", [(), ("support", "sales"), ("support-*",)])
def test_key_that_fixes_no_agent_is_refused(doors: Doors, agents: tuple[str, ...]) -> None:
    refused = call(doors, doors.key(agents=agents), "tools/list")
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/agent-not-fixed")


def test_scope_that_the_key_does_not_name_is_refused(doors: Doors, key: str) -> None:
    arguments = {"content": "x", "scope": "room:kitchen"}
    told = call(doors, key, "tools/call", name="remember", arguments=arguments).json()["result"]
    assert told["isError"]
