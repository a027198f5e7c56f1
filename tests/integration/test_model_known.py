"""What a model is told of the past, and what becomes of a memory that it repeats or corrects."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine, event, text

from proof.fake_model import FakeModel
from slowwave.settings import Consolidation
from slowwave_server.models.engine import make_engine
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from tests.support.flushing import make_scene
from tests.support.modelling import memory
from tests.support.talking import Talk

pytestmark = pytest.mark.servers


@pytest.fixture
def talk(database_url: str, engine: Engine, redis_client: Redis) -> Iterator[Talk]:
    scene = make_scene(engine, redis_client)
    return Talk(scene, redis_client, database_url)


def _say(talk: Talk, session: str, line: str, days: float = 0) -> None:
    at = (talk.scene.clock() + timedelta(days=days)).isoformat()
    talk.scene.say(session, line, name="Maya", trigger="idle", at=at)


def _told(talk: Talk, session: str, *memories: dict[str, Any]) -> str:
    """Flush a session by a model that answers with these; what it was asked."""
    with FakeModel(answer={"memories": list(memories)}) as fake:
        assert talk.flush(talk.extractor(fake), session).outcome in {"stored", "no_reply"}
        (asked,) = fake.asked
    return asked.user


def _rows(talk: Talk) -> dict[str, Any]:
    rows = talk.scene.sql(
        "SELECT m.*, (SELECT count(*) FROM slowwave.memory_sources x WHERE x.memory_id = m.id) AS sources"
        " FROM slowwave.memories m"
    )
    return {row.content: row for row in rows}


def test_repeat_gives_its_sources_to_the_known_memory(talk: Talk) -> None:
    _say(talk, "s0", "I live in Porto.", days=-9)
    _told(talk, "s0", memory("Maya lives in Porto.", 1))
    _say(talk, "s1", "As you know I still live in Porto.")
    asked = _told(talk, "s1", memory("Maya still lives in Porto.", 1, repeats="K1"))
    assert "[K1] " in asked
    assert list(_rows(talk)) == ["Maya lives in Porto."]
    assert _rows(talk)["Maya lives in Porto."].sources == 2
    assert [row.stored for row in talk.scene.sql("SELECT stored FROM slowwave.flushes ORDER BY id")] == [1, 0]


def test_i6_correction_ends_the_known_memory_and_is_explained(talk: Talk) -> None:
    _say(talk, "s0", "I live in Porto.", days=-9)
    _told(talk, "s0", memory("Maya lives in Porto.", 1))
    _say(talk, "s1", "I moved from Porto, Bergen is my town now.")
    _told(talk, "s1", memory("Maya moved from Porto to Bergen.", 1, corrects="K1"))
    rows = _rows(talk)
    older, newer = rows["Maya lives in Porto."], rows["Maya moved from Porto to Bergen."]
    assert (older.superseded_by, older.valid_to, older.status) == (newer.id, newer.valid_from, "inbox")
    (change,) = talk.scene.sql("SELECT * FROM slowwave.memory_changes WHERE action = 'superseded'")
    assert (change.memory_id, change.reason) == (older.id, "corrected in a conversation")
    assert change.flush_id is not None
    (link,) = talk.scene.sql("SELECT * FROM slowwave.memory_links")
    assert (link.source_id, link.target_id, link.predicate) == (newer.id, older.id, "supersedes")


def test_pass_leaves_a_correction_standing(talk: Talk, database_url: str) -> None:
    test_i6_correction_ends_the_known_memory_and_is_explained(talk)
    (scope,) = talk.scene.sql("SELECT scope_id FROM slowwave.memories LIMIT 1")
    with talk.scene.engine.connect() as connection:
        connection.execute(text("UPDATE slowwave.memories SET recorded_at = recorded_at - interval '30 days'"))
    later = talk.scene.clock() + timedelta(days=30)
    engine = make_engine(database_url)
    report = consolidate(engine, Order(scope.scope_id, "deep"), settings=Consolidation(), clock=lambda: later)
    engine.dispose()
    assert report.run is not None
    assert _rows(talk)["Maya lives in Porto."].superseded_by is not None


def test_i9_backfilled_window_is_told_nothing_of_its_future(talk: Talk) -> None:
    _say(talk, "s0", "I keep my cello in the attic.", days=-2)
    _told(talk, "s0", memory("Maya keeps the cello in the attic.", 1))
    _say(talk, "s2", "Where do I keep my cello?", days=-30)
    assert "attic" not in _told(talk, "s2")
    _say(talk, "s1", "Where do I keep my cello?", days=-1)
    assert "[K1] " in _told(talk, "s1")


def test_memory_that_was_dated_back_is_not_known_earlier(talk: Talk) -> None:
    _say(talk, "s0", "I have kept my cello in the attic since 2019.", days=-2)
    since = {"valid_from": "2019-01-01", "precision": "year"}
    _told(talk, "s0", memory("Maya keeps the cello in the attic since 2019.", 1, **since))
    _say(talk, "s2", "Where do I keep my cello?", days=-30)
    assert "attic" not in _told(talk, "s2")
    _say(talk, "s1", "Where do I keep my cello?", days=-1)
    assert "[K1] 2019-01-01 Maya keeps the cello in the attic since 2019." in _told(talk, "s1")


def test_ended_and_broken_memories_are_not_shown(talk: Talk) -> None:
    for place, content in enumerate(["Maya keeps the cello in the attic.", "Maya enjoys Thanks for the cello tip."]):
        _say(talk, f"k{place}", content, days=-3)
        _told(talk, f"k{place}", memory(content, 1))
    _say(talk, "s1", "Where do I keep my cello?")
    shown = _told(talk, "s1")
    assert "attic" in shown
    assert "Thanks" not in shown
    talk.scene.sql("UPDATE slowwave.memories SET valid_to = now() WHERE content LIKE '%attic%' RETURNING id")
    _say(talk, "s3", "Where do I keep my cello?")
    assert "attic" not in _told(talk, "s3")


def test_i8_repeat_and_correction_reach_no_other_scope(talk: Talk) -> None:
    _say(talk, "s0", "I live in Porto.", days=-9)
    _told(talk, "s0", memory("Maya lives in Porto.", 1))
    (porto,) = talk.scene.sql("SELECT id, scope_id FROM slowwave.memories")
    talk.scene.sql("INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('other', 'agent', 'eve') RETURNING id")
    (mine,) = talk.scene.sql("SELECT max(id) AS id FROM slowwave.scopes")
    (session,) = talk.scene.sql("SELECT id FROM slowwave.sessions")
    (flush,) = talk.scene.sql("SELECT id FROM slowwave.flushes")
    row = (
        '[{"content": "Maya lives in Bergen.", "hash": "00", "type": "fact", "status": "inbox", "confidence": 0.9,'
        ' "importance": 0.5, "trust": "user", "valid_from": "2026-01-01T00:00:00Z", "sources": [1], "reason": "test",'
        f' "repeats": "{porto.id}", "corrects": "{porto.id}"}}]'
    )
    talk.scene.sql(
        "SELECT * FROM slowwave.store_candidates(:scope, :session, :flush, CAST(:row AS jsonb), now())",
        scope=mine.id, session=session.id, flush=flush.id, row=row,
    )  # fmt: skip
    rows = _rows(talk)
    assert rows["Maya lives in Porto."].superseded_by is None
    assert rows["Maya lives in Porto."].sources == 1
    assert rows["Maya lives in Bergen."].scope_id == mine.id


def test_window_without_related_memories_sends_no_second_search(talk: Talk) -> None:
    sent: list[str] = []
    event.listen(talk.scene.engine, "before_cursor_execute", lambda *call: sent.append(call[2]))
    searches = []
    for session in ("s0", "s1"):
        _say(talk, session, "I live in Porto.", days=-9 if session == "s0" else 0)
        _told(talk, session, memory("Maya lives in Porto.", 1))
        searches.append(sum("m.id = ANY(" in statement for statement in sent))
    assert searches == [0, 1]
