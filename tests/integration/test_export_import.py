"""Memory out as files and in again: the same bytes, nothing overwritten, and all of it can be taken back."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, event

from slowwave.errors import SlowwaveError
from slowwave_server.services.days.book import day_book
from slowwave_server.services.memories.changes import Author, Ledger
from slowwave_server.services.memories.merging import merge_into, part_again
from slowwave_server.services.memory_files.disk import CURATED
from slowwave_server.services.memory_files.export import EditedLines
from slowwave_server.services.memory_files.folder_reading import NoFiles
from slowwave_server.services.undo.undo import undo
from tests.support.exporting import NOW, Scope, files

pytestmark = pytest.mark.servers
TABLES = ("memories", "memory_imports", "memory_sources", "memory_changes", "day_summaries", "days", "maintenance_runs")


@pytest.fixture
def scope(engine: Engine, tmp_path: Path) -> Scope:
    return Scope(engine, tmp_path / "out")


def counts(scope: Scope) -> dict[str, int]:
    return {table: scope.sql(f"SELECT count(*) AS n FROM slowwave.{table}")[0].n for table in TABLES}


def test_export_import_export_is_byte_identical(scope: Scope, tmp_path: Path) -> None:
    scope.fill()
    report = scope.export()
    assert report.memories == 36
    assert report.curated == 9
    first = files(scope.root)
    assert "default/agent/%4daya%20%4cee/MEMORY.md" in first
    scope.empty()
    taken = scope.take()
    assert (taken.added, taken.problems, taken.summaries) == (36, (), 2)
    scope.export(tmp_path / "again")
    assert files(tmp_path / "again") == first


def test_the_same_memories_are_the_same_bytes_and_untouched_files(scope: Scope) -> None:
    scope.fill()
    scope.export()
    before = {path: (scope.root / path).stat().st_mtime_ns for path in files(scope.root, manifest=True)}
    assert scope.export().written == ()
    assert {path: (scope.root / path).stat().st_mtime_ns for path in files(scope.root, manifest=True)} == before
    scope.remember(90, "Jonas plays chess")
    assert len(scope.export().written) == 1


def test_importing_twice_changes_nothing(scope: Scope) -> None:
    scope.fill()
    scope.export()
    scope.empty()
    assert scope.take().run is not None
    before = counts(scope)
    again = scope.take()
    assert (again.run, again.added, again.repeated, again.unchanged) == (None, 0, 0, 36)
    assert counts(scope) == before


def test_importing_what_was_exported_here_changes_nothing(scope: Scope) -> None:
    scope.fill()
    scope.export()
    before = counts(scope)
    assert scope.take().run is None
    assert counts(scope) == before


def test_i6_undoing_an_import_leaves_what_was_there(scope: Scope, tmp_path: Path) -> None:
    scope.fill()
    scope.export()
    scope.empty()
    scope.make()
    kept = scope.remember(0, "Jonas plays chess")
    known = next(path for path in files(scope.root) if path.endswith("2026-03-02.md"))
    with (scope.root / known).open("a") as file:
        file.write("- Jonas plays chess.\n")
    run = scope.take().run
    assert run is not None
    assert len(scope.memories()) == 37
    undo(scope.engine, "default", run, by="maya", now=NOW)
    (left,) = scope.memories()
    assert (left.id, left.confidence, left.importance) == (kept, 0.5, 0.25)
    assert counts(scope)["memory_imports"] == counts(scope)["day_summaries"] == counts(scope)["days"] == 0
    assert scope.take().added == 36


def test_what_an_import_says_of_a_memory_is_what_its_evidence_says(scope: Scope) -> None:
    scope.fill()
    scope.sql("UPDATE slowwave.memories SET confidence = round(confidence::numeric, 4)")
    scope.export()
    scope.empty()
    scope.take()
    assert scope.sql("SELECT id FROM slowwave.memories WHERE slowwave.score_memory(id, now())") == []


def test_mistake_39_an_id_of_another_scope_becomes_a_new_one(scope: Scope) -> None:
    scope.fill()
    scope.export()
    theirs = {row.id for row in scope.memories()}
    taken = scope.take(scope.folder, name="jonas")
    assert taken.added == 36
    ours = scope.memories("jonas")
    assert not theirs & {row.id for row in ours}
    ends = {row.superseded_by for row in ours} - {None}
    assert ends <= {row.id for row in ours}
    assert ends
    assert scope.take(scope.folder, name="jonas").run is None


def test_unmarked_bullets_are_facts_that_an_import_claims(scope: Scope) -> None:
    scope.make()
    scope.remember(1, "Maya prefers tea")
    scope.folder.mkdir(parents=True)
    (scope.folder / "daily").mkdir()
    (scope.folder / "daily" / "2026-03-05.md").write_text(
        "# Thursday\n\nPriya moved to Lisbon.\n\n- Jonas plays chess\n- Maya prefers tea.\n- the password is hunter2\n"
    )
    taken = scope.take()
    assert (taken.added, taken.repeated) == (3, 1)
    found = {row.content: row for row in scope.memories()}
    lisbon = found["Priya moved to Lisbon."]
    assert (lisbon.trust, lisbon.type, lisbon.status) == ("import", "fact", "inbox")
    assert lisbon.valid_from.isoformat() == "2026-03-05T03:00:00+00:00"
    assert "the password is [redacted:password]" in found
    assert found["Maya prefers tea"].confidence > 0.5
    assert scope.take().run is None


def test_words_that_a_person_rejected_stay_rejected(scope: Scope) -> None:
    scope.make()
    scope.remember(1, "Maya hates tea", status="archived", archive_reason="rejected")
    scope.folder.mkdir(parents=True)
    (scope.folder / "MEMORY.md").write_text("- Maya hates tea\n")
    taken = scope.take()
    assert (taken.rejected, taken.added, taken.run) == (1, 0, None)


def test_bad_lines_are_named_and_nothing_else_is_lost(scope: Scope) -> None:
    scope.fill()
    scope.export()
    path = scope.folder / "MEMORY.md"
    lines = path.read_text().splitlines(keepends=True)
    lines.insert(4, "- odd <!-- slowwave new fact active confidence=9 -->\n")
    path.write_text("".join(lines))
    scope.empty()
    taken = scope.take()
    assert [(problem.path, problem.line) for problem in taken.problems] == [("MEMORY.md", 5)]
    assert taken.added == 36


def test_i5_an_imported_day_is_final_until_its_first_event(scope: Scope) -> None:
    scope.fill()
    scope.export()
    scope.empty()
    scope.take()
    with scope.engine.connect() as connection:
        book = day_book(connection, "default", scope.name)
    assert {(day.status, day.total_messages, day.messages_since_last_summary) for day in book} == {("final", 0, 0)}
    event = {"kind": "user", "step": 1, "content": "Good morning", "at": "2026-03-25T09:00:00+00:00"}
    item = {"agent": scope.name, "session": "new", "trigger": None, "events": [event]}
    scope.sql(
        "SELECT due FROM slowwave.capture_batch('default', CAST(:batch AS jsonb), 120, 600, 5, 'UTC', 0, :now)",
        batch=json.dumps([item]),
        now=NOW,
    )
    with scope.engine.connect() as connection:
        (day,) = day_book(connection, "default", scope.name, day=date(2026, 3, 25))
    assert (day.status, day.total_messages) == ("open", 1)


def test_a_dry_run_shows_and_changes_nothing(scope: Scope) -> None:
    scope.fill()
    scope.export()
    scope.empty()
    taken = scope.take(dry_run=True)
    assert (taken.run, taken.added, len(taken.changes)) == (None, 36, 36)
    assert set(counts(scope).values()) == {0}
    assert scope.sql("SELECT 1 FROM slowwave.agents") == []


def test_hand_edits_survive_an_export_or_stop_it(scope: Scope) -> None:
    scope.fill()
    scope.export()
    path = scope.folder / "MEMORY.md"
    topic = scope.folder / "recipes.md"
    topic.write_text("- bread\n")
    typed = path.read_text().replace("## Facts\n\n", "## Facts\n\nMaya wrote this.\n- Jonas plays chess\n")
    path.write_text(typed + "\n## Mine\n\n- keep out")
    scope.remember(91, "Priya moved to Lisbon", status="active")
    scope.export()
    written = path.read_text()
    assert "Maya wrote this.\n- Jonas plays chess\n" in written
    assert "## Mine\n\n- keep out" in written
    assert "Priya moved to Lisbon" in written
    assert topic.read_text() == "- bread\n"
    path.write_text(written.replace("Priya moved to Lisbon", "Priya moved to Porto"))
    number = next(n for n, line in enumerate(path.read_text().splitlines(), start=1) if "Porto" in line)
    with pytest.raises(EditedLines, match=f"MEMORY.md line {number}") as refused:
        scope.export()
    assert refused.value.lines == (("MEMORY.md", number),)
    scope.export(force=True)
    assert "Priya moved to Lisbon" in path.read_text()


def test_an_edited_line_is_imported_beside_what_is_known(scope: Scope) -> None:
    scope.make()
    scope.remember(1, "Priya moved to Lisbon")
    scope.export()
    (path,) = (path for path in files(scope.root) if "daily" in path)
    (scope.root / path).write_text((scope.root / path).read_text().replace("Lisbon", "Porto"))
    taken = scope.take()
    assert (taken.added, taken.reworded) == (1, 1)
    assert {row.content for row in scope.memories()} == {"Priya moved to Lisbon", "Priya moved to Porto"}
    assert scope.take().run is None


def test_files_of_days_that_hold_nothing_any_more_go_if_they_are_ours(scope: Scope) -> None:
    scope.make()
    one, other = scope.remember(1, "Maya prefers tea"), scope.remember(11, "Jonas plays chess")
    scope.export()
    days = sorted(path for path in files(scope.folder) if path.startswith("daily"))
    kept = scope.folder / days[1]
    kept.write_text(kept.read_text() + "\nA thought of Maya's.\n")
    scope.sql("UPDATE slowwave.memories SET status = 'archived' WHERE id = ANY(:ids)", ids=[one, other])
    report = scope.export()
    assert report.removed == (days[0],)
    assert kept.read_text().endswith("\n\nA thought of Maya's.\n")
    assert "chess" not in kept.read_text()


def test_curated_memories_leave_the_log_unless_it_is_append_only(scope: Scope) -> None:
    scope.make()
    scope.remember(1, "Maya prefers tea", status="active")
    assert scope.export().days == 1
    assert scope.export(append_only=False).days == 0
    assert sorted(files(scope.folder)) == ["MEMORY.md"]


def test_merged_supersessions_point_at_what_lives(scope: Scope) -> None:
    scope.make()
    survivor = scope.remember(1, "Priya lives in Lisbon")
    part = scope.remember(2, "Priya lives in Lisbon now", status="archived", archive_reason="merged")
    scope.sql("UPDATE slowwave.memories SET merged_into = :survivor WHERE id = :part", survivor=survivor, part=part)
    scope.remember(3, "Priya lives in Porto", superseded_by=part, valid_to=NOW)
    scope.export()
    assert f"by={survivor}" in b"".join(files(scope.folder).values()).decode()


def test_what_waits_for_a_decision_is_asked_about_again(scope: Scope) -> None:
    scope.fill()
    scope.export()
    scope.empty()
    scope.take()
    asked = scope.sql("SELECT memory_id FROM slowwave.review_items WHERE state = 'open'")
    waiting = [row.id for row in scope.memories() if row.status == "review"]
    assert sorted(row.memory_id for row in asked) == sorted(waiting)


def test_i9_merging_imported_memories_and_back_leaves_their_worth(scope: Scope) -> None:
    scope.fill()
    scope.export()
    scope.empty()
    run = scope.take().run
    assert run is not None
    said = {row.id: row for row in scope.memories() if row.status in {"inbox", "active"}}
    survivor, *parts = sorted(said)[:4]
    author = Author(run, "maya")
    for part in parts:
        with scope.engine.begin() as connection:
            merge_into(Ledger(connection, author, NOW), part, 0, survivor, reason="alike")
    merged = {row.id: row for row in scope.memories()}
    assert merged[survivor].confidence > said[survivor].confidence
    assert merged[survivor].valid_from == min(said[memory].valid_from for memory in (survivor, *parts))
    assert merged[survivor].reaffirmed_at == max(said[memory].reaffirmed_at for memory in (survivor, *parts))
    assert scope.export().memories == 36 - len(parts)
    for part in reversed(parts):
        with scope.engine.begin() as connection:
            part_again(Ledger(connection, author, NOW), part, 1, said[part].status, reason="not alike")
    after = {row.id: row for row in scope.memories()}
    for memory, before in said.items():
        # What is weighed is rounded to six digits.
        assert after[memory].confidence == pytest.approx(before.confidence, abs=1e-6)
        for field in ("importance", "trust", "valid_from", "reaffirmed_at", "status"):
            assert getattr(after[memory], field) == getattr(before, field)
    assert scope.sql("SELECT 1 FROM slowwave.memory_imports WHERE via IS NOT NULL") == []


def test_a_transcript_is_named_and_becomes_no_memory(scope: Scope) -> None:
    scope.make()
    scope.folder.mkdir(parents=True)
    (scope.folder / "MEMORY.md").write_text("[user] I moved to Lisbon.\n[main_agent] Noted.\n\nMaya likes tea.\n")
    taken = scope.take()
    assert [row.content for row in scope.memories()] == ["Maya likes tea."]
    assert [(problem.path, problem.line, "slowwave import events" in problem.what) for problem in taken.problems] == [
        ("MEMORY.md", 1, True)
    ]


def test_an_import_reads_no_file_without_a_bound(scope: Scope) -> None:
    scope.make()
    scope.folder.mkdir(parents=True)
    huge = scope.folder / "MEMORY.md"
    huge.touch()
    os.truncate(huge, 3_000_000_000)
    with pytest.raises(SlowwaveError, match=r"it has 3,000,000,000 bytes, and memory files are read up to 32,000,000"):
        scope.take()
    huge.unlink()
    (scope.folder / "daily").mkdir()
    for day in range(1, 10):
        file = scope.folder / "daily" / f"2026-03-0{day}.md"
        file.touch()
        os.truncate(file, 30_000_000)
    with pytest.raises(SlowwaveError, match=r"its files have 270,000,000 bytes together"):
        scope.take()


def test_a_folder_without_memory_files_is_refused(scope: Scope, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    with pytest.raises(NoFiles, match=r"MEMORY\.md"):
        scope.take(tmp_path / "nothing")


def test_a_name_of_300_bytes_and_more_has_its_own_folder(engine: Engine, tmp_path: Path) -> None:
    scope = Scope(engine, tmp_path, name="../" + "é" * 197)
    scope.make()
    scope.remember(1, "Maya prefers tea")
    folder = scope.export().folder
    assert folder.parent == tmp_path / "default" / "agent"
    assert scope.name in (folder / "MEMORY.md").read_text()
    scope.empty()
    assert scope.take().added == 1


def test_rooms_keep_to_themselves(engine: Engine, tmp_path: Path) -> None:
    scope = Scope(engine, tmp_path, name="kitchen", kind="room")
    scope.folder.mkdir(parents=True)
    (scope.folder / "MEMORY.md").write_text("- The oven is broken\n")
    assert scope.take().added == 1
    assert [row.content for row in scope.memories()] == ["The oven is broken"]
    assert scope.sql("SELECT 1 FROM slowwave.agents") == []
    assert scope.export().memories == 1


def test_ids_stay_what_they_were(scope: Scope) -> None:
    scope.fill()
    before = {row.id for row in scope.memories() if row.status != "archived"}
    scope.export()
    scope.empty()
    scope.take()
    after = {row.id for row in scope.memories()}
    assert after == before
    assert all(isinstance(identity, UUID) for identity in after)


@pytest.mark.parametrize("path", [CURATED, "daily", ".slowwave.json"])
def test_links_that_lead_out_of_the_folder_are_neither_written_to_nor_read(
    scope: Scope, tmp_path: Path, path: str
) -> None:
    scope.fill()
    secret = tmp_path / "elsewhere"
    target = secret / "2026-03-01.md" if path == "daily" else secret
    target.parent.mkdir(exist_ok=True)
    target.write_text("- the key is below the mat\n", encoding="utf-8")
    scope.folder.mkdir(parents=True)
    (scope.folder / path).symlink_to(secret)
    with pytest.raises(SlowwaveError, match="by a link"):
        scope.export(force=True)
    assert target.read_text(encoding="utf-8") == "- the key is below the mat\n"
    if path != ".slowwave.json":
        with pytest.raises(SlowwaveError, match="by a link"):
            scope.take()


@contextmanager
def counting(engine: Engine) -> Iterator[list[str]]:
    """The statements that an engine sends in this block."""
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_undo_of_an_import_takes_as_many_statements_for_more(scope: Scope) -> None:
    scope.make()
    undone, redone = [], []
    folders = []
    for number, size in ((1, 5), (2, 60)):
        for place in range(size):
            scope.remember(100 * number + place, f"Fact {number} of Maya is number {place}.")
        folders.append(scope.root.parent / f"of-{number}")
        scope.export(folders[-1])
    for number, folder in enumerate(folders):
        run = scope.take(next(folder.rglob("MEMORY.md")).parent, name=f"copy-{number}").run
        assert run is not None
        before = scope.memories(f"copy-{number}")
        assert len(before) == (5, 65)[number]
        with counting(scope.engine) as sent:
            first = undo(scope.engine, "default", run, by="maya", now=NOW)
        undone.append(len(sent))
        assert scope.memories(f"copy-{number}") == []
        with counting(scope.engine) as sent:
            undo(scope.engine, "default", first.run, by="maya", now=NOW)
        redone.append(len(sent))
        assert [row.content for row in scope.memories(f"copy-{number}")] == [row.content for row in before]
    assert undone[0] == undone[1]
    assert redone[0] == redone[1]
