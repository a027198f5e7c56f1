"""`slowwave hook HOST mcp`: the MCP server of the folder's agent, under the settings that `slowwave connect` saved."""

from typing import Any

import anyio
import pytest

from proof.coding_host import SLOWWAVE, Home
from tests.support.capturing import rows

mcp = pytest.importorskip("mcp", reason="install the extra `mcp`")
stdio = pytest.importorskip("mcp.client.stdio")

pytestmark = pytest.mark.servers


def test_server_has_the_memory_of_the_repository(home: Home, database_url: str) -> None:
    (home.repository / "slowwave.yaml").write_text("tenant: thief\n")

    async def talk() -> Any:
        words = [*SLOWWAVE[1:], "hook", "claude-code", "mcp"]
        server = mcp.StdioServerParameters(
            command=SLOWWAVE[0], args=words, env=home.environment, cwd=str(home.repository)
        )
        with anyio.fail_after(60):
            async with mcp.Client(stdio.stdio_client(server)) as client:
                return await client.call_tool("remember", {"content": "Our staging server is called heron."})

    assert not anyio.run(talk).is_error
    found = rows(database_url, "SELECT k.tenant, k.kind, k.name FROM slowwave.scopes k")
    assert found == [("default", "agent", "github.com/acme/shop")]
