"""Tool events on real servers: what a flush, a search, a context and a day make of them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.identity import SessionRef
from slowwave.ingest import ingest
from slowwave.messages import RecordTurn
from slowwave.recall import Hit
from slowwave.settings import Tools
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.summaries import summarize_segment
from slowwave_server.models.schema import migrate
from slowwave_server.services.queued_calls import record_turn
from tests.integration.test_spool import Outage
from tests.support.capturing import broken_sessions, rows, settings_of
from tests.support.flushing import Scene
from tests.support.recalling import context, search

pytestmark = pytest.mark.servers

KEY = "ghp_" + "a1B2" * 9
FLIGHTS = [{"flight": f"HAT{number}", "price": 100 + number, "cabin": "economy"} for number in range(60)]
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "I live in Porto. Cancel my booking ZX4QQ1, please."},
    {
        "role": "assistant",
        "content": "I look at your bookings.",
        "tool_calls": [{"id": "c1", "function": {"name": "list_flights", "arguments": json.dumps({"token": KEY})}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": json.dumps(FLIGHTS)},
    {"role": "assistant", "tool_calls": [{"id": "c2", "name": "cancel_booking", "args": {"booking_id": "ZX4QQ1"}}]},
    {"role": "tool", "tool_call_id": "c2", "content": '{"booking_id": "ZX4QQ1", "status": "cancelled"}'},
    {"role": "assistant", "content": "Done, your booking is cancelled."},
]
SPOKEN = [message for message in TALK if message.get("content") and message["role"] != "tool"]


def say(memory: Memory, scene: Scene, session: str, messages: list[dict[str, Any]]) -> None:
    """Record a conversation and flush it with the default rules."""
    memory.turn_completed("maya", session, messages)
    memory.session_idle("maya", session)
    ref = SessionRef("default", "maya", session)
    scene.queue.offer(ref, "normal")
    assert replace(scene.flusher, extractor=RulesExtractor()).flush(ref).outcome == "stored"


def found(database_url: str, question: str) -> list[Hit]:
    with psycopg.connect(database_url) as connection:
        return search(connection, "default", "maya", question, limit=20)


def test_a_turn_with_tools_is_one_turn(memory: Memory, database_url: str) -> None:
    receipt = memory.turn_completed("maya", "s", TALK)
    assert (receipt.added, receipt.ignored, receipt.last_seq) == (7, 0, 7)
    told = rows(database_url, "SELECT kind, role, name, turn FROM slowwave.events ORDER BY seq")
    assert told == [
        ("user", "user", None, 1),
        ("assistant", "assistant", None, 1),
        ("tool", "tool_call", "tool list_flights", 1),
        ("tool", "tool", "tool list_flights", 1),
        ("tool", "tool_call", "tool cancel_booking", 1),
        ("tool", "tool", "tool cancel_booking", 1),
        ("assistant", "assistant", None, 1),
    ]
    # A result that arrives later belongs to the turn before it.
    memory.turn_completed("maya", "s", [{"role": "tool", "content": "Refund booked."}])
    assert rows(database_url, "SELECT max(turn) FROM slowwave.events") == [(1,)]
    assert broken_sessions(database_url) == [], "I5: the days count every event"


def test_only_the_call_that_changed_something_is_a_memory(memory: Memory, scene: Scene) -> None:
    say(memory, scene, "tools", TALK)
    with_tools = scene.memories()
    with scene.engine.connect() as connection:
        connection.execute(text("TRUNCATE slowwave.agents, slowwave.scopes, slowwave.events CASCADE"))
    say(memory, scene, "spoken", SPOKEN)
    spoken = scene.memories()
    assert spoken
    assert sorted(with_tools) == sorted(["Cancel booking succeeded: booking_id ZX4QQ1, status cancelled.", *spoken])


@pytest.mark.parametrize("flushed", [False, True])
def test_search_finds_tool_events_below_speech(memory: Memory, scene: Scene, database_url: str, flushed: bool) -> None:
    if flushed:
        say(memory, scene, "s", TALK)
    else:
        memory.turn_completed("maya", "s", TALK)
    hits = [hit for hit in found(database_url, "booking ZX4QQ1") if "ZX4QQ1" in hit.content]
    if flushed:  # the memory stands for the call and the result that it was made of
        assert [hit.type for hit in hits] == ["result", "user"]
        return
    assert [hit.speaker for hit in hits if hit.type == "tool"] == ["tool cancel_booking"] * 2
    assert [hit.type == "tool" for hit in hits] == [False, True, True]


def test_secrets_of_calls_are_never_shown(memory: Memory, scene: Scene, database_url: str) -> None:
    memory.turn_completed("maya", "s", TALK)
    for _ in range(2):
        hits = [hit for hit in found(database_url, "list_flights token") if hit.type == "tool"]
        assert any(hit.content.startswith("list_flights(token=") for hit in hits)
        assert not [hit for hit in hits if KEY in hit.content]
        memory.session_idle("maya", "s")
        scene.queue.offer(SessionRef("default", "maya", "s"), "normal")
        replace(scene.flusher, extractor=RulesExtractor()).flush(SessionRef("default", "maya", "s"))


def test_a_context_has_no_tool_events(memory: Memory, scene: Scene, database_url: str) -> None:
    listing = [{"role": "tool", "name": "list_flights", "content": json.dumps(FLIGHTS)}] * 12
    memory.turn_completed("maya", "s", [*TALK, *listing])
    with psycopg.connect(database_url) as connection:
        known = context(connection, "default", "maya", now=datetime.now(UTC) + timedelta(seconds=1))
    assert "Cancel my booking ZX4QQ1" in known.to_text()
    assert "HAT" not in known.to_text()
    assert "cancel_booking" not in known.to_text()


def test_a_reply_is_not_found_by_the_listing_before_it(memory: Memory, scene: Scene, database_url: str) -> None:
    say(memory, scene, "s", TALK)
    hits = [hit for hit in found(database_url, "economy cabin") if hit.kind == "event"]
    assert {hit.type for hit in hits} == {"tool"}
    # The reply's turn before is the user's question, however many calls lie between.
    assert "assistant" in {hit.type for hit in found(database_url, "Porto")}


def test_a_day_summary_reads_no_tool_events() -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    said = Event(1, "user", "user", "We decided to keep Postgres for the archive.", at)
    tool = Event(2, "tool", "tool", "We decided to sell the archive on Monday.", at, "tool notes")
    lines = [
        summarize_segment(events, session="s", agent="maya", time_zone="UTC") for events in ((said,), (said, tool))
    ]
    assert lines[0] == lines[1]
    assert lines[0]


def test_a_downgrade_keeps_tool_events_as_noise(memory: Memory, engine: Engine, database_url: str) -> None:
    memory.turn_completed("maya", "s", TALK)
    migrate(engine, "0100")
    with engine.connect() as connection:
        kinds = connection.execute(text("SELECT kind, count(*) FROM slowwave.events GROUP BY 1 ORDER BY 1")).all()
    assert [tuple(row) for row in kinds] == [("assistant", 2), ("task", 4), ("user", 1)]
    migrate(engine)
    assert broken_sessions(database_url) == []


def test_tools_are_counted_if_they_are_off(database_url: str, valkey_url: str, tmp_path: Path) -> None:
    settings = settings_of(database_url, valkey_url, tmp_path)
    off = settings.model_copy(update={"memory": settings.memory.model_copy(update={"tools": Tools(record=False)})})
    with Memory(off) as quiet:
        receipt = quiet.turn_completed("maya", "s", TALK)
        report = ingest([json.dumps({"agent": "maya", "session": "file"} | message) for message in TALK], quiet.store)
    assert (receipt.added, receipt.ignored) == (3, 3)
    assert (report.read, report.added, report.ignored, report.further) == (6, 3, 3, 0)
    assert rows(database_url, "SELECT count(*) FROM slowwave.events WHERE kind = 'tool'") == [(0,)]


def test_a_task_carries_tool_events_once(memory: Memory, database_url: str) -> None:
    turn = RecordTurn.model_validate({"agent": "maya", "session": "s", "messages": TALK})
    for _ in range(2):
        record_turn(memory, turn, key="task", taken=datetime.now(UTC).isoformat())
    memory.turn_completed("maya", "hook", TALK)
    query = (
        "SELECT e.kind, e.role, e.name, e.content, e.metadata, e.turn FROM slowwave.events e"
        " JOIN slowwave.sessions s ON s.id = e.session_id WHERE s.name = %s ORDER BY e.seq"
    )
    told = rows(database_url, query, ["s"])
    assert told == rows(database_url, query, ["hook"])
    assert len(told) == 7
    assert broken_sessions(database_url) == []


def test_an_outage_loses_no_tool_event(postgres_url: str, memory: Memory, database_url: str) -> None:
    with Outage(postgres_url, database_url).lasting():
        assert memory.turn_completed("maya", "s", TALK).stored == "spool"
    assert memory.flush(20)
    assert rows(database_url, "SELECT count(*) FROM slowwave.events WHERE kind = 'tool'") == [(4,)]
    assert broken_sessions(database_url) == []
