"""Lists of memories read on where they ended, and are filtered by words; nothing twice, nothing left out."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from slowwave_server.services.reports.memories import ListedMemory, list_memories
from tests.support.passing import Past, day

pytestmark = pytest.mark.servers


def listed(past: Past, **wanted: Any) -> list[ListedMemory]:
    with past.engine.connect() as connection:
        return list_memories(connection, past.tenant, past.agent, **wanted)


def pages(past: Past, size: int, **wanted: Any) -> list[UUID]:
    found: list[UUID] = []
    before = None
    while page := listed(past, limit=size, before=before, **wanted):
        found += [memory.id for memory in page]
        before = (page[-1].valid_from, page[-1].id)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pages_hold_each_memory_once_also_those_of_one_moment(past: Past, size: int) -> None:
    for number in range(7):
        past.say(f"Maya counts to {number}.", at=day(number // 3))
    with past.run(at=day(10)) as run:
        run.set(past.live()[0], "edited", content="Maya counted.")
    for wanted in (
        {},
        {"known_at": day(9)},
        {"as_of": day(1)},
        {"words": "maya"},
        {"known_at": day(9), "words": "counts"},
    ):
        whole = [memory.id for memory in listed(past, **wanted)]
        assert len(whole) >= 6
        assert pages(past, size, **wanted) == whole


def test_words_are_stemmed_and_may_be_begun(past: Past) -> None:
    past.say("Maya moved to Portugal.")
    past.say("Jonas likes the port of Rotterdam.")
    past.say("???")

    def said(words: str, **wanted: Any) -> set[str]:
        return {memory.content.split()[0] for memory in listed(past, words=words, **wanted)}

    assert said("port") == {"Maya", "Jonas"}
    assert said("MOVES port") == {"Maya"}
    assert said("jonas") == {"Jonas"}
    assert said("Lisbon") == set()
    assert said("the") == {"Jonas"}, "no stem is left of it: the text itself"
    assert said("??") == {"???"}
    assert said("%") == said("_") == set()
    for hostile in ("'", "\\", "a' | 'b", "x:*", "1:port", "\0", "((", "port\\' | maya"):
        assert said(hostile, known_at=day(1)) == said(hostile)


def test_words_in_another_language_are_stemmed_in_it(past: Past) -> None:
    past.say("Maya hat die Rechnungen bezahlt.")
    with past.engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE slowwave.memories m SET language = 'de', search ="
                " slowwave.memory_search_vector(m.scope_id, m.content, m.valid_from, m.entities, 'de')"
            )
        )
    said = [memory.content for memory in listed(past, words="rechnung bezahlen")]
    assert said == ["Maya hat die Rechnungen bezahlt."]
    with past.run(at=day(10)) as run:
        run.set(past.live()[0], "edited", content="Maya hat nichts bezahlt.")
    assert [memory.content for memory in listed(past, words="rechnung bezahlen", known_at=day(9))] == said
    assert listed(past, words="rechnung") == []


def test_i8_words_of_another_scope_are_not_found_by_its_number(past: Past) -> None:
    other = Past(past.engine, agent="atlas")
    other.say("Priya keeps bees.")
    past.say("Maya keeps bees.")
    assert [memory.content for memory in listed(past, words="bees")] == ["Maya keeps bees."]
    assert listed(past, words=f"{other.scope_id}:bees") == []


def test_words_filter_what_was_known_then_by_what_it_said_then(past: Past) -> None:
    rome = past.say("Maya lives in Rome.", at=day(0))
    with past.run(at=day(5)) as run:
        run.set(rome, "edited", content="Maya lives in Lisbon.")
    assert [memory.content for memory in listed(past, words="rome", known_at=day(3))] == ["Maya lives in Rome."]
    assert listed(past, words="lisbon", known_at=day(3)) == []
    assert [memory.content for memory in listed(past, words="lisbon")] == ["Maya lives in Lisbon."]


def test_a_look_far_back_shows_nothing_that_was_recorded_since(past: Past) -> None:
    past.say("Maya lives in Rome.", at=day(0))
    for number in range(5):
        past.say(f"Maya counts to {number}.", at=day(10) + timedelta(hours=number))
    with past.engine.connect() as connection:
        rows = connection.execute(text("SELECT count(*) FROM slowwave.memory_changes")).scalar_one()
    assert rows == 6
    assert [memory.content for memory in listed(past, known_at=day(1))] == ["Maya lives in Rome."]
