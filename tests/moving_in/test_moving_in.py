"""Moving in: counts match, a second time adds nothing, an undo leaves nothing, and nothing of others is touched."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from slowwave.errors import SlowwaveError
from slowwave_server.domain.moving_in.records import System
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.undo import undo
from tests.moving_in.moving import KEPT, House
from tests.support.forgetting import dump_tables

pytestmark = pytest.mark.servers

FIXTURES = [
    ("mem0", "mem0_export.json", 4, 0, 0),
    ("mem0", "mem0_qdrant", 4, 0, 0),
    ("langgraph", "langgraph_store.sqlite", 4, 0, 0),
    ("zep", "graphiti_export.json", 3, 4, 1),
    ("letta", "letta_agent.af", 3, 4, 1),
    ("letta", "letta_memfs", 3, 0, 0),
    ("chatgpt", "chatgpt", 0, 6, 2),
    ("claude", "claude", 0, 3, 1),
]


@pytest.mark.parametrize(("system", "name", "memories", "messages", "sessions"), FIXTURES)
def test_counts_match_and_twice_adds_nothing(
    house: House, system: System, name: str, memories: int, messages: int, sessions: int
) -> None:
    look = house.bring(system, name, dry_run=True)
    assert (house.count("agents"), house.count("maintenance_runs"), look.runs) == (0, 0, {})
    report = house.bring(system, name)
    assert report.held == {"memories": memories, "messages": messages, "conversations": sessions}
    assert {key: number for key, number in look.done.items() if number} == {
        key: number for key, number in report.done.items() if number
    }
    assert (house.count("memories"), house.count("events"), house.count("sessions")) == (memories, messages, sessions)
    before = {table: rows for table, rows in dump_tables(house.engine).items() if table in KEPT}
    again = house.bring(system, name)
    assert again.runs == {}
    assert {table: rows for table, rows in dump_tables(house.engine).items() if table in KEPT} == before


@pytest.mark.parametrize(("system", "name"), [(one[0], one[1]) for one in FIXTURES])
def test_undo_leaves_nothing_behind(house: House, system: System, name: str) -> None:
    report = house.bring(system, name)
    house.flush_all()
    assert house.count("memories") > 0
    done = house.undo(report.runs["ines"])
    assert done.final
    assert house.counts() == dict.fromkeys(KEPT, 0)
    house.bring(system, name)
    assert house.count("memories") + house.count("events") > 0


def test_undo_keeps_what_others_say(house: House) -> None:
    house.scene.say("monday", "Ines is allergic to walnuts.", "Ines sold her van.", agent="ines")
    house.flush_all()
    before = house.counts()
    report = house.bring("mem0", "mem0_export.json")
    assert report.done["memories said again"] == 1
    house.undo(report.runs["ines"])
    assert set(house.memories()) == {"Ines is allergic to walnuts.", "Ines sold her van."}
    assert house.counts() == before


def test_undo_of_another_tenants_run_is_refused(house: House) -> None:
    report = house.bring("chatgpt", "chatgpt")
    with pytest.raises(UnknownName, match="tenant 'other' has no run"):
        house.undo(report.runs["ines"], tenant="other")
    assert house.count("events") == 6


def test_plain_undo_points_to_the_right_one(house: House) -> None:
    run = house.bring("chatgpt", "chatgpt").runs["ines"]
    with pytest.raises(CannotUndo, match=f"`slowwave run undo {run}`"):
        undo(house.engine, "default", run, by="test", now=house.clock())
    done = house.undo(run)
    with pytest.raises(CannotUndo, match="was undone already"):
        house.undo(run)
    with pytest.raises(CannotUndo, match="import that again"):
        house.undo(done.run)


def test_memory_keeps_its_text_times_and_id(house: House) -> None:
    house.bring("zep", "graphiti_export.json")
    porto = house.memories()["Ines lives in Porto."]
    assert porto.id == UUID("ee000000-0000-4000-8000-000000000001")
    assert (porto.valid_from, porto.valid_to) == (
        datetime(2025, 3, 1, 9, tzinfo=UTC),
        datetime(2025, 5, 2, tzinfo=UTC),
    )
    assert porto.trust == "import"
    row = house.sql("SELECT file FROM slowwave.memory_imports WHERE memory_id = :id", id=porto.id)[0]
    assert row.file == "zep:ee000000-0000-4000-8000-000000000001"


def test_id_that_another_agent_has_is_not_taken(house: House) -> None:
    first = house.bring("zep", "graphiti_export.json", "ines")
    second = house.bring("zep", "graphiti_export.json", "tomas")
    assert first.done["memories added"] == second.done["memories added"] == 3
    assert house.count("memories") == 6
    house.undo(second.runs["tomas"])
    assert house.count("memories") == 3


def test_message_says_where_it_came_from(house: House) -> None:
    house.bring("chatgpt", "chatgpt")
    rows = house.sql(
        "SELECT s.name, e.metadata, e.happened_at FROM slowwave.events e"
        " JOIN slowwave.sessions s ON s.id = e.session_id ORDER BY s.name, e.seq"
    )
    assert rows[0].name == "chatgpt:c1000000-0000-4000-8000-000000000001"
    assert rows[0].metadata == {"from": "chatgpt", "conversation": rows[0].name.removeprefix("chatgpt:"), "id": "c1-b"}
    assert rows[0].happened_at == datetime.fromtimestamp(1741600100, UTC)


def test_owner_takes_one_user_of_several(house: House) -> None:
    report = house.bring("mem0", "mem0_qdrant", owner="tomas")
    assert report.owners == {"ines": 3, "tomas": 1}
    assert set(house.memories()) == {"Tomas plans a cold-water swim every Sunday."}


def longer_export(tmp_path: Path, *texts: str) -> Path:
    messages = [
        {"uuid": f"m{number}", "sender": "human", "text": text, "created_at": f"2025-05-01T10:0{number}:00Z"}
        for number, text in enumerate(texts)
    ]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "d1", "chat_messages": messages}]))
    return path


def test_longer_conversation_goes_on_in_its_own_session(house: House, tmp_path: Path) -> None:
    first = house.bring("claude", longer_export(tmp_path, "one", "two"))
    second = house.bring("claude", longer_export(tmp_path, "one", "two", "three"))
    assert house.events() == [
        ("claude:d1", "user", "one"),
        ("claude:d1", "user", "two"),
        ("claude:d1 (2)", "user", "three"),
    ]
    house.undo(first.runs["ines"])
    assert house.events() == [("claude:d1 (2)", "user", "three")]
    house.undo(second.runs["ines"])
    assert house.events() == []


def test_session_that_went_on_is_not_undone(house: House, tmp_path: Path) -> None:
    run = house.bring("claude", longer_export(tmp_path, "one")).runs["ines"]
    house.scene.say("claude:d1", "said live", agent="ines")
    with pytest.raises(CannotUndo, match=r"went on since, with 1 event .*slowwave session forget ines claude:d1"):
        house.undo(run)
    assert len(house.events()) == 2


def test_logs_of_coding_agents_go_to_their_repositories(house: House) -> None:
    code = house.bring("claude-code", "claude_code", None)
    codex = house.bring("codex", "codex", None)
    assert (code.agents, codex.agents) == (("bikes",), ("ledger",))
    assert {session for session, _, _ in house.events()} == {
        "5e000000-0000-4000-8000-000000000001",
        "0198c000-0000-7000-8000-000000000001",
    }
    assert house.bring("codex", "codex", None).runs == {}
    house.undo(code.runs["bikes"])
    house.undo(codex.runs["ledger"])
    assert house.counts() == dict.fromkeys(KEPT, 0)


def test_log_that_was_recorded_live_adds_nothing(house: House) -> None:
    house.bring("claude-code", "claude_code", None)
    house.sql("UPDATE slowwave.sessions SET import_run = NULL, import_seq = NULL")
    before = house.events()
    report = house.bring("claude-code", "claude_code", None)
    assert (report.runs, house.events()) == ({}, before)


def test_broken_entries_are_named_and_the_rest_comes_in(house: House, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    good = {"id": "1", "memory": "Ines paints.", "user_id": "ines"}
    path.write_text(json.dumps({"results": [good, {"id": "2"}, 7, {"id": "3", "memory": "x" * 30_000}]}))
    report = house.bring("mem0", path)
    assert (report.done["memories added"], report.broken_count) == (1, 3)
    assert report.broken[0] == ("mem0.json: results 2", "neither memory nor data holds a text")


def test_failure_half_way_can_be_undone_and_gone_on_from(house: House, tmp_path: Path) -> None:
    path = tmp_path / "episodes.json"
    export = json.loads((Path(__file__).parent / "fixtures" / "graphiti_export.json").read_text())
    path.write_text(json.dumps(export))

    class Full(Exception):
        pass

    moments = iter([house.clock()] * 6)

    def failing() -> Any:
        try:
            return next(moments)
        except StopIteration:
            house.clock = lambda: datetime.now(UTC)
            raise Full from None

    house.clock = failing
    with pytest.raises(Full):
        house.bring("zep", path)
    rows = house.sql("SELECT id, status FROM slowwave.maintenance_runs")
    assert [row.status for row in rows] in (["failed"], ["running"])
    house.sql("UPDATE slowwave.maintenance_runs SET lease_until = NULL")
    house.bring("zep", path)
    assert (house.count("memories"), house.count("events")) == (3, 4)
    for row in house.sql("SELECT id FROM slowwave.maintenance_runs WHERE kind = 'import' ORDER BY id"):
        house.undo(row.id)
    assert house.counts() == dict.fromkeys(KEPT, 0)


def test_agent_must_be_named(house: House) -> None:
    with pytest.raises(SlowwaveError, match="give --agent NAME"):
        house.bring("mem0", "mem0_export.json", None)


def test_undo_after_passes_lets_merged_memories_stand_again(house: House, tmp_path: Path) -> None:
    house.scene.say("monday", "Ines rides to work on a cargo bike every day.", "Ines lives in Ghent.", agent="ines")
    house.flush_all()
    own = set(house.memories())
    path = tmp_path / "mem0.json"
    texts = ["Ines rides to work every day on a cargo bike.", "Ines lives in Porto.", "Ines lives in Ghent, Belgium."]
    path.write_text(json.dumps([{"id": str(number), "memory": text} for number, text in enumerate(texts)]))
    run = house.bring("mem0", path).runs["ines"]
    scope = house.sql("SELECT id FROM slowwave.scopes")[0].id
    for kind in ("light", "deep"):
        consolidate(
            house.engine, Order(scope, kind, by="test"), settings=house.settings.memory.consolidation, clock=house.clock
        )
    changed = house.sql("SELECT action FROM slowwave.memory_changes WHERE run_id > :run", run=run)
    assert {row.action for row in changed} & {"merged", "conflict", "linked", "superseded", "synthesised"}
    house.undo(run)
    assert set(house.memories()) == own
    assert house.count("memory_imports") == house.count("memory_conflicts") == 0
    for row in house.memories().values():
        assert row.valid_to is None
