"""Importance from use on a real Postgres: what contexts show and replies use decides what comes first (I8, I9, I10)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave import Memory, Settings
from slowwave_server.domain.candidates import Extraction
from slowwave_server.services.consolidation.jobs import RUNNERS
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.maintenance.scheduler import Scheduler
from slowwave_server.services.memories.use import learn_from_use
from slowwave_server.services.reports.explain import explain_memory
from tests.support.flushing import EveryUserLine, Scene, make_scene
from tests.support.recalling import Shelf, search

pytestmark = pytest.mark.servers

SESSIONS = 50
USEFUL = "Invoices go to billing@example.com."
CHATTER = [f"The team had a lovely lunch number {place} in the sun." for place in range(20)]


class Silent(EveryUserLine):
    """Keeps nothing: all memories are there from the start."""

    def extract(self, *_: object) -> Extraction:
        return Extraction(())


@dataclass
class Desk:
    """An agent whose host reads a context at the beginning of each conversation and records the turn."""

    shelf: Shelf
    scene: Scene
    engine: Engine
    memory: Memory
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def keep(self, content: str, importance: float, **options: Any) -> str:
        return self.shelf.keep(content, importance=importance, since=self.now - timedelta(days=200), **options)

    def talk(self, session: str, asked: str, reply: str, **options: Any) -> None:
        """One conversation: a context, a turn, a flush."""
        self.memory.context("maya", session, **options)
        turn = [{"role": "user", "content": asked}, {"role": "assistant", "content": reply}]
        self.memory.turn_completed("maya", session, turn)
        assert self.memory.flush(10)
        self.memory.session_idle("maya", session)
        self.scene.flush(session)

    def shown(self, days_ago: int) -> None:
        """Shift all facts so far into the past."""
        self.shelf.sql(
            "UPDATE slowwave.memory_uses SET shown_at = shown_at - %s, last_used_at = last_used_at - %s",
            *[timedelta(days=days_ago)] * 2,
        )

    def learn(self, *, on: bool = True, after: timedelta = timedelta()) -> int:
        return learn_from_use(self.engine, on=on, now=self.now + after)

    def gain(self, memory: str) -> float:
        return float(self.shelf.sql("SELECT use_gain FROM slowwave.memories WHERE id = %s", memory)[0]["use_gain"])

    def uses(self, memory: str) -> list[tuple[str, bool, bool]]:
        rows = self.shelf.sql(
            "SELECT s.name, u.shown_at IS NOT NULL AS shown, u.last_used_at IS NOT NULL AS used"
            " FROM slowwave.memory_uses u JOIN slowwave.sessions s ON s.id = u.session_id"
            " WHERE u.memory_id = %s ORDER BY s.name",
            memory,
        )
        return [(row["name"], row["shown"], row["used"]) for row in rows]

    def ranked(self) -> list[str]:
        return [hit.content for hit in self.memory.context("maya").memories]


@pytest.fixture
def desk(database_url: str, engine: Engine, redis_client: Redis, valkey_url: str, tmp_path: Path) -> Iterator[Desk]:
    settings = Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path)
    scene = make_scene(engine, redis_client)
    scene.extractor = Silent()
    with psycopg.connect(database_url, autocommit=True) as connection, Memory(settings) as memory:
        yield Desk(Shelf(connection), scene, engine, memory)


def test_a_shown_memory_that_the_reply_repeats_is_used(desk: Desk) -> None:
    useful, chatter = desk.keep(USEFUL, 0.5), desk.keep(CHATTER[0], 0.5)
    desk.talk("call-1", "Where do invoices go?", "They go to billing@example.com.")
    assert desk.uses(useful) == [("call-1", True, True)]
    assert desk.uses(chatter) == [("call-1", True, False)]
    record = desk.memory.get(useful)
    assert (record.shown, record.used) == (1, 1)
    assert record.last_used_at is not None


def test_only_a_context_of_a_conversation_that_speaks_is_noted(desk: Desk) -> None:
    useful = desk.keep(USEFUL, 0.5)
    desk.memory.context("maya")
    desk.memory.context("maya", "silent")
    assert desk.memory.flush(10)
    assert desk.uses(useful) == []


def test_a_conversation_is_no_witness_to_its_own_words(desk: Desk) -> None:
    desk.shelf.say("call-1", "Send invoices to billing@example.com.")
    useful = desk.shelf.keep(USEFUL, ("call-1", 1))
    desk.talk("call-1", "Thanks.", "Invoices go to billing@example.com, then.")
    assert desk.uses(useful) == [("call-1", True, False)]


@pytest.mark.long  # a hundred conversations; the tests beside it check each step of it
def test_a_used_memory_overtakes_popular_chatter(desk: Desk) -> None:
    """Fifty conversations in fifty days: chatter is shown because it ranks high, and no reply needs it."""
    useful = desk.keep(USEFUL, 0.5)
    chatter = [desk.keep(content, 0.75) for content in CHATTER]
    before = desk.ranked()
    assert USEFUL not in before
    for number in range(SESSIONS):
        desk.talk(f"call-{number}", "Where do invoices go?", "They go to billing@example.com.", query="invoices")
        desk.memory.context("maya", f"chat-{number}")
        desk.memory.turn_completed("maya", f"chat-{number}", [{"role": "user", "content": "Hello."}])
        assert desk.memory.flush(10)
        desk.shown(days_ago=1)
        desk.learn()
    assert desk.ranked()[0] == USEFUL
    assert desk.gain(useful) > 0.25
    assert min(desk.gain(one) for one in chatter) < -0.1
    assert max(desk.gain(one) for one in chatter) <= 0
    learned = {one: desk.gain(one) for one in (useful, *chatter)}
    desk.learn()
    assert {one: desk.gain(one) for one in learned} == learned


def test_search_ranks_what_was_used_before_its_equal(desk: Desk) -> None:
    first = desk.keep("The invoice of Rita is in the blue folder.", 0.5)
    second = desk.keep("The invoice of Jona is in the blue folder.", 0.5)
    order = [hit.id for hit in search(desk.shelf.connection, "default", "maya", "invoice blue folder")]
    used = order[-1]
    assert set(order) == {first, second}
    for number in range(5):
        desk.memory.turn_completed("maya", f"call-{number}", [{"role": "user", "content": "Hello."}])
        assert desk.memory.used("maya", [used], session=f"call-{number}") == 1
    desk.learn()
    hits = search(desk.shelf.connection, "default", "maya", "invoice blue folder")
    assert hits[0].id == used
    assert hits[0].score < 1.15 * hits[1].score


def test_standing_instructions_are_not_noted(desk: Desk) -> None:
    rule = desk.keep("Always answer in German.", 0.9)
    desk.shelf.sql("UPDATE slowwave.memories SET type = 'instruction' WHERE id = %s", rule)
    desk.talk("call-1", "Hello.", "Hallo.")
    assert desk.uses(rule) == []


def test_the_switch_stops_noting_and_takes_gains_back(desk: Desk, tmp_path: Path) -> None:
    useful = desk.keep(USEFUL, 0.5)
    desk.talk("call-1", "Where do invoices go?", "To billing@example.com.")
    desk.learn()
    assert desk.gain(useful) > 0
    on = desk.memory.backend.settings
    consolidation = on.memory.consolidation.model_copy(update={"learn_from_use": False})
    off = on.model_copy(update={"memory": on.memory.model_copy(update={"consolidation": consolidation})})
    scheduler = Scheduler(desk.engine, RUNNERS, off, clock=lambda: desk.now, by="test")
    assert scheduler.run_now("light-10") is not None
    assert desk.gain(useful) == 0
    with Memory(off) as memory:
        memory.context("maya", "call-2")
        memory.turn_completed("maya", "call-2", [{"role": "user", "content": "Hello."}])
        assert memory.flush(10)
    assert desk.uses(useful) == [("call-1", True, True)]


def test_the_job_learns_before_its_passes(desk: Desk) -> None:
    useful = desk.keep(USEFUL, 0.5)
    desk.talk("call-1", "Where do invoices go?", "To billing@example.com.")
    scheduler = Scheduler(desk.engine, RUNNERS, Settings(), clock=lambda: desk.now, by="test")
    report = scheduler.run_now("light-10")
    assert report is not None
    assert report.stats["learned"] == 1
    assert desk.gain(useful) > 0


def test_gains_fade_and_old_showings_go(desk: Desk) -> None:
    useful, chatter = desk.keep(USEFUL, 0.5), desk.keep(CHATTER[0], 0.5)
    desk.talk("call-1", "Where do invoices go?", "To billing@example.com.")
    desk.learn()
    first = desk.gain(useful)
    desk.learn(after=timedelta(days=60))
    assert 0 < desk.gain(useful) < first / 2
    desk.learn(after=timedelta(days=200))
    assert desk.gain(useful) == 0
    assert desk.uses(useful) == [("call-1", True, True)], "uses stay to be counted"
    assert desk.uses(chatter) == []


def test_i10_a_forgotten_conversation_leaves_no_gain(desk: Desk) -> None:
    useful = desk.keep(USEFUL, 0.5)
    for session in ("call-1", "call-2"):
        desk.talk(session, "Where do invoices go?", "To billing@example.com.")
    desk.learn()
    both = desk.gain(useful)
    engine, clock = desk.engine, desk.scene.clock
    erase(engine, Target.of_session("default", "maya", "call-2"), clock=clock, by="test", dry_run=False)
    assert 0 < desk.gain(useful) < both
    erase(engine, Target.of_session("default", "maya", "call-1"), clock=clock, by="test", dry_run=False)
    assert desk.gain(useful) == 0
    assert desk.uses(useful) == []


def test_i10_a_context_from_before_a_forget_is_not_noted(desk: Desk) -> None:
    useful = desk.keep(USEFUL, 0.5)
    desk.memory.context("maya", "call-1")
    engine, clock = desk.engine, desk.scene.clock
    clock.pass_time(60)
    erase(engine, Target.of_session("default", "maya", "call-1"), clock=clock, by="test", dry_run=False)
    desk.memory.turn_completed("maya", "call-1", [{"role": "user", "content": "Hello."}])
    assert desk.memory.flush(10)
    assert desk.uses(useful) == []


def test_i8_a_context_notes_no_memory_of_another_agent_or_tenant(desk: Desk) -> None:
    mine = desk.keep(USEFUL, 0.5)
    others = [desk.keep(USEFUL, 0.5, agent="jonas"), desk.keep(USEFUL, 0.5, tenant="acme")]
    desk.memory.turn_completed("maya", "call-1", [{"role": "user", "content": "Hello."}])
    statement = "SELECT slowwave.show_memories('default', 'maya', 'call-1', %s::uuid[], now())"
    desk.shelf.sql(statement, [mine, *others])
    assert [len(desk.uses(one)) for one in (mine, *others)] == [1, 0, 0]


def test_a_merge_carries_the_uses_and_undoing_it_gives_them_back(desk: Desk) -> None:
    kept, merged = desk.keep(USEFUL, 0.5), desk.keep("Send invoices to billing@example.com.", 0.5)
    desk.memory.turn_completed("maya", "call-1", [{"role": "user", "content": "Hello."}])
    desk.memory.used("maya", [merged], session="call-1")
    desk.shelf.sql("UPDATE slowwave.memories SET status = 'archived', merged_into = %s WHERE id = %s", kept, merged)
    desk.learn()
    assert desk.gain(kept) > 0
    assert desk.memory.get(kept).used == 1
    desk.shelf.sql("UPDATE slowwave.memories SET status = 'active', merged_into = NULL WHERE id = %s", merged)
    desk.learn()
    assert (desk.gain(kept), desk.gain(merged) > 0) == (0, True)


def test_an_explanation_says_what_use_did(desk: Desk) -> None:
    useful = desk.keep(USEFUL, 0.5)
    desk.talk("call-1", "Where do invoices go?", "To billing@example.com.")
    desk.learn()
    with desk.engine.connect() as connection:
        told = explain_memory(connection, "default", UUID(useful))
    assert told.use == "shown in 1 conversation, used in 1 conversation: importance 0.50 → 0.60"
