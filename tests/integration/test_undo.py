"""Undo takes a run back byte for byte, or refuses and says what is in the way (I6, mistakes 25 and 26)."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.changes import Author, Ledger, Stale, change_memory
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.report import UndoReport
from slowwave_server.services.undo.undo import undo
from tests.support.passing import Past, Step, day, state

pytestmark = pytest.mark.servers

NOW = day(30)


def take_back(past: Past, run: int) -> UndoReport:
    return undo(past.engine, past.tenant, run, by="priya", now=NOW)


def refused(past: Past, run: int) -> str:
    before = state(past.engine)
    with pytest.raises(CannotUndo) as error:
        take_back(past, run)
    assert state(past.engine) == before, "a refusal changes nothing"
    return str(error.value)


def rows(past: Past, query: str) -> list[tuple[object, ...]]:
    with past.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_a_merge_is_undone_byte_for_byte(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.", at=day(2))
    home = past.say("Maya's home is Lisbon.", session="friday", at=day(1), confidence=0.9)
    before = state(past.engine)
    with past.run(at=day(8)) as run:
        run.merge(home, lisbon)
        run.set(lisbon, "promoted", status="active")
    assert past.row(lisbon)["valid_from"] == day(1)
    assert state(past.engine) != before
    report = take_back(past, run.id)
    assert state(past.engine) == before
    assert (report.restored, report.removed, report.links) == (2, 0, 1)


def test_taking_a_merge_back_and_moving_parts_along_are_undone_byte_for_byte(past: Past) -> None:
    """Links that a run ended stand again, and every part knows its survivor again."""
    lisbon, home, flat = (past.say(words) for words in ("Maya lives in Lisbon.", "Home is Lisbon.", "A flat there."))
    steps: list[Callable[[Step], None]] = [
        lambda run: run.merge(home, lisbon),
        lambda run: run.merge(lisbon, flat),
        lambda run: run.unmerge(lisbon),
        lambda run: run.unmerge(home),
    ]
    states, runs = [], []
    for number, step in enumerate(steps):
        states.append(state(past.engine))
        with past.run(at=day(8 + number)) as run:
            step(run)
        runs.append(run.id)
    for run_id, before in zip(reversed(runs), reversed(states), strict=True):
        take_back(past, run_id)
        assert state(past.engine) == before


def test_a_pass_over_everything_is_undone_byte_for_byte(past: Past) -> None:
    rome, lisbon = past.say("Maya lives in Rome."), past.say("Maya lives in Lisbon.", at=day(3))
    cats, dogs = past.say("Maya has two cats."), past.say("Maya has no pets.", session="friday")
    item, again = past.note("Maya plays the cello."), past.note("Maya has two cats.")
    before = state(past.engine)
    with past.run("deep", at=day(8)) as run:
        run.supersede(rome, lisbon, day(3))
        conflict = run.conflict(dogs, cats)
        run.ask(conflict=conflict)
        run.set(dogs, "review", status="review")
        run.ask(memory=dogs)
        cello = run.keep(item, "Maya plays the cello.")
        run.repeat(again, cats)
        run.link(cello, cats)
        run.triple(lisbon, "Maya", "lives in", "Lisbon")
        run.set(lisbon, "edited", content="Maya lives in Lisbon, Portugal.")
    report = take_back(past, run.id)
    assert state(past.engine) == before
    assert (report.removed, report.conflicts, report.questions, report.reopened) == (1, 1, 2, 2)
    assert past.row(cello) is None
    assert rows(past, f"SELECT status, undone_by FROM slowwave.maintenance_runs WHERE id = {run.id}") == [
        ("undone", report.run)
    ]


def test_a_person_s_decisions_are_undone_to_open_questions(past: Past) -> None:
    cats, dogs = past.say("Maya has two cats."), past.say("Maya has no pets.", session="friday")
    with past.run(at=day(8)) as run:
        conflict = run.conflict(dogs, cats)
        run.set(dogs, "review", status="review")
        item = run.ask(memory=dogs)
    assert conflict is not None
    assert item is not None
    before = state(past.engine)
    with past.run("review", at=day(9), by="jonas") as decision:
        assert decision.answer(item, dogs)
        assert decision.settle(conflict, dogs)
        decision.set(dogs, "accepted", status="inbox")
    assert take_back(past, decision.id).decisions == 2
    assert state(past.engine) == before


def test_what_a_flush_said_in_between_is_kept_and_weighed(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as run:
        run.merge(home, lisbon)
    past.say("Maya's home is Lisbon.", session="sunday", at=day(9), confidence=0.8)
    past.say("Maya lives in Lisbon.", session="sunday", at=day(9))
    take_back(past, run.id)
    sources = "SELECT count(*) FROM slowwave.memory_sources WHERE via IS NULL AND memory_id = '{}'"
    assert rows(past, sources.format(home)) == [(2,)]
    assert rows(past, sources.format(lisbon)) == [(2,)]
    assert rows(past, "SELECT count(*) FROM slowwave.memory_sources WHERE via IS NOT NULL") == [(0,)]
    assert past.row(home)["confidence"] == pytest.approx(1 - 0.2 * 0.7)


def test_one_event_that_says_two_merged_memories_is_given_back_as_it_was(past: Past) -> None:
    """A copy never alters what an event says in these words, and of two copies none outlives its part."""
    lisbon, home, flat = (past.say(words) for words in ("Maya lives in Lisbon.", "Home is Lisbon.", "A flat there."))
    with past.engine.begin() as connection:
        for memory, confidence in ((home, 0.9), (flat, 0.8)):
            call = text(
                "SELECT slowwave.add_source(:memory, session_id, ARRAY[1]::bigint[], :confidence, 0.9, 'user',"
                " happened_at, NULL) FROM slowwave.events WHERE seq = 1"
            )
            connection.execute(call, {"memory": memory, "confidence": confidence})
            connection.execute(text("SELECT slowwave.score_memory(:memory, now())"), {"memory": memory})
    states, runs = [], []
    for part in (home, flat):
        states.append(state(past.engine))
        with past.run(at=day(8)) as run:
            run.merge(part, lisbon)
        runs.append(run.id)
    for run_id, before in zip(reversed(runs), reversed(states), strict=True):
        take_back(past, run_id)
        assert state(past.engine) == before


def test_a_memory_that_was_said_since_the_run_made_it_stays(past: Past) -> None:
    item = past.note("Maya plays the cello.")
    with past.run("working", at=day(8)) as run:
        cello = run.keep(item, "Maya plays the cello.")
    assert past.say("Maya plays the cello.", session="friday", at=day(9)) == cello
    report = take_back(past, run.id)
    assert (report.removed, report.kept) == (0, 1)
    assert past.row(cello)["trust"] == "user", "on what was said alone"


def test_later_runs_stand_in_the_way_and_are_named(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as first:
        first.set(lisbon, "promoted", status="active")
    with past.run("review", at=day(9), by="jonas") as second:
        second.merge(home, lisbon)
    sentence = refused(past, first.id)
    assert f"run {second.id} (review by jonas, 2026-03-11" in sentence
    assert "“Maya lives in Lisbon.”" in sentence
    assert f"undo run {second.id} first" in sentence
    take_back(past, second.id)
    take_back(past, first.id)


def test_a_later_link_alone_is_no_reason_but_for_a_memory_that_the_run_made(past: Past) -> None:
    lisbon, cats = past.say("Maya lives in Lisbon."), past.say("Maya has cats.")
    item = past.note("Maya plays the cello.")
    with past.run(at=day(8)) as promoting:
        promoting.set(lisbon, "promoted", status="active")
    with past.run("working", at=day(8)) as keeping:
        cello = keeping.keep(item, "Maya plays the cello.")
    with past.run(at=day(9)) as linking:
        linking.link(cats, lisbon)
        linking.link(cats, cello)
    take_back(past, promoting.id)
    assert f"run {linking.id} builds on that; undo run {linking.id} first" in refused(past, keeping.id)


def test_a_memory_that_was_said_again_since_it_was_archived_stands_in_the_way(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.")
    with past.run(at=day(8)) as run:
        run.set(lisbon, "archived", status="archived", archive_reason="stale")
    assert past.say("Maya lives in Lisbon.", session="friday", at=day(9)) != lisbon
    assert "was said again since" in refused(past, run.id)


def test_a_field_that_somebody_changed_past_all_runs_stands_in_the_way(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.")
    with past.run(at=day(8)) as run:
        run.set(lisbon, "promoted", status="active")
    with past.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.memories SET status = 'episode'"))
    assert "is episode, and not what the run left there (active)" in refused(past, run.id)


def test_a_run_that_cannot_be_undone_says_why(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.")
    with past.run(at=day(8)) as run:
        run.set(lisbon, "promoted", status="active")
    for tenant, number in (("acme", run.id), ("default", 999)):
        with pytest.raises(UnknownName, match=f"has no run {number}"):
            undo(past.engine, tenant, number, by="priya", now=NOW)
    report = take_back(past, run.id)
    assert f"undone already, by run {report.run}" in refused(past, run.id)
    with past.run(at=day(8)) as idle:
        pass
    assert "it changed no memory, question or note" in refused(past, idle.id)
    with past.run(at=day(8)) as next_run:
        pass
    assert next_run.id == idle.id + 1, "a refused undo uses up no number"
    with past.run(at=day(8)) as under_way:
        pass
    with past.engine.begin() as connection:
        connection.execute(text(f"UPDATE slowwave.maintenance_runs SET status = 'running' WHERE id = {under_way.id}"))
    assert "still running" in refused(past, under_way.id)


def test_an_engine_that_commits_each_statement_changes_nothing_of_that(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as run:
        run.set(home, "archived", status="archived", archive_reason="stale")
        run.set(lisbon, "promoted", status="active")
    past.say("Maya's home is Lisbon.", session="sunday", at=day(9))
    before = state(past.engine)
    with pytest.raises(CannotUndo):
        undo(past.engine.execution_options(isolation_level="AUTOCOMMIT"), "default", run.id, by="priya", now=NOW)
    assert state(past.engine) == before


def test_two_people_who_undo_one_run_at_once_undo_it_once(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    before = state(past.engine)
    with past.run(at=day(8)) as run:
        run.merge(home, lisbon)
    start = threading.Barrier(2)

    def try_it(_: int) -> str:
        start.wait(10)
        try:
            return take_back(past, run.id).summary
        except CannotUndo as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(try_it, range(2)))
    assert answers[0] == f"run {run.id} undone: 1 memory as before"
    assert "was undone already" in answers[1]
    assert state(past.engine) == before
    assert rows(past, "SELECT count(*) FROM slowwave.maintenance_runs WHERE kind = 'undo'") == [(1,)]


def test_a_pass_does_not_look_again_at_what_was_undone(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as run:
        run.merge(home, lisbon)
    take_back(past, run.id)
    assert [past.row(memory)["checked_at"] for memory in (lisbon, home)] == [NOW, NOW]


@pytest.fixture
def lost(past: Past) -> tuple[UUID, UUID]:
    return past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")


def test_mistake_25_a_pass_that_dies_in_the_middle_leaves_nothing_half_done(
    past: Past, lost: tuple[UUID, UUID]
) -> None:
    before = state(past.engine)

    def die() -> None:
        with past.run(at=day(8)) as run:
            run.merge(lost[1], lost[0])
            own = run.connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            rows(past, f"SELECT pg_terminate_backend({own})")
            run.set(lost[0], "promoted", status="active")

    with pytest.raises(OperationalError):
        die()
    assert state(past.engine) == before
    assert rows(past, "SELECT count(*) FROM slowwave.maintenance_runs") == [(0,)]
    assert rows(past, "SELECT count(*) FROM slowwave.memory_changes WHERE run_id IS NOT NULL") == [(0,)]


def test_mistake_25_an_undo_that_dies_in_the_middle_leaves_the_run_as_it_was(
    past: Past, lost: tuple[UUID, UUID]
) -> None:
    with past.run(at=day(8)) as run:
        run.merge(lost[1], lost[0])
        run.set(lost[0], "promoted", status="active")
    before = state(past.engine)
    with past.engine.begin() as connection:
        # The undo is refused its last write: by then it has put everything back.
        connection.execute(
            text("ALTER TABLE slowwave.maintenance_runs ADD CONSTRAINT no_undo CHECK (status <> 'undone') NOT VALID")
        )
    with pytest.raises(CannotUndo, match="no_undo"):
        take_back(past, run.id)
    assert state(past.engine) == before
    assert rows(past, "SELECT kind FROM slowwave.maintenance_runs") == [("light",)]


def test_mistake_26_a_snapshot_that_is_stale_is_not_written_back(past: Past) -> None:
    lisbon = past.say("Maya lives in Lisbon.")
    revision = past.row(lisbon)["revision"]
    with past.run(at=day(8)) as run:
        run.set(lisbon, "promoted", status="active")
    with past.run(at=day(9)) as late, pytest.raises(Stale, match="changed after it was read"):
        change_memory(late.ledger, lisbon, revision, {"status": "archived"}, action="archived", reason="too late")
    assert past.row(lisbon)["status"] == "active"
    with past.engine.begin() as connection, pytest.raises(ValueError, match="fields must be among"):
        change_memory(
            Ledger(connection, Author(run.id), day(9)), uuid4(), 0, {"confidence": 1.0}, action="edited", reason=""
        )
