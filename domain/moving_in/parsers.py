"""The parser of each system."""

from collections.abc import Callable

from slowwave_server.domain.moving_in import chatgpt, claude, langgraph, letta, mem0, zep
from slowwave_server.domain.moving_in.coding import LogReader
from slowwave_server.domain.moving_in.records import Entries, Piece, System

Read = Callable[[Piece], Entries]


def reader(system: System) -> Read:
    """Return a parser for one pass through the pieces of a system."""
    if system in {"claude-code", "codex"}:
        return LogReader("claude-code" if system == "claude-code" else "codex").read
    plain: dict[str, Read] = {
        "mem0": mem0.read,
        "letta": letta.read,
        "zep": zep.read,
        "langgraph": langgraph.read,
        "chatgpt": chatgpt.read,
        "claude": claude.read,
    }
    return plain[system]
