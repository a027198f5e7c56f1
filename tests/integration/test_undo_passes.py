"""What real passes decide, undone, restored and decided again: a person's no holds, nothing else is frozen (I6)."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from slowwave.settings import Consolidation, Curation
from slowwave_server.services.curation.curate import CurationRules, curate
from slowwave_server.services.undo.report import UndoReport
from slowwave_server.services.undo.undo import undo
from tests.support.consolidating import Hearer
from tests.support.passing import state

pytestmark = pytest.mark.servers


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    return Hearer(engine)


def undone(hearer: Hearer, run: int | None, *, no_repeat: bool = False) -> UndoReport:
    assert run is not None
    return undo(hearer.engine, "default", run, by="priya", now=hearer.now, no_repeat=no_repeat)


def decided(hearer: Hearer) -> tuple[int, int, int]:
    """How many memories are merged and superseded, and how many conflicts there are."""
    (row,) = hearer.sql(
        "SELECT count(*) FILTER (WHERE merged_into IS NOT NULL) AS merged,"
        " count(*) FILTER (WHERE superseded_by IS NOT NULL) AS ended,"
        " (SELECT count(*) FROM slowwave.memory_conflicts WHERE status = 'open') AS conflicts FROM slowwave.memories"
    )
    return row.merged, row.ended, row.conflicts


def told(hearer: Hearer) -> None:
    hearer.hear("Maya lives in Rome.", days_ago=60)
    hearer.hear("Maya lives in Lisbon.", days_ago=40, session="b")
    hearer.hear("The user prefers dark mode.", session="c")
    hearer.hear("The user prefers the dark mode.", session="d")
    hearer.hear("Maya likes sushi.", session="e", days_ago=35)
    hearer.hear("Maya does not like sushi.", session="f", days_ago=35)


def test_a_deep_pass_finds_anew_what_was_undone(hearer: Hearer) -> None:
    told(hearer)
    first = hearer.run("light")
    after, said = decided(hearer), hearer.standing()
    assert min(after) > 0
    undone(hearer, first.run)
    assert decided(hearer) == (0, 0, 0)
    assert hearer.run("light").run is None, "light passes wait until something new is said"
    hearer.run("deep")
    assert decided(hearer) == after
    assert hearer.standing() == said


def test_a_deep_pass_judges_restored_active_memories(hearer: Hearer) -> None:
    told(hearer)
    hearer.sql("UPDATE slowwave.memories SET status = 'active'")
    first = hearer.run("light")
    after = decided(hearer)
    undone(hearer, first.run)
    hearer.run("deep")
    assert decided(hearer) == after


def test_no_pass_repeats_what_a_person_forbade(hearer: Hearer) -> None:
    told(hearer)
    first = hearer.run("light")
    undone(hearer, first.run, no_repeat=True)
    before = hearer.standing()
    hearer.hear("The user prefers the dark mode.", session="g", days_ago=1)
    hearer.sql("UPDATE slowwave.memories SET recorded_at = recorded_at - interval '90 days'")
    hearer.run("light")
    hearer.run("deep")
    assert decided(hearer) == (0, 0, 0)
    assert {row[0] for row in before} == {row[0] for row in hearer.standing()}


def test_undoing_that_undo_allows_the_repeat(hearer: Hearer) -> None:
    told(hearer)
    first = hearer.run("light")
    after = decided(hearer)
    forbidden = undone(hearer, first.run, no_repeat=True)
    undone(hearer, forbidden.run)
    assert decided(hearer) == after
    undone(hearer, first.run)
    hearer.run("deep")
    assert decided(hearer) == after


def test_new_evidence_lets_a_light_pass_decide_again(hearer: Hearer) -> None:
    told(hearer)
    first = hearer.run("light")
    undone(hearer, first.run)
    hearer.hear("The user prefers the dark mode.", session="g", days_ago=1)
    hearer.hear("The user prefers dark mode.", session="h", days_ago=1)
    hearer.sql("UPDATE slowwave.memories SET recorded_at = recorded_at - interval '90 days'")
    hearer.run("light")
    assert decided(hearer) == (1, 0, 0)


@pytest.mark.parametrize("no_repeat", [False, True])
def test_undone_curation_waits_for_a_deep_pass(hearer: Hearer, *, no_repeat: bool) -> None:
    hearer.hear("Maya is allergic to peanuts.", importance=0.9, confidence=0.7)
    rules = CurationRules(Curation(enabled=True), Consolidation(promote_confidence=1.0))

    def curated() -> int:
        return curate(hearer.engine, hearer.scope_id, rules=rules, clock=lambda: hearer.now).curated

    hearer.settings = rules.consolidation
    hearer.run("light")
    run = curate(hearer.engine, hearer.scope_id, rules=rules, clock=lambda: hearer.now)
    assert run.curated == 1
    undone(hearer, run.run, no_repeat=no_repeat)
    assert curated() == 0
    hearer.now += timedelta(days=1)
    hearer.run("deep")
    assert curated() == (0 if no_repeat else 1)


def test_an_undone_pass_is_restored_row_by_row(hearer: Hearer) -> None:
    told(hearer)
    first = hearer.run("light")
    after = state(hearer.engine)
    undone(hearer, undone(hearer, first.run).run)
    assert state(hearer.engine) == after
