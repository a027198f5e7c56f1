"""What a person does to one memory: a run that can be undone (I6), about what they saw (mistake 26)."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine

from slowwave.errors import InvalidMessage
from slowwave_server.services.corrections import CannotCorrect, Correction, correct, withdraw
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.review.cases import conflict_case, item_case, revisions
from slowwave_server.services.review.decision import Decision, Kind
from slowwave_server.services.review.decisions import decide_cases
from slowwave_server.services.undo.undo import undo
from tests.support.installation import NOW
from tests.support.reviewing import Dispute
from tests.support.roles import deployed

pytestmark = pytest.mark.servers

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine)


def say(dispute: Dispute, memory: UUID, words: str, revision: int | None = None, tenant: str = "default") -> Correction:
    return correct(dispute.engine, tenant, memory, words, revision=revision, by="Priya", now=LATER)


def archive(dispute: Dispute, memory: UUID, revision: int | None = None) -> Correction:
    return withdraw(dispute.engine, "default", memory, revision=revision, by="Priya", now=LATER)


def test_i6_other_words_take_a_memorys_place_and_undo_brings_it_back(dispute: Dispute) -> None:
    typo = dispute.memory("Maya works at Acmee.", importance=0.4)
    before = dispute.dump()
    done = say(dispute, typo, "Maya  works at\nAcme.", 0)
    new, old = dispute.row(done.memory), dispute.row(typo)
    assert (new.content, new.trust, new.importance, new.valid_from) == (
        "Maya works at Acme.",
        "hand",
        0.4,
        old.valid_from,
    )
    assert (old.status, old.archive_reason, old.superseded_by) == ("archived", "edited by hand", done.memory)
    made_by = dispute.sql("SELECT DISTINCT made_by FROM slowwave.memory_changes WHERE run_id = :run", run=done.run)
    assert [row.made_by for row in made_by] == ["Priya"]
    undo(dispute.engine, "default", done.run, by="Priya", now=LATER)
    assert dispute.dump()[0] == before[0]


def test_other_words_that_differ_in_form_alone_stay_the_same_memory(dispute: Dispute) -> None:
    shouted = dispute.memory("MAYA PLAYS THE CELLO")
    assert say(dispute, shouted, "Maya plays the cello.").memory == shouted
    assert dispute.row(shouted).content == "Maya plays the cello."


def test_what_is_archived_by_hand_contradicts_nothing_any_more(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    done = archive(dispute, globex, 0)
    assert dispute.status(globex) == ("archived", "removed by hand")
    assert dispute.state(conflict)[0] == "resolved"
    undo(dispute.engine, "default", done.run, by="Priya", now=LATER)
    assert dispute.status(globex) == ("inbox", None)
    assert (dispute.state(conflict)[0], dispute.item(item).state) == ("open", "open")


def test_mistake_26_what_changed_since_it_was_looked_at_is_left_alone(dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    dispute.sql("UPDATE slowwave.memories SET revision = 1, status = 'active' WHERE id = :id", id=memory)
    for change in (lambda: say(dispute, memory, "Maya lives in Bergen.", 0), lambda: archive(dispute, memory, 0)):
        with pytest.raises(CannotCorrect, match="has changed since you read it"):
            change()
    assert (dispute.row(memory).content, dispute.status(memory)) == ("Maya lives in Oslo.", ("active", None))
    assert dispute.sql("SELECT FROM slowwave.maintenance_runs") == []


def test_mistake_26_a_decision_is_about_the_memories_that_were_seen(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    with dispute.engine.connect() as connection:
        seen = revisions(conflict_case(connection, dispute.scope, conflict))
        assert revisions(item_case(connection, dispute.scope, item)) == seen == {acme: 0, globex: 0}
    dispute.sql("UPDATE slowwave.memories SET revision = 1 WHERE id = :id", id=acme)
    stale = Decision("keep", acme, seen)
    cases: tuple[tuple[Kind, int], ...] = (("conflict", conflict), ("item", item))
    for kind, number in cases:
        report = decide_cases(dispute.engine, "default", kind, [number], stale, by="Priya", now=LATER)
        assert [result.outcome for result in report.results] == ["refused"]
        assert "has changed since you read it" in report.results[0].text
    assert dispute.state(conflict)[0] == "open"
    fresh = Decision("keep", acme, seen | {acme: 1})
    report = decide_cases(dispute.engine, "default", "conflict", [conflict], fresh, by="Priya", now=LATER)
    assert report.results[0].outcome == "decided"


def test_of_a_conflict_neither_may_hold_and_that_can_be_undone(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    report = decide_cases(dispute.engine, "default", "conflict", [conflict], Decision("neither"), by="Priya", now=LATER)
    assert dispute.status(acme) == dispute.status(globex) == ("archived", "rejected")
    assert (dispute.state(conflict)[0], dispute.item(item).state) == ("resolved", "rejected")
    assert report.run is not None
    undo(dispute.engine, "default", report.run, by="Priya", now=LATER)
    assert dispute.status(acme) == dispute.status(globex) == ("inbox", None)
    assert (dispute.state(conflict)[0], dispute.item(item).state) == ("open", "open")


def test_what_cannot_be_corrected_is_said_in_a_sentence(dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    with pytest.raises(InvalidMessage, match="say what"):
        say(dispute, memory, " \n ")
    with pytest.raises(InvalidMessage, match="at most 100,000"):
        say(dispute, memory, "o" * 100_001)
    with pytest.raises(CannotCorrect, match="says just that"):
        say(dispute, memory, "Maya lives in Oslo.")
    dispute.sql("UPDATE slowwave.memories SET valid_to = :now WHERE id = :id", now=NOW, id=memory)
    with pytest.raises(CannotCorrect, match="holds no more"):
        say(dispute, memory, "Maya lives in Bergen.")
    archived = dispute.memory("Maya has a dog.", status="archived", archive_reason="expired")
    with pytest.raises(CannotCorrect, match="is archived"):
        archive(dispute, archived)


def test_i8_a_memory_of_another_tenant_is_not_there(dispute: Dispute) -> None:
    memory = dispute.memory("Maya lives in Oslo.")
    with pytest.raises(UnknownName):
        say(dispute, memory, "Maya lives in Bergen.", tenant="acme")
    with pytest.raises(UnknownName):
        say(dispute, uuid4(), "Maya lives in Bergen.")
    assert dispute.row(memory).revision == 0


def test_i8_the_consoles_role_may_correct_within_its_tenant(engine: Engine, database_url: str) -> None:
    dispute, other = Dispute(engine, tenant="acme"), Dispute(engine, tenant="globex")
    mine, theirs = dispute.memory("Maya works at Acmee."), other.memory("Maya works at Acmee.")
    with deployed(database_url) as deployment:
        desk = deployment.engine("acme desk")
        done = correct(desk, "acme", mine, "Maya works at Acme.", revision=0, by="Priya", now=LATER)
        assert dispute.row(done.memory).trust == "hand"
        gone = withdraw(desk, "acme", done.memory, revision=None, by="Priya", now=LATER)
        assert dispute.status(done.memory) == ("archived", "removed by hand")
        with pytest.raises(UnknownName):
            withdraw(desk, "globex", theirs, revision=None, by="Priya", now=LATER)
    assert other.status(theirs) == ("inbox", None)
    assert gone.memory == done.memory


def test_i6_another_type_is_a_correction_that_undo_takes_back(dispute: Dispute) -> None:
    memory = dispute.memory("Maya prefers tea.", type="fact")
    before = dispute.dump()
    done = correct(
        dispute.engine,
        "default",
        memory,
        None,
        type="preference",
        revision=0,
        reason="a taste",
        by="key:desk",
        now=LATER,
    )
    kind = dispute.sql("SELECT type, content FROM slowwave.memories WHERE id = :id", id=done.memory)[0]
    assert tuple(kind) == ("preference", "Maya prefers tea.")
    run = dispute.sql("SELECT summary, started_by FROM slowwave.maintenance_runs WHERE id = :run", run=done.run)[0]
    assert tuple(run) == ("a memory of another type: a taste", "key:desk")
    with pytest.raises(InvalidMessage, match="give content or type"):
        correct(dispute.engine, "default", memory, None, revision=None, by="Priya", now=LATER)
    undo(dispute.engine, "default", done.run, by="Priya", now=LATER)
    assert dispute.dump()[0] == before[0]
