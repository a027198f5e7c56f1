"""Decisions of people on a real Postgres: what they do, once, as runs that can be undone (mistakes 22, 41; I6, I8)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from slowwave_server.models.engine import make_engine
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import DecisionReport, decide_cases, expire_due
from slowwave_server.services.undo.undo import undo
from tests.support.installation import NOW, ago
from tests.support.processes import wait_until
from tests.support.reviewing import DAY, Dispute

pytestmark = pytest.mark.servers

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine)


def decide(dispute: Dispute, item: int, kind: Any, **more: Any) -> DecisionReport:
    decision = Decision(kind, more.pop("memory", None))
    return decide_cases(dispute.engine, "default", "item", [item], decision, by="Priya", now=LATER, **more)


def resolve(dispute: Dispute, conflict: int, keep: Any) -> DecisionReport:
    return decide_cases(
        dispute.engine, "default", "conflict", [conflict], Decision("keep", keep), by="Priya", now=LATER
    )


def test_accepting_a_conflict_lets_the_later_statement_replace_the_earlier(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    report = decide(dispute, item, "accept")
    assert [result.outcome for result in report.results] == ["decided"]
    old = dispute.row(acme)
    assert (old.status, old.superseded_by, old.valid_to) == ("inbox", globex, ago(2 * DAY))
    assert dispute.links("supersedes") == {(globex, acme)}
    assert dispute.state(conflict)[0] == "resolved"
    assert (dispute.item(item).state, dispute.item(item).decided_by) == ("accepted", "Priya")
    run = dispute.one("SELECT * FROM slowwave.maintenance_runs WHERE id = :id", id=report.run)
    assert (run.kind, run.status, run.started_by, run.scope_id) == ("review", "completed", "Priya", dispute.scope)
    assert {change.action for change in report.changes} == {"superseded", "decided"}


def test_keeping_the_earlier_statement_rejects_the_later_for_good(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    resolve(dispute, conflict, acme)
    assert dispute.status(globex) == ("archived", "rejected")
    assert dispute.status(acme) == ("inbox", None)
    assert dispute.item(item).state == "accepted"
    row = dispute.row(globex)
    again = dispute.one(
        "SELECT * FROM slowwave.store_memory(:scope, :session, NULL, :content, :hash, 'fact', 'inbox', 0.9, 0.9,"
        " 'user', '{}', :now, ARRAY[9::bigint], 'said again', :now)",
        scope=dispute.scope,
        session=dispute.session,
        content=row.content,
        hash=row.content_hash,
        now=LATER,
    )
    assert (again.id, again.is_new) == (globex, False)
    assert dispute.status(globex) == ("archived", "rejected")


def test_rejecting_a_conflict_lets_both_hold(dispute: Dispute) -> None:
    jazz, folk = dispute.memory("Maya likes jazz."), dispute.memory("Maya likes folk.")
    conflict, item = dispute.conflict(folk, jazz)
    decide(dispute, item, "reject")
    assert dispute.state(conflict) == ("dismissed", "both hold")
    assert dispute.item(item).state == "rejected"
    assert dispute.status(jazz) == dispute.status(folk) == ("inbox", None)


def test_merging_a_conflict_keeps_the_sources_of_both(dispute: Dispute) -> None:
    one, other = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Acme employs Maya.", days=2)
    conflict, item = dispute.conflict(other, one)
    decide(dispute, item, "merge", memory=one)
    assert dispute.row(other).merged_into == one
    assert dispute.status(other) == ("archived", "merged")
    assert dispute.links("merged_into") == {(other, one)}
    seqs = dispute.sql("SELECT seq FROM slowwave.memory_sources WHERE memory_id = :m ORDER BY 1", m=one)
    assert [row.seq for row in seqs] == [1, 2]
    assert dispute.row(one).valid_from == ago(9 * DAY)
    assert dispute.state(conflict)[0] == "resolved"
    assert dispute.item(item).state == "merged"


def test_an_accepted_claim_goes_back_to_where_it_was(dispute: Dispute) -> None:
    said = dispute.memory("Maya eats fish.", days=9)
    claim = dispute.memory("Maya is a vegan.", trust="assistant", status="episode", days=2)
    conflict, item = dispute.in_review(claim, said)
    assert dispute.status(claim) == ("review", None)
    decide(dispute, item, "accept")
    assert dispute.status(claim) == ("episode", None)
    assert dispute.status(said) == ("inbox", None)
    assert dispute.item(item).state == "accepted"
    assert dispute.state(conflict)[0] == "dismissed"


def test_a_rejected_claim_is_archived_and_contradicts_nothing_any_more(dispute: Dispute) -> None:
    said, also = dispute.memory("Maya eats fish."), dispute.memory("Maya loves sushi.")
    claim = dispute.memory("Maya is a vegan.", trust="assistant", days=2)
    first, item = dispute.in_review(claim, said)
    second, about_pair = dispute.conflict(claim, also)
    decide(dispute, item, "reject")
    assert dispute.status(claim) == ("archived", "rejected")
    assert dispute.state(first)[0] == dispute.state(second)[0] == "resolved"
    assert dispute.sql("SELECT FROM slowwave.review_items WHERE state = 'open'") == []
    assert dispute.item(about_pair).decided_at == LATER


def test_a_claim_that_is_kept_in_one_conflict_is_asked_about_in_the_other(dispute: Dispute) -> None:
    said, also = dispute.memory("Maya eats fish.", days=9), dispute.memory("Maya loves sushi.", days=9)
    claim = dispute.memory("Maya is a vegan.", trust="assistant", days=2)
    first, item = dispute.in_review(claim, said)
    second = dispute.register(claim, also)
    resolve(dispute, first, claim)
    assert dispute.status(claim) == ("inbox", None)
    assert dispute.row(said).superseded_by == claim
    assert dispute.item(item).state == "accepted"
    (asked,) = dispute.sql("SELECT * FROM slowwave.review_items WHERE state = 'open'")
    assert (asked.conflict_id, asked.tier) == (second, "low")


def test_a_claim_may_be_merged_into_what_a_person_said(dispute: Dispute) -> None:
    said, other = dispute.memory("Maya eats no meat.", days=9), dispute.memory("Maya eats vegetables.", days=9)
    claim = dispute.memory("Maya is a vegetarian.", trust="assistant", days=2)
    _, item = dispute.in_review(claim, said)
    decide(dispute, item, "merge", memory=other)
    assert dispute.row(claim).merged_into == other
    assert dispute.item(item).state == "merged"


def test_a_conflict_is_decided_between_the_survivors_of_its_sides(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    twin = dispute.memory("Acme is where Maya works.", days=12)
    first, _ = dispute.conflict(globex, acme)
    between, twins = dispute.conflict(acme, twin)
    decide(dispute, twins, "merge", memory=twin)
    assert dispute.state(between)[0] == "resolved"
    resolve(dispute, first, globex)
    assert dispute.row(twin).superseded_by == globex
    assert dispute.status(acme) == ("archived", "merged")


def test_what_cannot_be_decided_so_is_refused_and_stays_open(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    conflict, item = dispute.conflict(globex, acme)
    before = dispute.dump()
    for report in (
        resolve(dispute, conflict, uuid4()),
        decide(dispute, item, "keep"),
        decide(dispute, 10**6, "accept"),
    ):
        assert report.run is None
        assert report.results[0].outcome in {"refused", "unknown"}
    assert dispute.dump() == before
    assert dispute.sql("SELECT FROM slowwave.maintenance_runs WHERE kind = 'review'") == []


def test_i8_nobody_decides_for_another_tenant(dispute: Dispute) -> None:
    other = Dispute(dispute.engine, tenant="other")
    conflict, item = other.conflict(other.memory("Jonas sings."), other.memory("Jonas does not sing."))
    mine = dispute.memory("Maya sings.", status="review")
    _, my_item = dispute.in_review(dispute.memory("Maya hums."), mine)
    before = dispute.dump()
    assert decide(dispute, item, "accept").results[0].outcome == "unknown"
    assert resolve(dispute, conflict, None).results[0].outcome == "unknown"
    theirs = other.memory("Maya whistles.")
    assert decide(dispute, my_item, "merge", memory=theirs).results[0].outcome == "refused"
    assert dispute.dump()[1:4] == before[1:4]


def test_many_are_decided_in_one_run_and_what_was_decided_before_is_named(dispute: Dispute) -> None:
    asked = []
    for number in range(3):
        a, b = dispute.memory(f"Room {number} is blue."), dispute.memory(f"Room {number} is red.")
        asked.append(dispute.conflict(a, b)[1])
    decide(dispute, asked[1], "accept")
    report = decide_cases(dispute.engine, "default", "item", [*asked, 999], Decision("reject"), by="Jonas", now=LATER)
    assert [result.outcome for result in report.results] == ["decided", "decided before", "decided", "unknown"]
    assert "accepted already by Priya" in report.results[1].text
    run = dispute.one("SELECT stats FROM slowwave.maintenance_runs WHERE id = :id", id=report.run)
    assert (run.stats["decided"], run.stats["left"]) == (2, 2)
    assert dispute.item(asked[1]).state == "accepted"


def test_a_preview_shows_every_change_and_makes_none(dispute: Dispute) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    _, item = dispute.conflict(globex, acme)
    before = dispute.dump()
    tried = decide(dispute, item, "accept", dry_run=True)
    assert tried.run is None
    assert dispute.dump() == before
    made = decide(dispute, item, "accept")
    assert [(c.action, c.memory) for c in tried.changes] == [(c.action, c.memory) for c in made.changes]


@pytest.mark.parametrize("kind", ["accept", "reject", "merge", "lapse"])
@pytest.mark.parametrize("about", ["conflict", "claim"])
def test_i6_every_decision_can_be_undone(dispute: Dispute, about: str, kind: Any) -> None:
    said = dispute.memory("Maya eats fish.", days=9)
    claim = dispute.memory("Maya is a vegan.", trust="assistant", days=2)
    _, item = (dispute.conflict if about == "conflict" else dispute.in_review)(claim, said)
    before = dispute.dump()
    report = decide(dispute, item, kind)
    assert report.run is not None
    assert dispute.dump() != before
    undo(dispute.engine, "default", report.run, by="Priya", now=LATER)
    assert dispute.dump() == before
    assert decide(dispute, item, kind).decided == 1


def test_mistake_41_what_nobody_answers_lapses_by_rule(dispute: Dispute) -> None:
    said = dispute.memory("Maya eats fish.", days=9)
    claim = dispute.memory("Maya is a vegan.", trust="assistant", days=2)
    _, about_claim = dispute.in_review(claim, said, tier="low")
    a, b = dispute.memory("Maya works at Acme."), dispute.memory("Maya works at Globex.")
    conflict, about_pair = dispute.conflict(a, b, tier="high")

    def lapse(days: float) -> int:
        return expire_due(dispute.engine, NOW + timedelta(days=days), "worker")

    assert lapse(13.9) == 0
    assert dispute.status(claim) == ("review", None)
    assert lapse(14) == 1
    assert dispute.status(claim) == ("archived", "review expired")
    assert dispute.item(about_claim).state == "expired"
    assert lapse(89) == 0
    assert lapse(91) == 1
    assert dispute.item(about_pair).state == "expired"
    assert dispute.state(conflict) == ("open", None)
    assert dispute.status(a) == dispute.status(b) == ("inbox", None)
    assert lapse(1000) == 0
    assert dispute.register(a, b) is None
    assert dispute.sql("SELECT FROM slowwave.review_items WHERE state = 'open'") == []
    runs = dispute.sql("SELECT * FROM slowwave.maintenance_runs WHERE kind = 'review' ORDER BY id")
    assert [(run.summary, run.started_by) for run in runs] == [("1 question lapsed unanswered", "worker")] * 2


def test_mistake_41_a_lapse_is_bounded_takes_the_oldest_first_and_keeps_tenants_apart(dispute: Dispute) -> None:
    other = Dispute(dispute.engine, tenant="other")
    items = []
    for days, place in enumerate([dispute, other, dispute, other]):
        pair = place.memory(f"Room {days} is blue."), place.memory(f"Room {days} is red.")
        items.append(place.conflict(*pair, tier="low", now=NOW - timedelta(days=days))[1])
    assert expire_due(dispute.engine, NOW + timedelta(days=20), "worker", limit=3) == 3
    assert [dispute.item(item).state for item in items] == ["open", "expired", "expired", "expired"]
    runs = dispute.sql("SELECT scope_id FROM slowwave.maintenance_runs WHERE kind = 'review'")
    assert {run.scope_id for run in runs} == {dispute.scope, other.scope}


def test_of_two_people_at_one_question_one_wins_and_the_other_is_told(dispute: Dispute, database_url: str) -> None:
    for number in range(5):
        a, b = dispute.memory(f"Room {number} is blue."), dispute.memory(f"Room {number} is red.")
        conflict, item = dispute.conflict(a, b)
        start = Barrier(4)

        def answer(who: int, item: int = item, conflict: int = conflict, start: Barrier = start) -> DecisionReport:
            engine = make_engine(database_url)
            start.wait()
            try:
                if who % 2:
                    return decide_cases(engine, "default", "item", [item], Decision("reject"), by=f"p{who}", now=LATER)
                return decide_cases(
                    engine, "default", "conflict", [conflict], Decision("accept"), by=f"p{who}", now=LATER
                )
            finally:
                engine.dispose()

        with ThreadPoolExecutor(4) as pool:
            reports = list(pool.map(answer, range(4)))
        outcomes = sorted(report.results[0].outcome for report in reports)
        assert outcomes == ["decided", "decided before", "decided before", "decided before"]
        winner = next(who for who, report in enumerate(reports) if report.decided)
        told = {report.results[0].text for report in reports if not report.decided}
        assert all(f"already by p{winner}" in sentence for sentence in told)
        assert dispute.item(item).decided_by == f"p{winner}"


def test_mistake_26_a_decision_waits_for_a_change_under_way_and_is_made_on_what_it_left(
    dispute: Dispute, database_url: str
) -> None:
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    _, item = dispute.conflict(globex, acme)
    with dispute.engine.connect() as holder, ThreadPoolExecutor(1) as pool:
        holder.execute(
            text("UPDATE slowwave.memories SET revision = revision + 1, status = 'active' WHERE id = :id"), {"id": acme}
        )
        decision = pool.submit(decide, dispute, item, "accept")
        blocked = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'"
        wait_until(lambda: bool(dispute.sql(blocked)), 30, "a decision that waits for the row")
        holder.commit()
        assert decision.result(30).decided == 1
    row = dispute.row(acme)
    assert (row.status, row.superseded_by) == ("active", globex)
