"""Passes and people take turns at the same memories: what somebody decided stays, and nothing waits unasked."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from slowwave import AsyncMemory
from slowwave.recall import Hit
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import decide_cases, expire_due
from slowwave_server.services.undo.undo import undo
from slowwave_server.workers.cli.main import app
from tests.support.capturing import memory_on, settings_of
from tests.support.consolidating import Hearer
from tests.support.emptying import emptying
from tests.support.installation import NOW
from tests.support.reviewing import DAY, Dispute
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

UNASKED = (
    "SELECT m.id FROM slowwave.memories m WHERE m.status = 'review' AND NOT EXISTS ("
    " SELECT FROM slowwave.review_items i WHERE i.memory_id = m.id AND i.state = 'open')"
)
POINTLESS = (
    "SELECT i.id FROM slowwave.review_items i"
    " LEFT JOIN slowwave.memories m ON m.id = i.memory_id LEFT JOIN slowwave.memory_conflicts c ON c.id = i.conflict_id"
    " WHERE i.state = 'open' AND (m.status <> 'review' OR c.status <> 'open')"
)


@pytest.mark.parametrize("kind", ["accept", "reject", "merge"])
def test_what_a_person_decided_the_next_pass_leaves_alone(engine: Engine, kind: Any) -> None:
    hearer = Hearer(engine)
    said = hearer.hear("Maya works at Acme.", days_ago=30, session="monday")
    claim = hearer.hear("Maya works at Globex.", days_ago=20, session="friday", trust="assistant")
    hearer.run()
    assert hearer.memory(claim).status == "review"
    (item,) = hearer.sql("SELECT id FROM slowwave.review_items WHERE state = 'open'")
    report = decide_cases(engine, "default", "item", [item.id], Decision(kind), by="Priya", now=hearer.now)
    assert report.decided == 1
    decided = [hearer.memory(memory) for memory in (said, claim)]
    hearer.now += timedelta(days=1)
    for pass_kind in ("light", "deep"):
        hearer.run(pass_kind)
    fields = ("status", "archive_reason", "merged_into", "valid_to", "superseded_by")
    for before, memory in zip(decided, (said, claim), strict=True):
        after = hearer.memory(memory)
        if after.status != "active":  # a pass may promote what holds
            assert [getattr(after, name) for name in fields] == [getattr(before, name) for name in fields]
        assert after.status != "review"
    assert hearer.sql("SELECT FROM slowwave.review_items WHERE state = 'open'") == []


def test_what_waits_is_out_of_answers_unless_asked_for(
    engine: Engine, database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    hearer = Hearer(engine)
    said = hearer.hear("Maya works at Acme.", days_ago=30, session="monday")
    claim = hearer.hear("Maya works at Globex.", days_ago=20, session="friday", trust="assistant")
    hearer.run()
    with memory_on(database_url, valkey_url, tmp_path) as memory:
        assert [hit.id for hit in memory.search("maya", "Where does Maya work?")] == [str(said)]
        assert claim not in {hit.id for hit in memory.context("maya", query="Where does Maya work?").memories}
        asked = memory.search("maya", "Where does Maya work?", include_review=True)
        assert {(hit.id, hit.status) for hit in asked} == {(str(said), "inbox"), (str(claim), "review")}

    async def ask() -> list[Hit]:
        async with AsyncMemory(settings_of(database_url, valkey_url, tmp_path)) as face:
            return await face.search("maya", "Where does Maya work?", include_review=True)

    assert asyncio.run(ask()) == asked
    variables = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url}
    for options, found in (([], False), (["--include-review"], True)):
        shown = CliRunner().invoke(app, ["search", "maya", "Where does Maya work?", *options], env=variables)
        assert ("Globex" in shown.stdout) is found


steps = st.lists(
    st.tuples(
        st.sampled_from(["accept", "reject", "merge", "keep a", "keep b", "dismiss", "lapse"]), st.integers(0, 4)
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_mistake_41_whatever_is_decided_nothing_waits_unasked_and_all_of_it_can_be_undone(
    engine: Engine, chosen: list[tuple[str, int]]
) -> None:
    with engine.begin() as connection:  # what the last example left
        connection.exec_driver_sql(emptying("agents", "scopes", "maintenance_runs"))
    dispute = _tangle(engine)
    start, runs = _open(dispute), []
    dumps = [dispute.dump()]
    for what, which in chosen:
        run = _decide(dispute, what, which)
        if run is not None:
            runs.append(run)
            dumps.append(dispute.dump())
        assert dispute.sql(UNASKED) == []
        assert dispute.sql(POINTLESS) == []
    for run in reversed(runs):
        assert dispute.dump() == dumps.pop()
        undo(engine, dispute.tenant, run, by="Priya", now=NOW)
    assert dispute.dump() == dumps.pop()
    assert _open(dispute) == start


def _tangle(engine: Engine) -> Dispute:
    """Three statements of a person and two claims that contradict several of them."""
    dispute = Dispute(engine)
    fish, sushi, meat = (dispute.memory(f"Maya eats {what}.", days=9) for what in ("fish", "sushi", "no meat"))
    vegan = dispute.memory("Maya is a vegan.", trust="assistant", status="active", days=2)
    vegetarian = dispute.memory("Maya is a vegetarian.", trust="import", days=1)
    dispute.in_review(vegan, fish)
    dispute.register(vegan, sushi)
    dispute.in_review(vegetarian, fish)
    dispute.register(vegetarian, vegan)
    dispute.conflict(meat, sushi)
    return dispute


def _open(dispute: Dispute) -> list[Any]:
    return dispute.sql("SELECT id, state FROM slowwave.review_items ORDER BY id")


def _decide(dispute: Dispute, what: str, which: int) -> int | None:
    """Make one of the decisions about one of what is there; the number of its run, None where it couldn't be made."""
    engine, now = dispute.engine, NOW + timedelta(hours=1)
    if what == "lapse":
        if not expire_due(engine, NOW + timedelta(seconds=20 * DAY), "worker"):
            return None
        return int(dispute.one("SELECT max(id) AS id FROM slowwave.maintenance_runs WHERE kind = 'review'").id)
    if what in {"accept", "reject", "merge"}:
        items = dispute.sql("SELECT id FROM slowwave.review_items ORDER BY id")
        item = items[which % len(items)].id
        kind: Any = what
        return decide_cases(engine, dispute.tenant, "item", [item], Decision(kind), by="Priya", now=now).run
    conflicts = dispute.sql("SELECT * FROM slowwave.memory_conflicts ORDER BY id")
    conflict = conflicts[which % len(conflicts)]
    decision = {
        "keep a": Decision("keep", conflict.memory_id),
        "keep b": Decision("keep", conflict.conflicting_memory_id),
        "dismiss": Decision("reject"),
    }[what]
    return decide_cases(engine, dispute.tenant, "conflict", [conflict.id], decision, by="Priya", now=now).run
