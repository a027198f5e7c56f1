"""Memories by list and by id, their history, and what a host does to them: the same over every transport."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave import (
    CannotChange,
    ForgetPreview,
    ForgetReceipt,
    InvalidMessage,
    InvalidName,
    InvalidQuery,
    Memory,
    NotFound,
)
from tests.support.processes import wait_until
from tests.transports.backing import Backing

NOBODYS = "0190a1b2-0000-7000-8000-000000000000"


def told(memory: Memory, backing: Backing, agent: str, *lines: str, session: str = "call-1") -> None:
    for place, line in enumerate(lines):
        at = datetime(2026, 3, 1 + place, 12, tzinfo=UTC)
        memory.turn_completed(agent, session, [{"role": "user", "content": line, "at": at}])
    backing.flush(agent, session)


def test_list_holds_the_newest_first_and_reads_on(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.", "The printer is on floor two.", "Lunch is at noon.")
    page = memory.memories(agent, limit=2)
    assert [one.content for one in page] == ["Lunch is at noon.", "The printer is on floor two."]
    assert page.next is not None
    rest = memory.memories(agent, limit=2, after=page.next)
    assert [one.content for one in rest] == ["Invoices go to Rita."]
    assert rest.next is None


def test_a_record_names_its_scope_and_its_sources(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    (one,) = memory.memories(agent)
    assert (one.scope, one.type, one.trust, one.revision) == (f"agent:{agent}", "fact", "user", 0)
    assert one.valid_from == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert [(source.agent, source.session, source.seq) for source in one.sources] == [(agent, "call-1", 1)]
    assert (one.source_count, one.used, one.valid_to, one.superseded_by) == (1, 0, None, None)
    assert memory.get(one.id) == one


def test_list_is_of_one_scope(memory: Memory, backing: Backing, agent: str) -> None:
    room = f"room:{agent}"
    memory.turn_completed(agent, "in-room", [{"role": "user", "content": "The room is blue."}], scope=room)
    backing.flush(agent, "in-room")
    assert len(memory.memories(agent)) == 0
    assert [one.scope for one in memory.memories(agent, scope=room)] == [room]


def test_list_as_of_a_time_holds_what_held_then(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.", "Lunch is at noon.")
    at = datetime(2026, 3, 1, 13, tzinfo=UTC)
    assert [one.content for one in memory.memories(agent, as_of=at)] == ["Invoices go to Rita."]
    assert [one.content for one in memory.memories(agent, as_of=at.date())] == ["Invoices go to Rita."]
    assert len(memory.memories(agent, as_of=at + timedelta(days=1))) == 2


def test_list_by_type_and_status(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    assert len(memory.memories(agent, type="fact")) == 1
    assert len(memory.memories(agent, type="preference")) == 0
    assert len(memory.memories(agent, status="archived")) == 0


def test_an_unknown_agent_has_no_memories(memory: Memory, agent: str) -> None:
    assert len(memory.memories(agent)) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": 201},
        {"status": "gone"},
        {"type": "opinion"},
        {"after": "nonsense"},
        {"as_of": datetime(2026, 3, 1)},  # noqa: DTZ001
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_list_that_cannot_be_asked_is_refused(memory: Memory, agent: str, options: dict[str, object]) -> None:
    with pytest.raises(InvalidQuery, match=next(iter(options))):
        memory.memories(agent, **options)  # type: ignore[arg-type]


def test_names_are_checked(memory: Memory) -> None:
    with pytest.raises(InvalidName):
        memory.memories("")
    with pytest.raises(InvalidName):
        memory.used("", [NOBODYS])


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    for ask in (memory.get, memory.explain, memory.archive):
        with pytest.raises(NotFound, match=NOBODYS):
            ask(NOBODYS)
    with pytest.raises(InvalidQuery, match="UUID"):
        memory.get("that one")


def test_an_explanation_shows_who_said_it(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita, password: hunter2hunter2.")
    (one,) = memory.memories(agent)
    found = memory.explain(one.id)
    assert found.memory.id == one.id
    (event,) = found.sources
    assert (event.agent, event.session, event.seq, event.role) == (agent, "call-1", 1, "user")
    assert event.content.startswith("Invoices go to Rita")
    assert "hunter2" not in event.content
    assert found.changes[0].action == "created"
    assert found.changes[0].flush is not None


def test_a_use_counts_once_a_conversation(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    (one,) = memory.memories(agent)
    assert memory.used(agent, [one.id], session="call-1") == 1
    assert memory.used(agent, [one.id, one.id, NOBODYS], session="call-1") == 1
    assert memory.get(one.id).used == 1
    assert memory.used(agent, [one.id]) == 1
    found = memory.get(one.id)
    assert found.used == 2
    assert found.last_used_at is not None
    assert found.revision == one.revision


def test_a_context_notes_what_it_shows(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita in Lisbon.")
    (one,) = memory.memories(agent)
    memory.context(agent, "call-2")
    reply = {"role": "assistant", "content": "They go to Rita in Lisbon, as invoices do."}
    memory.turn_completed(agent, "call-2", [{"role": "user", "content": "What about this letter?"}, reply])
    wait_until(lambda: memory.get(one.id).shown == 1, 10, "the context is noted")
    backing.flush(agent, "call-2")
    found = memory.get(one.id)
    assert (found.shown, found.used, found.learned_importance) == (1, 1, one.importance)


def test_another_agents_memory_is_not_marked(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    (one,) = memory.memories(agent)
    assert memory.used(f"{agent}-other", [one.id]) == 0
    assert memory.get(one.id).used == 0
    assert memory.used(agent, []) == 0
    with pytest.raises(InvalidMessage, match="UUID"):
        memory.used(agent, ["that one"])


def test_a_correction_takes_the_place_of_a_memory(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    (one,) = memory.memories(agent)
    done = memory.correct(one.id, "Invoices go to Ruth.", revision=one.revision, reason="a slip")
    assert done.memory.content == "Invoices go to Ruth."
    assert done.run > 0
    assert next(iter(memory.memories(agent))).content == "Invoices go to Ruth."
    with pytest.raises(CannotChange):
        memory.correct(one.id, "Invoices go to nobody.", revision=one.revision)
    with pytest.raises(InvalidMessage):
        memory.correct(done.memory.id, "  ")
    with pytest.raises(InvalidMessage):
        memory.correct(done.memory.id)


def test_an_archived_memory_is_in_no_answer(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    (one,) = memory.memories(agent)
    assert memory.archive(one.id, "a joke").memory.status == "archived"
    assert len(memory.memories(agent)) == 0
    assert [hit for hit in memory.search(agent, "invoices") if hit.kind == "memory"] == []
    assert [left.id for left in memory.memories(agent, status="archived")] == [one.id]


def test_forget_shows_first_and_deletes_when_confirmed(memory: Memory, backing: Backing, agent: str) -> None:
    told(memory, backing, agent, "Invoices go to Rita.")
    (one,) = memory.memories(agent)
    preview = memory.forget(agent=agent, session="call-1")
    assert isinstance(preview, ForgetPreview)
    assert preview.counts["memories"] == 1
    assert memory.get(one.id).id == one.id
    with pytest.raises(InvalidMessage, match="confirm"):
        memory.forget(agent=agent, session="call-1", confirm="something else")
    receipt = memory.forget(agent=agent, session="call-1", confirm=preview.confirm)
    assert isinstance(receipt, ForgetReceipt)
    assert (receipt.receipt > 0, receipt.counts["memories"], receipt.problems) == (True, 1, ())
    with pytest.raises(NotFound):
        memory.get(one.id)


def test_forget_takes_exactly_one_thing(memory: Memory, agent: str) -> None:
    with pytest.raises(InvalidMessage, match="exactly one"):
        memory.forget()
    with pytest.raises(InvalidMessage, match="exactly one"):
        memory.forget(agent=agent, memory=NOBODYS)
    with pytest.raises(InvalidMessage, match="session needs agent"):
        memory.forget(session="call-1", scope="room:x")
    with pytest.raises(NotFound):
        memory.forget(agent=agent)
