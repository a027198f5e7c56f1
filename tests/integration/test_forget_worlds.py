"""Whatever passes, people and notes made of them: a forgotten session or agent is gone, the rest is whole (I6, I10)."""

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from redis import Redis
from sqlalchemy import Engine, text

from proof.chaos.checks_changes import changes_lead_to_what_is
from proof.chaos.evidence import Evidence
from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.undo import undo
from tests.integration.test_undo_sequences import NOTED, RUNS, Hand, Move, begin, perform
from tests.support.flushing import Clock
from tests.support.forgetting import dump_tables
from tests.support.passing import Past, day, state

pytestmark = [pytest.mark.long, pytest.mark.servers]

# Each session has a word that nobody else uses.
WORDS = ("heron", "quokka", "gecko")
SAID = ("Maya lives in Rome with a {0}.", "Maya's home is Lisbon, says the {0}.", "The {0} has two cats.")
SHARED = ("Jonas plays the cello.", "Maya has no pets.")
SESSIONS = ("s0", "s1", "s2")
SLOWLY = settings(
    max_examples=5,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_WITHOUT_EVIDENCE = """
    SELECT m.id, m.status FROM slowwave.memories m WHERE NOT EXISTS (
        SELECT FROM slowwave.memory_sources x WHERE x.memory_id = m.id AND x.via IS NULL
        UNION ALL SELECT FROM slowwave.memory_notes x WHERE x.memory_id = m.id AND x.via IS NULL
        UNION ALL SELECT FROM slowwave.memory_imports x WHERE x.memory_id = m.id AND x.via IS NULL)
"""
_ASTRAY = """
    SELECT x.memory_id, x.via FROM (
        SELECT memory_id, via FROM slowwave.memory_sources UNION ALL SELECT memory_id, via FROM slowwave.memory_notes
    ) AS x LEFT JOIN slowwave.memories p ON p.id = x.via
    WHERE x.via IS NOT NULL AND p.merged_into IS DISTINCT FROM x.memory_id
"""
_UNKNOWN_PLACES = """
    SELECT b.memory_id FROM slowwave.memory_blocks b LEFT JOIN slowwave.memories m ON m.id = b.memory_id
    WHERE m.id IS NULL
"""
_WEIGHED_ANEW = "SELECT id FROM slowwave.memories WHERE slowwave.score_memory(id, now())"


def world(past: Past) -> Hand:
    memories: list[UUID] = []
    for number, session in enumerate(SESSIONS):
        word = WORDS[number]
        memories += [past.say(said.format(word), session=session, at=day(number)) for said in SAID]
        if number < 2:
            memories += [past.say(said, session=session, at=day(number), confidence=0.7) for said in SHARED]
    return Hand(past, memories=memories, items=[past.note(words) for words in NOTED])


def forget(engine: Engine, target: Target) -> None:
    before = dump_tables(engine)
    preview = erase(engine, target, clock=Clock(), by="test", dry_run=True)
    assert dump_tables(engine) == before, "a preview changes nothing"
    assert erase(engine, target, clock=Clock(), by="test", dry_run=False).counts == preview.counts


def check_whole(engine: Engine) -> None:
    evidence = Evidence(engine, Redis(), Path(), [], day(60))
    assert changes_lead_to_what_is(evidence) == [], "I6: what a forget decides is noted, too"
    with engine.connect() as connection:
        for query in (_WITHOUT_EVIDENCE, _ASTRAY, _UNKNOWN_PLACES, _WEIGHED_ANEW):
            assert connection.execute(text(query)).all() == [], query
        connection.rollback()


def consolidated(past: Past) -> str:
    order = Order(past.scope_id, "deep", by="test")
    return consolidate(past.engine, order, settings=Consolidation(), clock=lambda: day(60)).state


@SLOWLY
@given(runs=RUNS, which=st.integers(0, 2))
def test_a_forgotten_session_is_nowhere_and_the_rest_is_whole(
    engine: Engine, runs: list[list[Move]], which: int
) -> None:
    past = begin(engine)
    hand = world(past)
    numbers = [perform(hand, moves, number) for number, moves in enumerate(runs)]
    forget(engine, Target.of_session("default", past.agent, SESSIONS[which]))
    found = dump_tables(engine)
    assert {table for table, rows in found.items() if WORDS[which] in rows} == set()
    check_whole(engine)
    left = state(engine)
    for run in reversed(numbers):
        try:
            undo(engine, "default", run, by="priya", now=day(30))
        except CannotUndo:
            assert state(engine) == left, "an undo does all or nothing"
        left = state(engine)
        assert WORDS[which] not in "".join(dump_tables(engine).values()), "an undo brings nothing back"
    assert consolidated(past) in {"completed", "nothing", "stopped"}


@SLOWLY
@given(runs=RUNS, which=st.integers(0, 8))
def test_a_forgotten_memory_is_nowhere_and_the_rest_is_whole(
    engine: Engine, runs: list[list[Move]], which: int
) -> None:
    past = begin(engine)
    hand = world(past)
    for number, moves in enumerate(runs):
        perform(hand, moves, number)
    memory = hand.memories[which]
    forget(engine, Target.of_memory("default", memory))
    assert past.row(memory) is None
    names = {"erasures", "memory_tombstones"}  # the receipt names it, and readers of changes learn that it is gone
    with engine.connect() as connection:
        runs_left = connection.execute(text("SELECT count(*) FROM slowwave.memory_changes WHERE action = 'forgotten'"))
        if runs_left.scalar_one():
            names.add("memory_changes")  # runs that can't be undone any more name one memory that they changed
    assert {table for table, rows in dump_tables(engine).items() if f'"{memory}"' in rows} <= names
    check_whole(engine)
    assert consolidated(past) in {"completed", "nothing", "stopped"}


@SLOWLY
@given(runs=RUNS)
def test_of_a_forgotten_agent_nothing_is_left(engine: Engine, runs: list[list[Move]]) -> None:
    past = begin(engine)
    hand = world(past)
    other = Past(engine, agent="jonas")
    kept = other.say("The ibis likes marshes.")
    for number, moves in enumerate(runs):
        perform(hand, moves, number)
    forget(engine, Target.of_agent("default", past.agent))
    found = dump_tables(engine)
    assert not [table for table, rows in found.items() for word in WORDS if word in rows]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT id FROM slowwave.memories")).scalars().all() == [kept]
    check_whole(engine)
