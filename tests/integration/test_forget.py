"""Forgetting wherever things stand: rows, keys, messages, spooled entries, files (I10, mistakes 38 and 40)."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import text

from slowwave import Memory, Settings
from slowwave.capture import Entry
from slowwave.coordination.queue_messages import envelope, publish
from slowwave.ingest import ingest
from slowwave.messages import DELIVER_OUTBOX, RECORD_TURN, REMEMBER, RecordTurn
from slowwave.spool import Spool
from slowwave.working import Remember
from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.models.engine import make_engine
from slowwave_server.services.days.book import DayRef
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.forget.broker import was_forgotten
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.memory_files.delivery import FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.queued_calls import record_turn, remember
from tests.support.flushing import make_scene
from tests.support.forgetting import dump_files, dump_redis, dump_tables, everything, turn

pytestmark = pytest.mark.servers

WORD = "quokka"
_DAY = "SELECT DISTINCT agent_id, scope_id, day FROM slowwave.session_days"


def waiting(agent: str, session: str, content: str, settings: Settings, **about: Any) -> Entry:
    """An entry as a hook leaves it in the spool, of a process that is gone."""
    event: Any = {"kind": "user", "step": 1, "content": content, "key": f"{agent}-{session}-{content}"}
    entry = Entry("default", agent, session, [event], about or None)
    entry.stamp(datetime.now(UTC).isoformat())
    spool = Spool(settings.spool, settings.database_url)
    spool.append([entry])
    spool.close()
    return entry


def test_mistake_40_messages_spool_and_files_are_forgotten_with_the_rows(
    forgetter: Forgetter, memory: Memory, settings: Settings, tmp_path: Path
) -> None:
    memory.turn_completed("maya", "monday", turn("I saw a", WORD))
    memory.remember("maya", f"wants a {WORD}", 0.9, session="monday")
    memory.turn_completed("jonas", "monday", turn("I saw a heron"))
    args: list[Any] = ["maya", "monday"]
    publish(forgetter.redis, "capture", envelope(RECORD_TURN, args, {"messages": turn(WORD)}, "capture", task_id="one"))
    publish(forgetter.redis, "capture\x06\x163", envelope(REMEMBER, ["maya", WORD], {}, "capture", task_id="two"))
    raw = envelope(REMEMBER, [], {"agent": "maya", "content": WORD}, "capture", task_id="three")
    forgetter.redis.hset("unacked", "tag", json.dumps([json.loads(raw), "", "capture"]))
    other = envelope(REMEMBER, [], {"agent": "jonas", "content": "heron"}, "capture", task_id="four")
    publish(forgetter.redis, "capture", other)
    ask = envelope(DELIVER_OUTBOX, ["maya", None, "default", "ticket"], {}, "consolidate", task_id="five")
    publish(forgetter.redis, "consolidate", ask)
    waiting("maya", "tuesday", WORD, settings)
    waiting("jonas", "tuesday", "heron", settings)
    folder = settings.memory.files.root / scope_folder("default", "agent", "maya")
    folder.mkdir(parents=True)
    (folder / "birds.md").write_text(f"- {WORD}\n")
    assert WORD in everything(forgetter, tmp_path)
    target = Target.of_agent("default", "maya")
    preview = forgetter.preview(target)
    assert WORD in everything(forgetter, tmp_path)
    report = forgetter.forget(target, by="Priya")
    assert WORD not in everything(forgetter, tmp_path)
    assert not report.problems
    assert {**preview.counts, "keys": report.counts.get("keys")} == {**report.counts, "keys": report.counts.get("keys")}
    assert (report.counts["messages"], report.counts["entries of the spool"], report.counts["memory files"]) == (
        4,
        1,
        1,
    )
    for name, forgotten in {"one": True, "two": True, "three": True, "four": False, "five": True}.items():
        assert was_forgotten(forgetter.redis, name) is forgotten, name
    assert "heron" in everything(forgetter)
    assert "heron" in dump_redis(forgetter.redis)
    assert "heron" in dump_files(settings.spool)


def test_i10_what_was_taken_before_is_dropped_when_it_arrives(
    forgetter: Forgetter, memory: Memory, settings: Settings
) -> None:
    memory.turn_completed("maya", "monday", turn("hello"))
    memory.turn_completed("maya", "kitchen", turn("hello"), scope="room:kitchen")
    old = [
        waiting("maya", "monday", WORD, settings),
        waiting("maya", "never-heard-of", WORD, settings),
        waiting("maya", "kitchen", WORD, settings),
    ]
    forgetter.forget(Target.of_agent("default", "maya"), by="Priya")
    memory.store.capture.deliver(old)
    assert WORD not in everything(forgetter)
    assert dump_tables(forgetter.engine)["sessions"] == ""
    memory.turn_completed("maya", "monday", turn("I saw a heron"))
    assert "heron" in everything(forgetter)


def test_i10_the_fence_of_a_scope_holds_for_agents_that_nobody_knew(
    forgetter: Forgetter, memory: Memory, settings: Settings
) -> None:
    memory.turn_completed("maya", "cooking", turn("hello"), scope="room:kitchen")
    memory.turn_completed("maya", "alone", turn("I saw a heron"))
    room = {"scope_kind": "room", "scope_name": "kitchen"}
    old = [
        waiting("jonas", "cooking", WORD, settings, **room),
        waiting("maya", "cooking", WORD, settings),
        waiting("maya", "alone", "a second heron", settings),
    ]
    forgetter.forget(Target.of_scope("default", "room", "kitchen"), by="Priya")
    memory.store.capture.deliver(old)
    found = everything(forgetter)
    assert WORD not in found
    assert "I saw a heron" in found
    assert "a second heron" in found


def test_what_nobody_knows_is_not_forgotten(forgetter: Forgetter, memory: Memory) -> None:
    memory.turn_completed("maya", "monday", turn("hello"))
    for target in (
        Target.of_agent("default", "mayo"),
        Target.of_session("default", "maya", "mondy"),
        Target.of_scope("default", "room", "attic"),
        Target.of_agent("acme", "maya"),
    ):
        with pytest.raises(UnknownName):
            forgetter.forget(target, by="Priya")
    assert "hello" in everything(forgetter)
    assert dump_tables(forgetter.engine)["erasures"] == ""


def test_a_segment_of_a_running_process_is_left_to_it(forgetter: Forgetter, memory: Memory, settings: Settings) -> None:
    memory.turn_completed("maya", "monday", turn("hello"))
    spool = Spool(settings.spool, settings.database_url)
    event: Any = {"kind": "user", "step": 1, "content": WORD, "key": "k"}
    entry = Entry("default", "maya", "monday", [event])
    entry.stamp(datetime.now(UTC).isoformat())
    spool.append([entry])
    forgetter.forget(Target.of_agent("default", "maya"), by="Priya")
    segment = spool.oldest()
    assert segment is not None
    entries, _ = segment.read()
    memory.store.capture.deliver(entries)
    spool.finish(segment, [])
    assert WORD not in everything(forgetter, settings.spool)


def test_i10_a_file_that_is_being_brought_in_brings_nothing_back(forgetter: Forgetter, memory: Memory) -> None:
    def lines() -> Iterator[str]:
        for number in range(4):
            yield json.dumps({"agent": "maya", "session": "monday", "role": "user", "content": f"{WORD} {number}"})
        forgetter.forget(Target.of_agent("default", "maya"), by="Priya")
        for number in range(4, 7):
            yield json.dumps({"agent": "maya", "session": "monday", "role": "user", "content": f"{WORD} {number}"})
            yield json.dumps({"agent": "jonas", "session": "monday", "role": "user", "content": f"heron {number}"})

    report = ingest(lines(), memory.store, batch_events=2)
    assert WORD not in everything(forgetter)
    assert (report.read, report.added + report.ignored, report.repeated + report.rejected) == (10, 10, 0)
    assert report.ignored >= 3
    assert "heron 6" in everything(forgetter)


def test_mistake_38_a_note_that_a_worker_holds_is_not_kept(
    forgetter: Forgetter, memory: Memory, settings: Settings
) -> None:
    memory.turn_completed("maya", "monday", turn("hello"))
    taken = datetime.now(UTC).isoformat()
    forgetter.forget(Target.of_session("default", "maya", "monday"), by="Priya")
    asked = {"agent": "maya", "session": "monday", "content": WORD}
    assert not remember(memory, Remember(**asked), key="k1", taken=taken)
    record_turn(memory, RecordTurn(agent="maya", session="monday", messages=turn(WORD)), key="k2", taken=taken)
    assert WORD not in everything(forgetter)
    other = {"agent": "maya", "session": "tuesday", "content": "a heron"}
    assert remember(memory, Remember(**other), key="k3", taken=taken)
    assert remember(memory, Remember(**asked), key="k4", taken=datetime.now(UTC).isoformat())


def test_a_day_is_due_again_without_the_session(forgetter: Forgetter, memory: Memory, settings: Settings) -> None:
    memory.turn_completed("maya", "monday", turn("I want to see a", WORD))
    memory.turn_completed("maya", "tuesday", turn("I want to see a heron"))
    with forgetter.engine.connect() as connection:
        row = connection.execute(text(_DAY)).one()
    day = DayRef(row.agent_id, row.scope_id, row.day, "default", "maya", None)
    days = settings.memory.days
    first = summarize_day(forgetter.engine, day, settings=days, now=forgetter.clock())
    assert WORD in dump_tables(forgetter.engine)["day_summaries"]
    report = forgetter.forget(Target.of_session("default", "maya", "monday"), by="Priya")
    assert report.counts["days to summarise again"] == 1
    assert WORD not in everything(forgetter)
    second = summarize_day(forgetter.engine, day, settings=days, now=forgetter.clock())
    assert (second.outcome, second.messages, second.version) == ("summarized", 2, first.version + 1)
    assert "heron" in dump_tables(forgetter.engine)["day_summaries"]


def test_files_of_a_scope_that_stays_lose_its_lines_and_nothing_else(
    forgetter: Forgetter, memory: Memory, settings: Settings, database_url: str, redis_client: Redis
) -> None:
    scene = make_scene(make_engine(database_url), redis_client, settings.memory.auto_flush)
    scene.say("monday", f"I saw a {WORD}.", trigger="idle")
    scene.say("tuesday", "I saw a heron.", trigger="idle")
    for session in ("monday", "tuesday"):
        assert scene.flush(session).outcome == "stored"
    scene.engine.dispose()
    now, root = forgetter.clock(), settings.memory.files.root
    choose_backend(forgetter.engine, "file", now)
    with forgetter.engine.connect() as connection:
        scope_id = connection.execute(text("SELECT id FROM slowwave.scopes")).scalar_one()
    assert deliver(forgetter.engine, scope_id, rules=FileRules(root), disk=Disk(), now=now).state == "current"
    (daily,) = (root / scope_folder("default", "agent", "maya") / "daily").glob("*.md")
    assert WORD in daily.read_text()
    daily.write_text(daily.read_text() + "\nBring the binoculars.\n")
    report = forgetter.forget(Target.of_session("default", "maya", "monday"), by="Priya")
    assert report.problems == ()
    assert WORD not in everything(forgetter, root)
    assert "heron" in daily.read_text()
    assert "Bring the binoculars." in daily.read_text()
    report = forgetter.forget(Target.of_scope("default", "agent", "maya"), by="Priya")
    assert "heron" not in everything(forgetter, root)
    assert list(root.iterdir()) == []


def test_an_engine_in_autocommit_makes_it_no_less_one_transaction(
    database_url: str, forgetter: Forgetter, memory: Memory
) -> None:
    memory.turn_completed("maya", "monday", turn(WORD))
    engine = make_engine(database_url, autocommit=True)
    again = Forgetter(engine, forgetter.redis, forgetter.settings, forgetter.clock)
    assert again.preview(Target.of_agent("default", "maya")).counts["events"] == 2
    assert WORD in everything(forgetter)
    again.forget(Target.of_agent("default", "maya"), by="Priya")
    assert WORD not in everything(forgetter)
    engine.dispose()
