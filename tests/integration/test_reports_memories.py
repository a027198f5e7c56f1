"""Memories are listed and explained with their sources, within one scope of one tenant (I8, mistakes 24 and 39)."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine

from slowwave.errors import InvalidQuery
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.services.reports.memories import list_memories
from slowwave_server.services.reports.memory_ids import memory_called
from tests.support.installation import Installation, ago

pytestmark = pytest.mark.servers


class Remembering(Installation):
    """Maya told her concierge two things, one of them in two sessions; a room and another tenant know more."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.agent_id, self.own = self.agent("concierge"), self.scope("concierge")
        self.room = self.scope("lobby", kind="room")
        self.monday = self.session(self.agent_id, self.own, "monday", ("Maya", "I moved to Lisbon."), ("Maya", "Hm."))
        self.friday = self.session(self.agent_id, self.own, "friday", ("Maya", "Lisbon is home now."))
        self.lobby = self.session(self.agent_id, self.room, "lobby", ("Jonas", "The lift is broken."))
        self.made_by = self.flush(self.monday, (1, 2))
        self.lisbon = self.memory(self.own, "Maya moved to Lisbon.", [(self.monday, 1), (self.friday, 1)])
        self.cats = self.memory(
            self.own, "Maya likes cats.", [(self.monday, 2)], type="preference", status="active", valid_from=ago(5)
        )
        self.old = self.memory(self.own, "Maya lives in Rome.", [], status="archived", archive_reason="superseded")
        self.lift = self.memory(self.room, "The lift is broken.", [(self.lobby, 1)])
        self.foreign = self.memory(self.scope("concierge", tenant="other"), "Another Maya.", [])

    def contents(self, **filters: Any) -> list[str]:
        with self.engine.connect() as connection:
            return [m.content for m in list_memories(connection, "default", "concierge", **filters)]


@pytest.fixture
def past(engine: Engine) -> Remembering:
    return Remembering(engine)


def test_i8_memories_of_an_agent_are_those_of_its_own_scope_newest_first(past: Remembering) -> None:
    assert past.contents() == ["Maya likes cats.", "Maya moved to Lisbon."]
    assert past.contents(scope=("room", "lobby")) == ["The lift is broken."]
    assert past.contents(scope=("team", "lobby")) == []


def test_filters_narrow_and_a_limit_holds(past: Remembering) -> None:
    assert past.contents(status="archived") == ["Maya lives in Rome."]
    assert past.contents(kind="preference") == ["Maya likes cats."]
    assert past.contents(limit=1) == ["Maya likes cats."]
    assert past.contents(session="friday") == ["Maya moved to Lisbon."]
    assert past.contents(session="lobby") == ["The lift is broken."]


def test_every_memory_names_its_sources(past: Remembering) -> None:
    with past.engine.connect() as connection:
        lisbon = list_memories(connection, "default", "concierge", kind="fact")[0]
    assert lisbon.source_count == 2
    assert [(s.session, s.seq) for s in lisbon.sources] == [("friday", 1), ("monday", 1)]


def test_explain_tells_what_was_said_and_every_change(past: Remembering) -> None:
    past.change(
        past.lisbon, "created", "first person, place", flush_id=past.made_by, after={"confidence": 0.6, "sources": [1]}
    )
    past.change(
        past.lisbon, "repeated", "said in another session", before={"confidence": 0.6}, after={"confidence": 0.7}
    )
    with past.engine.connect() as connection:
        found = explain_memory(connection, "default", past.lisbon)
    assert found.scope == "agent:concierge"
    assert found.signals == ("first person", "place")
    assert [(s.session, s.content) for s in found.sources] == [
        ("monday", "I moved to Lisbon."),
        ("friday", "Lisbon is home now."),
    ]
    assert [(f.id, f.from_seq, f.to_seq, f.extractor) for f in found.flushes] == [(past.made_by, 1, 2, "rules")]
    assert [(c.action, c.flush) for c in found.changes] == [("created", past.made_by), ("repeated", None)]


def test_a_memory_is_called_by_its_id_or_the_end_of_it(past: Remembering) -> None:
    with past.engine.connect() as connection:
        assert memory_called(connection, "default", str(past.lisbon)) == past.lisbon
        for length in (8, 12):
            assert memory_called(connection, "default", past.lisbon.hex[-length:]) == past.lisbon
        for stranger in (past.foreign.hex[-8:], "0" * 12):
            with pytest.raises(UnknownName, match=f"no memory whose id ends in {stranger}"):
                memory_called(connection, "default", stranger)
        for odd in ("", "lisbon", past.lisbon.hex[-7:]):
            with pytest.raises(InvalidQuery, match="a memory must be its id"):
                memory_called(connection, "default", odd)


def test_i8_a_memory_of_another_tenant_is_unknown(past: Remembering) -> None:
    with past.engine.connect() as connection:
        assert explain_memory(connection, "other", past.foreign).content == "Another Maya."
        for stranger in (past.foreign, uuid4()):
            with pytest.raises(UnknownName, match="has no memory"):
                explain_memory(connection, "default", stranger)
    assert isinstance(past.foreign, UUID)
