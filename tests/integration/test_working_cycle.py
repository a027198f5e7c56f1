"""The cycle of working memory on a real database: what is kept, what is dropped, what is left, and that it adds up."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from slowwave.settings import Consolidation
from slowwave_server.services.reports.unkept import Unkept, check_unkept, read_unkept
from slowwave_server.services.working.store import RETRY, due_scopes
from tests.support.remembering import Desk, open_desk

pytestmark = pytest.mark.servers

KEY = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


@pytest.fixture
def desk(engine: Engine, database_url: str, valkey_url: str, tmp_path: Path) -> Iterator[Desk]:
    with open_desk(engine, database_url, valkey_url, tmp_path / "spool") as desk:
        yield desk


def test_important_and_marked_notes_become_memories_and_others_wait(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.", importance=0.4)
    desk.note("Jonas rows on Sundays.", importance=0.1, marked=True)
    desk.note("The build was slow today.", importance=0.39)
    report = desk.cycle()
    assert (report.gathered, report.persisted, report.duplicates, report.failed) == (2, 2, 0, 0)
    assert desk.memories() == ["Jonas rows on Sundays.", "Maya lives in Lisbon."]
    assert desk.outcomes() == {
        "Maya lives in Lisbon.": "consolidated",
        "Jonas rows on Sundays.": "consolidated",
        "The build was slow today.": None,
    }
    assert desk.cycle().state == "nothing", "what was settled has left working memory"


def test_a_memory_carries_what_the_note_says_and_names_it(desk: Desk) -> None:
    desk.note("Maya moved to Lisbon.", session="monday", type="event", at="2026-03-03T09:30:00Z")
    run = desk.cycle().run
    (memory,) = desk.rows("SELECT * FROM slowwave.memories")
    assert (memory.type, memory.status, memory.trust, memory.importance) == ("event", "episode", "assistant", 0.8)
    assert memory.valid_from == memory.reaffirmed_at
    assert memory.valid_from.isoformat() == "2026-03-03T09:30:00+00:00"
    (note,) = desk.rows("SELECT * FROM slowwave.memory_notes")
    (item,) = desk.rows("SELECT * FROM slowwave.working_memory")
    assert (note.memory_id, note.working_id, item.run_id) == (memory.id, item.id, run)
    (created,) = desk.rows("SELECT * FROM slowwave.memory_changes WHERE action = 'created'")
    assert (created.memory_id, created.run_id, created.made_by) == (memory.id, run, "test")
    assert created.after["noted"] == str(item.id)
    weighed = desk.rows("SELECT slowwave.score_memory(:id, now()) AS changed", id=memory.id)[0].changed
    assert not weighed, "the memory is what its evidence makes of it"


def test_mistake_23_noting_a_fact_again_is_idempotent_and_adds_evidence(desk: Desk) -> None:
    for session in ("monday", "monday", "tuesday"):
        desk.note("Maya lives in Lisbon.", session=session)
        desk.cycle()
    assert desk.memories() == ["Maya lives in Lisbon."]
    assert [row.outcome for row in desk.rows("SELECT outcome FROM slowwave.working_memory ORDER BY id")] == [
        "consolidated",
        "duplicate",
        "duplicate",
    ]
    (memory,) = desk.rows("SELECT confidence, status FROM slowwave.memories")
    assert memory.confidence == pytest.approx(1 - 0.4 * 0.7), "two sessions are two witnesses, one is one"
    assert desk.rows("SELECT count(*) AS n FROM slowwave.memory_notes")[0].n == 3


def test_near_duplicates_are_dropped_against_each_other_and_against_memories(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.")
    desk.cycle()
    desk.note("Maya lives in Lisbon!", "Jonas has a red boat.", "Jonas  has a red boat")
    report = desk.cycle()
    assert (report.gathered, report.persisted, report.duplicates) == (3, 1, 2)
    assert desk.memories() == ["Jonas has a red boat.", "Maya lives in Lisbon."]


def test_mistake_21_a_value_that_differs_is_never_dropped_as_a_near_duplicate(desk: Desk) -> None:
    desk.note("Maya prefers dark mode.")
    desk.cycle()
    desk.note("Maya prefers light mode.")
    assert desk.cycle().persisted == 1
    assert desk.memories() == ["Maya prefers dark mode.", "Maya prefers light mode."]


def test_related_memories_are_linked_with_their_similarity_and_never_to_themselves(desk: Desk) -> None:
    desk.note("Maya planted rose bushes in the back garden.")
    desk.cycle()
    desk.note("Maya planted rose bushes in the back garden with Ines.")
    report = desk.cycle()
    (link,) = desk.rows(
        "SELECT s.content AS source, t.content AS target, l.predicate, l.confidence, l.run_id"
        " FROM slowwave.memory_links l JOIN slowwave.memories s ON s.id = l.source_id"
        " JOIN slowwave.memories t ON t.id = l.target_id"
    )
    assert (link.predicate, link.run_id, report.links) == ("related_to", report.run, 1)
    assert link.source.endswith("with Ines.")
    assert 0.7 <= link.confidence <= 1
    assert desk.rows("SELECT count(*) AS n FROM slowwave.memory_changes WHERE action = 'linked'")[0].n == 1


def test_triples_are_extracted_unless_that_is_switched_off(desk: Desk) -> None:
    desk.note("Jonas works at Initech.")
    assert desk.cycle().triples >= 1
    (triple, *_) = desk.rows("SELECT subject, object FROM slowwave.triples ORDER BY id")
    assert (triple.subject, triple.object) == ("Jonas", "Initech")
    desk.note("Priya works at Globex.")
    assert desk.cycle(settings=Consolidation(extract_triples=False)).triples == 0
    assert desk.rows("SELECT count(*) AS n FROM slowwave.triples WHERE subject = 'Priya'")[0].n == 0


def test_secrets_are_taken_out_when_a_note_becomes_a_memory(desk: Desk) -> None:
    desk.note(f"The deploy key is {KEY} for now.")
    desk.cycle()
    kept = str([desk.rows(f"SELECT * FROM slowwave.{table}") for table in ("memories", "triples", "memory_changes")])
    assert KEY not in kept
    assert "deploy key" in kept


def test_a_cap_takes_the_oldest_and_says_that_more_is_due(desk: Desk) -> None:
    for day in (3, 1, 2):
        desk.note(f"Priya flew to city number {day}.", at=f"2026-03-0{day}T12:00:00Z")
    report = desk.cycle(settings=Consolidation(batch_size=2))
    assert (report.gathered, report.more) == (2, True)
    assert desk.outcomes()["Priya flew to city number 3."] is None
    assert (desk.cycle().gathered, desk.cycle().state) == (1, "nothing")


def test_notes_whose_time_is_over_leave_working_memory_and_make_nothing(desk: Desk) -> None:
    desk.note("The lift is out of order.", importance=0.1, ttl_seconds=60)
    assert desk.cycle().state == "nothing"
    desk.clock.pass_time(120)
    report = desk.cycle()
    assert (report.gathered, report.expired) == (0, 1)
    assert desk.outcomes() == {"The lift is out of order.": "expired"}
    assert desk.memories() == []


def test_one_bad_note_fails_alone_with_its_error_and_never_stops_the_rest(desk: Desk) -> None:
    good = [f"Priya wrote chapter {number} of her thesis." for number in range(1, 8)]
    desk.note(*good)
    with desk.engine.begin() as connection:  # nothing that `remember` would take
        connection.execute(
            text("UPDATE slowwave.working_memory SET type = 'rumour' WHERE content LIKE '%chapter 5%' RETURNING id")
        )
    report = desk.cycle()
    assert (report.gathered, report.persisted, report.duplicates, report.failed) == (7, 6, 0, 1)
    assert desk.memories() == [line for line in good if "5" not in line]
    (bad,) = desk.rows("SELECT content, error, run_id FROM slowwave.working_memory WHERE outcome = 'failed'")
    assert bad.content == good[4]
    assert "memories_type_check" in bad.error
    assert bad.run_id == report.run
    assert desk.cycle().state == "nothing", "it is not tried again and again"


def test_a_failed_note_is_tried_again_a_day_later(desk: Desk) -> None:
    desk.note("Priya wrote chapter 5 of her thesis.")
    with desk.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.working_memory SET type = 'rumour', expires_at = now() + '9 days'"))
    desk.cycle()
    with desk.engine.connect() as connection:
        assert read_unkept(connection, desk.clock(), "default") == Unkept(notes=1, days=0)
        assert read_unkept(connection, desk.clock(), "other") == Unkept(notes=0, days=0)
        check = check_unkept(connection, now=desk.clock())
        assert (check.issue, check.finding) == ("notes-fail", "1 note failed")
        assert due_scopes(connection, min_importance=0.4, limit=5, now=desk.clock()) == []
    with desk.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.working_memory SET type = 'fact'"))
    desk.clock.pass_time(RETRY.total_seconds() + 1)
    with desk.engine.connect() as connection:
        (due,) = due_scopes(connection, min_importance=0.4, limit=5, now=desk.clock())
    assert (due.kind, due.name) == ("agent", "atlas")
    assert desk.cycle().persisted == 1
    assert desk.memories() == ["Priya wrote chapter 5 of her thesis."]
    with desk.engine.connect() as connection:
        assert check_unkept(connection, now=desk.clock()).verdict == "ok"


def test_statistics_add_up_over_cycles_and_scopes(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.", "Maya lives in Lisbon.", "Jonas works at Initech.", "Ines has a cat.")
    desk.note("The build was slow today.", importance=0.1)
    desk.note("The lift is out of order.", importance=0.1, ttl_seconds=1)
    desk.note("The printer is on floor 2.", scope="room:office")
    desk.cycle()
    desk.clock.pass_time(5)
    desk.note("The tram is late today.", importance=0.2, marked=True, ttl_seconds=3600)
    desk.cycle()
    desk.note("Priya plays chess.", importance=0.0, marked=True)
    stats = desk.memory.stats("atlas")
    settled = stats.consolidated + stats.duplicates + stats.expired + stats.failed
    assert stats.noted == stats.open + settled == 8
    assert (stats.open, stats.marked, stats.consolidated, stats.duplicates, stats.expired) == (2, 1, 4, 1, 1)
    assert (stats.runs, stats.failed_runs, stats.running, stats.persisted) == (2, 0, False, stats.consolidated)
    runs = desk.rows("SELECT stats, status, kind, lease FROM slowwave.maintenance_runs ORDER BY id")
    assert all((run.status, run.kind, run.lease) == ("completed", "working", None) for run in runs)
    for name in ("persisted", "links", "triples", "duration_ms"):
        assert sum(run.stats[name] for run in runs) == getattr(stats, name)
    assert all(
        run.stats["gathered"] == run.stats["persisted"] + run.stats["duplicates"] + run.stats["failed"] for run in runs
    )
