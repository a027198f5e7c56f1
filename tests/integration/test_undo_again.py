"""An undo can be undone: every row is again what the undone run had left, or nothing changes (I6)."""

import pytest
from sqlalchemy import text

from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.reports.as_of import read_as_of
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.report import UndoReport
from slowwave_server.services.undo.undo import undo
from tests.support.flushing import Clock
from tests.support.passing import Past, day, state

pytestmark = pytest.mark.servers


def undone(past: Past, run: int, *, at: float = 30) -> UndoReport:
    return undo(past.engine, past.tenant, run, by="priya", now=day(at))


def refused(past: Past, run: int) -> str:
    before = state(past.engine)
    with pytest.raises(CannotUndo) as error:
        undone(past, run)
    assert state(past.engine) == before, "a refusal changes nothing"
    return str(error.value)


def rows(past: Past, query: str) -> list[tuple[object, ...]]:
    with past.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def everything(past: Past) -> int:
    """A run that does each thing that runs do; answers its number."""
    rome, lisbon = past.say("Maya lives in Rome."), past.say("Maya lives in Lisbon.", at=day(3))
    home = past.say("Maya's home is Lisbon.", session="friday", at=day(1), confidence=0.9)
    cats, dogs = past.say("Maya has two cats."), past.say("Maya has no pets.", session="friday")
    item, again = past.note("Maya plays the cello."), past.note("Maya has two cats.")
    with past.run("deep", at=day(7)) as earlier:
        earlier.merge(home, rome)
        asked = earlier.conflict(cats, rome)
        question = earlier.ask(conflict=asked)
    assert asked is not None
    assert question is not None
    with past.run("deep", at=day(8)) as run:
        run.unmerge(home)
        run.merge(home, lisbon)
        run.supersede(rome, lisbon, day(3))
        run.ask(conflict=run.conflict(dogs, cats))
        run.set(dogs, "review", status="review")
        run.ask(memory=dogs)
        run.settle(asked, cats)
        run.answer(question, cats)
        cello = run.keep(item, "Maya plays the cello.")
        run.set(cello, "promoted", status="active")
        run.repeat(again, cats)
        run.link(cello, cats)
        run.triple(cello, "Maya", "plays", "the cello")
        run.set(lisbon, "edited", content="Maya lives in Lisbon, Portugal.")
    return run.id


def test_undo_of_an_undo_restores_every_row(past: Past) -> None:
    run = everything(past)
    after = state(past.engine)
    first = undone(past, run)
    assert state(past.engine) != after
    second = undone(past, first.run)
    assert state(past.engine) == after
    assert (second.removed, second.conflicts, second.questions, second.reopened, second.decisions) == (1, 1, 2, 2, 2)
    assert f"run {first.run} undone, run {run} is in effect again" in second.summary
    assert rows(past, f"SELECT status, undone_by FROM slowwave.maintenance_runs WHERE id = {run}") == [
        ("completed", None)
    ]


def test_undo_goes_back_and_forth_any_number_of_times(past: Past) -> None:
    run = everything(past)
    after = state(past.engine)
    first = undone(past, run)
    before = state(past.engine)
    second = undone(past, first.run)
    third = undone(past, second.run)
    assert (third.undone, state(past.engine)) == (run, before)
    assert f"undone already, by run {third.run}" in refused(past, second.run)
    undone(past, third.run)
    assert state(past.engine) == after
    undone(past, run)
    assert state(past.engine) == before


def test_undo_of_an_undo_keeps_what_was_said_since(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as run:
        run.merge(home, lisbon)
    first = undone(past, run.id)
    past.say("Maya's home is Lisbon.", session="sunday", at=day(31))
    undone(past, first.run, at=32)
    own = f"SELECT count(*) FROM slowwave.memory_sources WHERE via IS NULL AND memory_id = '{home}'"
    assert rows(past, own) == [(2,)]
    assert rows(past, f"SELECT count(*) FROM slowwave.memory_sources WHERE via = '{home}'") == [(2,)]


def test_a_later_run_blocks_the_undo_of_an_undo(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as run:
        run.merge(home, lisbon)
    first = undone(past, run.id)
    with past.run(at=day(31)) as later:
        later.merge(home, lisbon)
    assert f"undo run {later.id} first" in refused(past, first.run)
    after = state(past.engine)
    undone(past, undone(past, later.id, at=32).run, at=33)
    assert state(past.engine) == after


def test_undos_of_two_runs_are_undone_newest_first(past: Past) -> None:
    lisbon, home = past.say("Maya lives in Lisbon."), past.say("Maya's home is Lisbon.", session="friday")
    with past.run(at=day(8)) as one:
        one.set(lisbon, "promoted", status="active")
    with past.run(at=day(9)) as two:
        two.merge(home, lisbon)
    after = state(past.engine)
    undo_two = undone(past, two.id, at=10)
    undo_one = undone(past, one.id, at=11)
    assert f"undo run {undo_one.run} first" in refused(past, undo_two.run)
    undone(past, undo_one.run, at=12)
    undone(past, undo_two.run, at=13)
    assert state(past.engine) == after


def test_a_removed_memory_that_was_said_since_blocks(past: Past) -> None:
    item = past.note("Maya plays the cello.")
    with past.run("working", at=day(8)) as run:
        run.keep(item, "Maya plays the cello.")
    first = undone(past, run.id)
    past.say("Maya plays the cello.", at=day(31))
    assert "was said again since" in refused(past, first.run)


def test_a_note_that_was_kept_again_blocks(past: Past) -> None:
    item = past.note("Maya plays the cello.")
    with past.run("working", at=day(8)) as run:
        run.keep(item, "Maya plays the cello.")
    first = undone(past, run.id)
    with past.run("working", at=day(31)) as later:
        later.keep(item, "Maya plays the cello")
    assert "can't be undone" in refused(past, first.run)


def test_i10_a_forget_deletes_what_an_undo_saved(past: Past) -> None:
    run = everything(past)
    past.say("Jonas has a dog.", session="saturday")
    first = undone(past, run)
    assert rows(past, "SELECT count(*) FROM slowwave.undone_rows WHERE row::text LIKE '%cello%'") != [(0,)]
    erase(past.engine, Target.of_session("default", past.agent, "saturday"), clock=Clock(), by="test", dry_run=False)
    assert rows(past, "SELECT count(*) FROM slowwave.undone_rows") == [(0,)]
    assert "a forget in the same scope deleted" in refused(past, first.run)


def test_memories_known_between_undo_and_redo_are_told(past: Past) -> None:
    item = past.note("Maya plays the cello.")
    with past.run("working", at=day(8)) as run:
        cello = run.keep(item, "Maya plays the cello.")
    first = undone(past, run.id, at=10)
    undone(past, first.run, at=12)

    def known(at: float) -> set[object]:
        with past.engine.connect() as connection:
            then = read_as_of(connection, past.scope_id, day(at))
        return {row["id"] for row in then.rows} if cello in then.touched else {cello}

    assert (known(9), known(11), known(13)) == ({cello}, set(), {cello})
