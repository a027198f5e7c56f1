"""What held at a time, and what was known at a time: two axes, through supersession, merges, reviews and undos (I9)."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from slowwave.errors import InvalidQuery
from slowwave_server.domain.evidence import EvidenceItem, weighed
from slowwave_server.services.reports.memories import ListedMemory, list_memories
from slowwave_server.services.undo.undo import undo
from tests.support.emptying import emptying
from tests.support.passing import Past, day

pytestmark = pytest.mark.servers


def listed(past: Past, **when: Any) -> list[ListedMemory]:
    with past.engine.connect() as connection:
        return list_memories(connection, past.tenant, past.agent, **when)


def held(past: Past, **when: Any) -> set[str]:
    return {memory.content for memory in listed(past, **when)}


def test_what_held_follows_event_time_through_a_supersession(past: Past) -> None:
    rome, lisbon = past.say("Maya lives in Rome.", at=day(0)), past.say("Maya lives in Lisbon.", at=day(10))
    with past.run(at=day(20)) as run:
        run.supersede(rome, lisbon, day(10))
    assert held(past, as_of=day(-1)) == set()
    assert held(past, as_of=day(0)) == {"Maya lives in Rome."}
    assert held(past, as_of=day(10) - timedelta(seconds=1)) == {"Maya lives in Rome."}
    assert held(past, as_of=day(10)) == {"Maya lives in Lisbon."}, "an end is the first moment that it doesn't hold"


def test_what_was_merged_holds_as_its_survivor_from_its_own_time_on(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.", at=day(10))
    home = past.say("Maya's home is Lisbon.", session="friday", at=day(3))
    with past.run(at=day(20)) as run:
        run.merge(home, lisbon)
    assert held(past, as_of=day(5)) == {"Maya lives in Lisbon."}
    assert held(past, as_of=day(2)) == set()


def test_what_was_known_is_what_had_been_recorded_and_decided(past: Past) -> None:
    rome, lisbon = past.say("Maya lives in Rome.", at=day(0)), past.say("Maya lives in Lisbon.", at=day(10))
    with past.run(at=day(20)) as run:
        run.supersede(rome, lisbon, day(10))
        run.set(lisbon, "edited", content="Maya lives in Lisbon, Portugal.", status="active")
    assert held(past, known_at=day(-1)) == set()
    assert held(past, known_at=day(5)) == {"Maya lives in Rome."}
    then = {memory.content: memory for memory in listed(past, known_at=day(15))}
    assert set(then) == {"Maya lives in Rome.", "Maya lives in Lisbon."}
    assert then["Maya lives in Rome."].valid_to is None
    assert then["Maya lives in Lisbon."].status == "inbox"
    assert held(past, known_at=day(21)) == {"Maya lives in Rome.", "Maya lives in Lisbon, Portugal."}


def test_a_page_looks_back_over_so_many_changes_and_says_so_where_there_are_more(past: Past) -> None:
    rome, lisbon = past.say("Maya lives in Rome.", at=day(0)), past.say("Maya lives in Lisbon.", at=day(10))
    with past.run(at=day(20)) as run:
        run.supersede(rome, lisbon, day(10))
        run.set(lisbon, "edited", content="Maya lives in Lisbon, Portugal.", status="active")
    with past.engine.connect() as connection:
        made = connection.execute(
            text("SELECT count(*) FROM slowwave.memory_changes WHERE made_at > :moment"), {"moment": day(15)}
        ).scalar_one()
    assert listed(past, known_at=day(15), most_changes=made) == listed(past, known_at=day(15))
    with pytest.raises(InvalidQuery, match=rf"more than {made - 1} changes were made since .*use a later time"):
        listed(past, known_at=day(15), most_changes=made - 1)
    assert listed(past, known_at=day(21), most_changes=0) == listed(past, known_at=day(21))


def test_both_axes_together(past: Past) -> None:
    """Before the pass nobody knew that Rome had ended; after it everybody knows that it had, by then."""
    rome, lisbon = past.say("Maya lives in Rome.", at=day(0)), past.say("Maya lives in Lisbon.", at=day(10))
    with past.run(at=day(20)) as run:
        run.supersede(rome, lisbon, day(10))
    assert held(past, as_of=day(12), known_at=day(15)) == {"Maya lives in Rome.", "Maya lives in Lisbon."}
    assert held(past, as_of=day(12), known_at=day(25)) == {"Maya lives in Lisbon."}
    assert held(past, as_of=day(12), known_at=day(5)) == {"Maya lives in Rome."}


def test_a_merge_is_not_known_before_it_was_made_nor_is_its_evidence(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.", at=day(10))
    home = past.say("Maya's home is Lisbon.", session="friday", at=day(3), confidence=0.8)
    before = listed(past)
    with past.run(at=day(20)) as run:
        run.merge(home, lisbon)
    past.say("Maya's home is Lisbon.", session="sunday", at=day(25), confidence=0.9)
    assert [m.content for m in listed(past)] == ["Maya lives in Lisbon."]
    assert listed(past, known_at=day(15)) == before
    merged = listed(past, known_at=day(22))
    assert [(m.content, m.valid_from, m.source_count) for m in merged] == [("Maya lives in Lisbon.", day(3), 2)]
    assert [(s.session, s.seq) for s in merged[0].sources] == [("friday", 1), ("monday", 1)]
    assert merged[0].confidence == pytest.approx(1 - 0.2 * 0.7)
    assert held(past, as_of=day(5), known_at=day(15)) == {"Maya's home is Lisbon."}
    assert held(past, as_of=day(5), known_at=day(22)) == {"Maya lives in Lisbon."}


def test_what_an_undo_took_away_had_been_known(past: Past) -> None:
    item = past.note("Maya plays the cello.", at=day(1))
    with past.run("working", at=day(2)) as run:
        cello = run.keep(item, "Maya plays the cello.")
        run.set(cello, "promoted", status="active")
    undo(past.engine, "default", run.id, by="priya", now=day(9))
    assert held(past) == set()
    known = listed(past, known_at=day(5))
    assert [(m.id, m.content, m.status) for m in known] == [(cello, "Maya plays the cello.", "active")]
    assert held(past, known_at=day(1.5)) == set()
    assert held(past, known_at=day(10)) == set()


def test_filters_hold_for_what_was_then(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.", at=day(0))
    past.say("Maya has two cats.", session="friday", at=day(1))
    with past.run(at=day(20)) as run:
        run.set(lisbon, "archived", status="archived", archive_reason="stale", type="decision")
    assert held(past, known_at=day(10), kind="fact", limit=1) == {"Maya has two cats."}
    assert held(past, known_at=day(10), kind="fact", session="monday") == {"Maya lives in Lisbon."}
    assert held(past, known_at=day(10), status="archived") == set()
    assert held(past, known_at=day(21), status="archived") == {"Maya lives in Lisbon."}


def test_a_day_means_its_end_where_the_agent_lives(past: Past) -> None:
    with past.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.agents SET time_zone = 'Asia/Tokyo'"))
    late = datetime(2026, 3, 4, 14, 59, tzinfo=UTC)  # one minute to midnight in Tokyo
    past.say("Maya lives in Lisbon.", at=late)
    past.say("Maya has two cats.", at=late + timedelta(minutes=2))
    assert held(past, as_of=date(2026, 3, 4)) == {"Maya lives in Lisbon."}
    assert held(past, known_at=date(2026, 3, 4)) == {"Maya lives in Lisbon."}
    assert held(past, as_of=datetime(2026, 3, 5, 0, 1)) == {"Maya lives in Lisbon.", "Maya has two cats."}  # noqa: DTZ001


def test_i8_another_scope_and_another_tenant_have_a_past_of_their_own(past: Past, engine: Engine) -> None:
    others = [Past(engine, agent="other"), Past(engine, tenant="acme")]
    for one in others:
        memory = one.say("Jonas has a boat.", at=day(0))
        with one.run(at=day(5)) as run:
            run.set(memory, "archived", status="archived", archive_reason="stale")
    past.say("Maya has two cats.", at=day(0))
    for when in ({"known_at": day(2)}, {"as_of": day(2)}, {"known_at": day(2), "as_of": day(2)}):
        assert held(past, **when) == {"Maya has two cats."}
    assert held(others[1], known_at=day(2)) == {"Jonas has a boat."}


SAYINGS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(5, 95).map(lambda n: n / 100), st.integers(0, 20)), min_size=1, max_size=8
)


@settings(
    max_examples=20,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sayings=SAYINGS)
def test_the_past_weighs_evidence_as_the_database_does(engine: Engine, sayings: list[tuple[int, float, int]]) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(emptying("agents", "scopes", "memory_changes"))
    past = Past(engine)
    memory = UUID(int=0)
    for session, confidence, at in sayings:
        memory = past.say("Maya lives in Lisbon.", session=f"s{session}", confidence=confidence, at=day(at))
    row = past.row(memory)
    own = weighed(
        [
            EvidenceItem((n,), str(session), confidence, 0.5, "user", day(at))
            for n, (session, confidence, at) in enumerate(sayings)
        ]
    )
    assert own is not None
    assert own.confidence == pytest.approx(row["confidence"], abs=2e-6)
    assert (own.valid_from, own.reaffirmed_at, own.trust) == (row["valid_from"], row["reaffirmed_at"], row["trust"])


def test_a_part_that_was_decided_about_since_still_speaks_for_what_it_was_merged_into(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon.", at=day(5)), past.say("Maya's home is Lisbon.", at=day(2))
    with past.run(at=day(10)) as run:
        run.merge(home, lisbon)
    with past.run(at=day(20)) as run:
        run.set(home, "noted", archive_reason="merged by hand")
    past.say("Maya lives in Lisbon.", session="friday", at=day(21))
    (then,) = listed(past, known_at=day(15))
    assert (then.content, then.valid_from, then.source_count) == ("Maya lives in Lisbon.", day(2), 2)
