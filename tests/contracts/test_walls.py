"""Mistake 39, I8: no reader is told what belongs to another tenant, another agent's own memory, or another room.

This module makes every call of `tests/support/wall_readers.py` for one place of `tests/support/walls.py` at a time.
Each may answer with that place's words alone. A new reading function that is neither called there nor listed with a
reason fails this module.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import redis
from sqlalchemy import Connection, text

from slowwave.errors import InvalidName
from slowwave_server.models.engine import make_engine
from slowwave_server.services import lookup, samples
from slowwave_server.services.days import book
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories import file_lines
from slowwave_server.services.reports import agents as listed
from slowwave_server.services.reports import (
    conflicts,
    days,
    dead_letters,
    dirty,
    explain,
    find,
    graph,
    history,
    inbox,
    mentioned,
    quarantine,
    relations,
    review,
    run_list,
    runs,
    status,
    text_filter,
    transcript,
    working,
)
from slowwave_server.services.review import conflict_sides
from tests.support.midday import TODAY
from tests.support.wall_calls import Reader, answered, changes, keys_of, letter, may_hold, open_keys_of
from tests.support.wall_not_called import NOT_CALLED, readers
from tests.support.wall_readers import READERS
from tests.support.walls import PLACES, RULES, YESTERDAY, World, open_world, settings_on, words_in

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def world(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    engine = make_engine(module_database)
    client = redis.Redis.from_url(valkey_url)
    client.flushall()
    settings = settings_on(module_database, valkey_url, tmp_path_factory.mktemp("walls"))
    yield from open_world(engine, settings, client, tmp_path_factory.mktemp("files"))
    client.close()
    engine.dispose()


def test_mistake_39_every_reading_function_is_called_here_or_listed_with_a_reason() -> None:
    called = {reader.function for reader in READERS}
    known = readers()
    assert {name for name, function in known.items() if function not in called} - set(NOT_CALLED) == set()
    assert set(NOT_CALLED) - set(known) == set(), "these are no longer there"
    assert {name for name in NOT_CALLED if known[name] in called} == set(), "these are called after all"
    assert len(known) > 30


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.function.__qualname__)
def test_mistake_39_no_answer_holds_what_belongs_elsewhere(world: World, reader: Reader) -> None:
    for place in PLACES:
        with world.engine.connect() as connection:
            answer = reader.ask(world, connection, place)
        held = words_in(answer)
        assert held <= may_hold(reader, place), f"{place} was told of {held - may_hold(reader, place)}"
        assert reader.silent or place.word in held, f"{place} was told nothing: {answer}"


def test_mistake_39_a_number_or_an_id_from_the_other_side_is_as_unknown_as_one_that_never_was(world: World) -> None:
    """And what the refusal says names nothing from there."""
    for mine, theirs in ((PLACES[0], PLACES[5]), (PLACES[5], PLACES[1]), (PLACES[6], PLACES[1])):
        asks: list[Callable[[Connection], Any]] = [
            *(partial(explain.explain_memory, tenant=mine.tenant, memory=one) for one in world.memories(theirs)),
            partial(review.read_question, tenant=mine.tenant, item=world.numbers("review_items", theirs)[0]),
            partial(runs.read_run, tenant=mine.tenant, run_id=world.numbers("maintenance_runs", theirs)[0]),
            partial(dead_letters.read_dead_letter, tenant=mine.tenant, number=letter(world, theirs)),
            partial(lookup.find_session, tenant=mine.tenant, agent=mine.agent, session=f"{theirs.word}-talk"),
            partial(transcript.read_transcript, tenant=mine.tenant, agent=mine.agent, session=f"{theirs.word}-talk"),
            partial(
                transcript.read_surroundings,
                tenant=mine.tenant,
                places=[(mine.agent, f"{theirs.word}-talk", 1)],
            ),
            *(partial(inbox.read_item, tenant=mine.tenant, key=key) for key in keys_of(world, theirs)),
        ]
        for ask in asks:
            with world.engine.connect() as connection, pytest.raises(UnknownName) as refused:
                ask(connection)
            said = str(refused.value).replace(repr(f"{theirs.word}-talk"), "")  # what the asker said itself
            assert words_in(said) <= {place.word for place in PLACES if place.tenant == mine.tenant}
        with world.engine.connect() as connection:
            memories_there = world.memories(theirs)
            assert conflict_sides.read_sides(connection, mine.tenant, memories_there) == {}
            assert mentioned.contents_named(connection, mine.tenant, changes(memories_there)) == {}
            assert review.read_questions(connection, mine.tenant, world.numbers("review_items", theirs)) == []
            assert inbox.read_items(connection, mine.tenant, keys_of(world, theirs)) == []
            run, key = answered(world, connection, theirs)
            assert inbox.keys_of_run(connection, theirs.tenant, run) == [key]
            assert inbox.keys_of_run(connection, mine.tenant, run) == []
            assert find.find_anything(connection, mine.tenant, theirs.word) == find.Found((), ())
            assert list(file_lines.files_among(connection, mine.tenant, memories_there)) == []
            for function in (relations.links_of, relations.conflicts_of, relations.questions_of, relations.notes_of,
                             relations.parts_of, relations.chain_of, relations.triples_of,
                             file_lines.lines_of):  # fmt: skip
                here = [function(connection, world.scope_id(mine), memory) for memory in memories_there]
                assert here == [()] * len(memories_there), function.__name__


def test_mistake_39_a_question_about_a_name_of_the_other_side_names_nothing_from_there(world: World) -> None:
    with world.engine.connect() as connection:
        with pytest.raises(UnknownName) as refused:
            lookup.find_agent(connection, "globex", "boreas")
        assert "boreas" in str(refused.value)
        assert refused.value.nearest == ()
        with pytest.raises(UnknownName) as overview:
            listed.read_agent(connection, "globex", "boreas")
        assert overview.value.nearest == ()
        assert find.find_anything(connection, "globex", "borea").agents == ()
        assert find.find_anything(connection, "acme", "borea").agents == ("boreas",)
        with pytest.raises(UnknownName) as unrelated:
            graph.neighbourhood(connection, "globex", "atlas", "Quorve")
        assert words_in(str(unrelated.value)) <= {"Jaskill"}


def test_mistake_39_an_empty_filter_answers_with_nothing_and_never_with_everything(world: World) -> None:
    own, memory = PLACES[0], world.memory.for_tenant("acme")
    assert words_in(memory.search("atlas", "editor boat key", 50, scopes=[])) == {own.word}
    assert words_in(memory.context("atlas", scopes=[])) == {own.word}
    for agent, scopes in (("nobody", []), ("nobody", ["room:nowhere"]), ("Atlas", []), ("atl%", []), ("%", ["room:%"])):
        assert memory.search(agent, "editor boat key", 50, scopes=scopes) == []
        assert words_in(memory.context(agent, scopes=scopes)) == set()
        assert memory.stats(agent).noted == 0
    stranger = world.memory.for_tenant("initech")
    assert words_in(stranger.context("atlas", scopes=["room:kitchen", "team:garden"])) == set()
    assert stranger.search("atlas", "editor", scopes=["room:kitchen", "team:garden"]) == []
    assert stranger.status().dirty_sessions == 0
    for nameless in ("", "a\nb"):
        for ask in (memory.search, memory.context):
            with pytest.raises(InvalidName):
                ask(nameless, "editor")
        with pytest.raises(InvalidName):
            memory.search("atlas", "editor", scopes=[f"room:{nameless}"])
    with world.engine.connect() as connection:
        assert dirty.goals_of(connection, []) == []
        assert dirty.unmet(connection, []) == []
        assert conflict_sides.read_sides(connection, "acme", []) == {}
        assert conflicts.read_conflicts(connection, "", "true", {}, limit=50) == []
        for tenant, key in (
            ("acme", ("agent", "")),
            ("acme", ("room", "nowhere")),
            ("", own.key),
            ("initech", own.key),
        ):
            assert conflicts.list_conflicts(connection, tenant, scope=key) == []
            assert review.list_questions(connection, tenant, review.Asked(scope=key)) == []
            assert run_list.list_runs(connection, tenant, scope=key) == []
            assert working.list_notes(connection, tenant, *key, RULES, datetime.now(UTC)) == []
        assert quarantine.list_quarantined(connection, "acme", agent="") == []
        assert quarantine.list_quarantined(connection, "acme", agent="atlas", session="") == []
        assert dead_letters.list_dead_letters(connection, "initech") == []
        for tenant in ("", "initech", "ACME", "acm%", "%"):
            assert inbox.open_keys(connection, tenant) == []
            assert set(inbox.count_kinds(connection, tenant).values()) == {0}
            assert inbox.read_items(connection, tenant, inbox.open_keys(connection, "acme")) == []
            assert find.find_anything(connection, tenant, own.word) == find.Found((), ())
            assert find.find_anything(connection, tenant, "a") == find.Found((), ())
        for scope in (("agent", ""), ("agent", "atl%"), ("room", "nowhere"), ("", "")):
            assert inbox.open_keys(connection, "acme", scope=scope) == []
        for words in ("", " ", "\0", "%", "'' | ''"):
            assert find.find_anything(connection, "acme", words) == find.Found((), ())
            assert text_filter.quick_query(connection, [], words) is None
        assert text_filter.quick_query(connection, [], own.word) is None
        assert review.read_questions(connection, "acme", []) == []
        assert inbox.read_items(connection, "acme", []) == []
        assert mentioned.contents_named(connection, "acme", []) == {}
        assert mentioned.contents_of(connection, "acme", []) == {}
        assert transcript.read_surroundings(connection, "acme", []) == {}


def test_mistake_39_a_day_of_a_room_is_none_of_the_agents_own_and_none_of_the_other_agents(world: World) -> None:
    with world.engine.connect() as connection:
        for tenant, agent in {(place.tenant, place.agent) for place in PLACES}:
            here = [place for place in PLACES if (place.tenant, place.agent) == (tenant, agent)]
            entries = book.day_book(connection, tenant, agent)
            assert {(entry.ref.tenant, entry.ref.agent) for entry in entries} == {(tenant, agent)}
            assert sorted(str(entry.ref.scope) for entry in entries) == sorted(2 * [str(place.scope) for place in here])
            counted = {(entry.ref.day, entry.total_messages) for entry in entries}
            assert counted == {(YESTERDAY.date(), 9), (TODAY, 2)}, "each of them counts its own events"
        everybody = book.day_book(connection, "acme", limit=500)
        assert len(everybody) == 2 * sum(place.tenant == "acme" for place in PLACES)
        assert book.day_book(connection, "initech") == book.day_book(connection, "") == []
        for agent, scope in (("boreas", "team:garden"), ("boreas", "room:nowhere"), ("boreas", "")):
            assert book.find_days(connection, "acme", agent, TODAY, scope=scope) == []
            with pytest.raises(UnknownName) as refused:
                days.read_day(connection, "acme", agent, TODAY, scope=scope)
            assert words_in(str(refused.value)) == set()
        for tenant, agent in (("initech", "atlas"), ("globex", "boreas"), ("acme", "")):
            with pytest.raises(UnknownName):
                book.day_book(connection, tenant, agent)


def test_mistake_39_counts_are_those_of_the_tenant_alone(world: World) -> None:
    for tenant in ("acme", "globex"):
        its = [place for place in PLACES if place.tenant == tenant]
        assert world.memory.for_tenant(tenant).status().dirty_sessions == len(its)
        with world.engine.connect() as connection:
            found = status.read_status(connection, world.queue, tenant, datetime.now(UTC))
            assert (found.dirty_sessions, found.quarantined, found.dead_letters) == (len(its),) * 3
            assert sum(found.flushes.values()) == 2 * len(its)
        for place in its:
            counted = world.of(place).stats(place.agent, place.scope)
            here = [other for other in its if other.key == place.key]
            assert (counted.noted, counted.open) == (2 * len(here), len(here))


def test_mistake_39_figures_over_time_and_the_inbox_are_those_of_the_tenant_and_its_scopes_alone(world: World) -> None:
    now = datetime.now(UTC)
    samples.take_samples(world.engine, now)
    with world.engine.connect() as connection:
        for tenant in ("acme", "globex"):
            its = [place for place in PLACES if place.tenant == tenant]
            keys = inbox.open_keys(connection, tenant)
            by_scope = {place.key: inbox.open_keys(connection, tenant, scope=place.key) for place in its}
            assert sorted(keys) == sorted(key for found in by_scope.values() for key in found)
            assert sum(inbox.count_kinds(connection, tenant).values()) == len(keys) > 0
            steps = history.read_history(connection, tenant, now + timedelta(minutes=5))
            (figures,) = [step for step in steps if step.sessions_waiting is not None]
            assert (figures.sessions_waiting, figures.events_waiting) == (len(its), len(its))
            assert figures.inbox_open == len(keys)
        for tenant in ("initech", "", "ACME"):
            steps = history.read_history(connection, tenant, now + timedelta(minutes=5))
            assert {step.sessions_waiting for step in steps} == {None}


def test_mistake_39_contradictions_without_a_question_are_those_of_the_scope_alone(world: World) -> None:
    with world.engine.connect() as connection:  # never committed
        connection.execute(text("DELETE FROM slowwave.review_items"))
        for place in PLACES:
            mine = {f"c{number}" for number in world.numbers("memory_conflicts", place)}
            keys = open_keys_of(connection, place)
            assert keys
            assert {*keys} <= mine
            its = [other for other in PLACES if other.tenant == place.tenant]
            held = words_in(inbox.read_items(connection, place.tenant, keys))
            assert held == {other.word for other in its if other.key == place.key}
            of_tenant = {f"c{number}" for other in its for number in world.numbers("memory_conflicts", other)}
            assert {*inbox.open_keys(connection, place.tenant)} <= of_tenant
        assert inbox.open_keys(connection, "initech") == []


def test_mistake_39_an_agents_counts_are_those_of_its_own_scope(world: World) -> None:
    """Of the same name on both sides, and of none of its rooms."""
    with world.engine.connect() as connection:
        for place in (place for place in PLACES if place.scope is None):
            found = listed.read_agent(connection, place.tenant, place.agent)
            here = [other for other in PLACES if (other.tenant, other.agent) == (place.tenant, place.agent)]
            assert (found.agent.name, found.agent.sessions) == (place.agent, 3 * len(here))
            assert found.agent.dirty == len(here)
            (kept,) = world.sql(
                "SELECT count(*) AS memories FROM slowwave.memories WHERE scope_id = :scope",
                scope=world.scope_id(place),
            )
            assert sum(found.memories.values()) == kept.memories
            assert found.questions == len(world.numbers("review_items", place))


def test_mistake_39_a_quick_search_asks_for_words_of_its_own_scopes_alone(world: World) -> None:
    """The stems of a query carry the scopes that it may find; the index holds no word without one."""
    with world.engine.connect() as connection:
        scopes = [world.scope_id(place) for place in PLACES if place.tenant == "globex"]
        query = text_filter.quick_query(connection, scopes, "editor' | '1:key")
        assert query is not None
        assert {int(prefix) for prefix in re.findall(r"'(\d+):", query)} == {*scopes}
