"""Each system's own files become the memories and messages that they hold, and everything else is counted."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave_server.domain.moving_in.parsers import reader
from slowwave_server.domain.moving_in.records import Broken, ImportedMessage, LeftOut, Moved, Piece, System
from slowwave_server.services.moving_in.opening import open_source

FIXTURES = Path(__file__).parent / "fixtures"


def read(system: System, name: str) -> list[Moved | ImportedMessage | LeftOut | Broken]:
    parse = reader(system)
    found: list[Moved | ImportedMessage | LeftOut | Broken] = []
    for piece in open_source(system, str(FIXTURES / name)):
        found += parse(piece) if isinstance(piece, Piece) else [piece]
    return found


COUNTS = [
    ("mem0", "mem0_export.json", (4, 0, 0)),
    ("mem0", "mem0_qdrant", (4, 0, 0)),
    ("langgraph", "langgraph_export.json", (4, 0, 0)),
    ("langgraph", "langgraph_store.sqlite", (4, 0, 0)),
    ("zep", "graphiti_export.json", (3, 4, 1)),
    ("letta", "letta_agent.af", (3, 4, 7)),
    ("letta", "letta_memfs", (3, 0, 1)),
    ("chatgpt", "chatgpt", (0, 6, 4)),
    ("claude", "claude", (0, 3, 1)),
    ("claude-code", "claude_code", (0, 4, 2)),
    ("codex", "codex", (0, 4, 3)),
]


@pytest.mark.parametrize(("system", "name", "counts"), COUNTS, ids=[f"{one[0]}-{one[1]}" for one in COUNTS])
def test_counts_match_the_fixture(system: System, name: str, counts: tuple[int, int, int]) -> None:
    found = Counter(type(entry) for entry in read(system, name))
    assert (found[Moved], found[ImportedMessage], found[LeftOut]) == counts
    assert found[Broken] == 0


def memories(system: System, name: str) -> dict[str, Moved]:
    return {entry.text: entry for entry in read(system, name) if isinstance(entry, Moved)}


def messages(system: System, name: str) -> list[ImportedMessage]:
    return [entry for entry in read(system, name) if isinstance(entry, ImportedMessage)]


def test_mem0_store_says_what_its_export_says() -> None:
    assert memories("mem0", "mem0_qdrant") == memories("mem0", "mem0_export.json")
    walnuts = memories("mem0", "mem0_qdrant")["Ines is allergic to walnuts."]
    assert (walnuts.owner, len(walnuts.origin), walnuts.at is not None) == ("ines", 36, True)


def test_langgraph_store_says_what_its_export_says() -> None:
    assert memories("langgraph", "langgraph_store.sqlite") == memories("langgraph", "langgraph_export.json")
    texts = memories("langgraph", "langgraph_store.sqlite")
    assert "name: Ines Moreira; languages: Portuguese, Dutch; role: bicycle mechanic" in texts
    assert texts["Ines prefers trains to planes."].owner == "memories.ines"


def test_graphiti_edge_keeps_its_validity() -> None:
    porto = memories("zep", "graphiti_export.json")["Ines lives in Porto."]
    assert (porto.at, porto.until) == (datetime(2025, 3, 1, 9, tzinfo=UTC), datetime(2025, 5, 2, tzinfo=UTC))
    assert memories("zep", "graphiti_export.json")["Ines lives in Ghent."].until is None


def test_graphiti_episode_is_split_by_speaker() -> None:
    said = [(one.message["role"], one.message.get("name")) for one in messages("zep", "graphiti_export.json")]
    assert said == [("user", "Ines"), ("assistant", None), ("user", "Ines"), ("user", None)]


def test_letta_message_is_unpacked() -> None:
    said = [one.message["content"] for one in messages("letta", "letta_agent.af")]
    assert said[:2] == ["I ordered twelve brake pads from Velo Nord.", "Noted: twelve brake pads from Velo Nord."]


def test_chatgpt_follows_the_branch_read_last() -> None:
    first = [one.message for one in messages("chatgpt", "chatgpt") if one.origin.endswith("1")]
    assert [one["role"] for one in first] == ["user", "assistant", "user", "assistant"]
    assert "Bruno" in first[0]["content"]
    assert first[2]["content"] == "Here is a picture of it."
    assert first[0]["metadata"] == {
        "from": "chatgpt",
        "conversation": "c1000000-0000-4000-8000-000000000001",
        "id": "c1-b",
    }


def test_claude_attachment_is_part_of_its_message() -> None:
    contents = [one.message["content"] for one in messages("claude", "claude")]
    assert contents[2] == "Here is my plan.\n\nplan.txt:\nPrune the quinces in February."
    assert "Quinces." not in contents[1]


def test_coding_logs_have_the_keys_of_the_hooks() -> None:
    code, codex = messages("claude-code", "claude_code"), messages("codex", "codex")
    assert [one.message["key"] for one in code] == [f"claude-code:u{number}" for number in (1, 2, 3, 5)]
    assert {one.folder for one in code} == {"/home/ines/bikes"}
    assert {one.origin for one in codex} == {"0198c000-0000-7000-8000-000000000001"}
    assert all(one.message["key"].startswith(f"codex:{one.origin}:") for one in codex)
