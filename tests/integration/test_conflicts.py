"""Conflicts are registered once a pair, both sides stay, and nobody is asked twice (mistake 22, I6, I8)."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine

from slowwave_server.services.memories.changes import Author, Ledger
from slowwave_server.services.review.conflicts import open_review, register_conflict
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import decide_cases
from slowwave_server.services.runs.store import start_run
from tests.support.installation import NOW
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine)


def author_on(connection: Connection, dispute: Dispute) -> Author:
    return Author(start_run(connection, kind="light", now=NOW, lease_seconds=60, scope_id=dispute.scope).id, "worker")


def register(dispute: Dispute, newer: UUID, older: UUID, **more: Any) -> int | None:
    with dispute.engine.begin() as connection:
        return register_conflict(
            Ledger(connection, author_on(connection, dispute), NOW),
            more.pop("scope_id", dispute.scope),
            newer,
            older,
            reason="another database",
            evidence={"attribute": "database"},
            **more,
        )


def test_mistake_22_a_changed_value_is_a_conflict_and_both_stay_readable(dispute: Dispute) -> None:
    postgres = dispute.memory("Maya's project stores orders in PostgreSQL.", days=9)
    mysql = dispute.memory("Maya's project stores orders in MySQL.", days=1)
    before = [dispute.row(memory) for memory in (postgres, mysql)]
    conflict = register(dispute, mysql, postgres)
    assert conflict is not None
    assert dispute.state(conflict) == ("open", None)
    assert [dispute.row(memory) for memory in (postgres, mysql)] == before
    assert dispute.links("contradicts") == {(mysql, postgres)}
    noted = dispute.sql("SELECT memory_id, after FROM slowwave.memory_changes WHERE action = 'conflict' ORDER BY id")
    assert [(row.memory_id, row.after["conflict"], row.after["with"]) for row in noted] == [
        (mysql, conflict, str(postgres)),
        (postgres, conflict, str(mysql)),
    ]


def test_a_pair_is_registered_once_in_either_order(dispute: Dispute) -> None:
    a, b = dispute.memory("Maya works at Acme."), dispute.memory("Maya works at Globex.")
    assert register(dispute, a, b) is not None
    assert register(dispute, b, a) is register(dispute, a, b) is None
    assert dispute.links("contradicts") == {(a, b)}
    assert len(dispute.sql("SELECT FROM slowwave.memory_changes WHERE action = 'conflict'")) == 2


def test_a_supersession_resolves_its_conflict_and_a_later_one_says_so_anew(dispute: Dispute) -> None:
    a, b = dispute.memory("Maya works at Acme."), dispute.memory("Maya works at Globex.")
    conflict, item = dispute.conflict(a, b)
    assert register(dispute, a, b, resolution="a was said later") == conflict
    assert dispute.state(conflict) == ("resolved", "a was said later")
    assert dispute.item(item).state == "accepted"
    assert register(dispute, a, b, resolution="a was said later") is None
    assert register(dispute, b, a) is None
    assert register(dispute, b, a, resolution="b was said again") == conflict
    assert dispute.state(conflict) == ("resolved", "b was said again")


@pytest.mark.parametrize("kind", ["accept", "reject", "merge"])
def test_what_a_person_decided_no_pass_decides_again(dispute: Dispute, kind: Any) -> None:
    a, b = dispute.memory("Maya works at Acme."), dispute.memory("Maya works at Globex.")
    conflict, _ = dispute.conflict(a, b)
    decide_cases(dispute.engine, "default", "conflict", [conflict], Decision(kind), by="Priya", now=NOW)
    decided = dispute.state(conflict)
    assert register(dispute, a, b) is None
    assert register(dispute, b, a, resolution="b was said later") is None
    assert dispute.state(conflict) == decided
    with dispute.engine.begin() as connection:
        author = author_on(connection, dispute)
        asked = open_review(Ledger(connection, author, NOW), dispute.scope, conflict=conflict, why="again", tier="low")
    assert asked is None


def test_an_open_question_is_not_asked_twice(dispute: Dispute) -> None:
    a, b = dispute.memory("Maya works at Acme."), dispute.memory("Maya works at Globex.")
    conflict, item = dispute.conflict(a, b)
    with dispute.engine.begin() as connection:
        author = author_on(connection, dispute)
        about: list[dict[str, Any]] = [{"conflict": conflict}, {"memory": a}, {"memory": a}]
        asked = [
            open_review(Ledger(connection, author, NOW), dispute.scope, **each, why="again", tier="low")
            for each in about
        ]
    assert asked[0] == item
    assert asked[1] == asked[2] != item


def test_i8_a_conflict_never_joins_two_scopes(dispute: Dispute) -> None:
    other = Dispute(dispute.engine, tenant="other")
    mine, theirs = dispute.memory("Maya works at Acme."), other.memory("Maya works at Globex.")
    for newer, older in ((mine, theirs), (theirs, mine), (mine, mine)):
        with pytest.raises(ValueError, match=r"of this scope|itself"):
            register(dispute, newer, older)
    conflict, _ = other.conflict(other.memory("Jonas sings."), other.memory("Jonas does not sing."))
    with dispute.engine.begin() as connection:
        author = author_on(connection, dispute)
        wrong: list[dict[str, Any]] = [{"memory": theirs}, {"conflict": conflict}, {}]
        for about in wrong:
            with pytest.raises(ValueError, match=r"of this scope|one of the two"):
                open_review(Ledger(connection, author, NOW), dispute.scope, **about, why="x", tier="low")
    assert dispute.sql("SELECT FROM slowwave.memory_conflicts WHERE scope_id = :s", s=dispute.scope) == []
