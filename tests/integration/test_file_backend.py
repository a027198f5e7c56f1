"""memory.backend: file. What Postgres says stands in the files, and what people do to the files becomes memories.

Invariants proved here: I6, I8, I10. Mistakes: 26, 27, 37.
"""

import os
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.memory_files.disk import TEMPORARY_PREFIX, Disk
from slowwave_server.services.memory_files.outbox import BATCH
from slowwave_server.services.undo.undo import undo
from tests.support.filing import CURATED, Cabinet

pytestmark = pytest.mark.servers

DAY = "daily/2024-04-10.md"


@pytest.fixture
def cabinet(engine: Engine, tmp_path: Path) -> Cabinet:
    return Cabinet(engine, tmp_path)


def test_live_memories_stand_in_their_days_log_and_active_ones_in_memory_md_too(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.change(cabinet.hearer.hear("Maya has a cat"), status="active")
    gone = cabinet.hearer.hear("Maya sails", days_ago=31)
    report = cabinet.deliver()
    assert (report.state, report.written, report.delivered) == ("current", 3, 3)
    assert cabinet.lines(CURATED) == {"Maya has a cat": "active"}
    assert cabinet.lines(DAY) == {"Maya lives in Turin": "inbox", "Maya has a cat": "active"}
    cabinet.change(gone, status="archived", archive_reason="test")
    cabinet.deliver()
    assert cabinet.lines("daily/2024-04-09.md") == {}


def test_append_only_off_lets_active_memories_leave_the_log(cabinet: Cabinet) -> None:
    cabinet.append_only = False
    cabinet.change(cabinet.hearer.hear("Maya has a cat"), status="active")
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    assert (list(cabinet.lines(CURATED)), list(cabinet.lines(DAY))) == (["Maya has a cat"], ["Maya lives in Turin"])


def test_a_further_delivery_changes_no_byte(cabinet: Cabinet) -> None:
    cabinet.change(cabinet.hearer.hear("Maya has a cat"), status="active")
    cabinet.deliver()
    before = cabinet.files()
    report = cabinet.deliver()
    assert (report.written, report.delivered, report.run) == (0, 0, None)
    assert cabinet.files() == before


def test_a_typed_line_becomes_a_memory_by_hand_and_keeps_its_place(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.add_line(DAY, "Maya plays the cello")
    report = cabinet.deliver()
    assert report.counts == {"typed": 1}
    memory = cabinet.named("Maya plays the cello")
    assert (memory.trust, memory.status, memory.type) == ("hand", "inbox", "fact")
    assert cabinet.read(DAY).splitlines()[-1].startswith("- Maya plays the cello <!-- slowwave ")
    assert cabinet.deliver().run is None


def test_a_line_typed_into_memory_md_is_active_and_stays_there(cabinet: Cabinet) -> None:
    cabinet.write(CURATED, "# About Maya\n\nShe is my sister.\n\n- Maya plays the cello\n")
    cabinet.deliver()
    assert cabinet.lines(CURATED) == {"Maya plays the cello": "active"}
    text = cabinet.read(CURATED)
    assert "# About Maya\n\nShe is my sister.\n\n- Maya plays the cello <!--" in text
    assert set(cabinet.memories()) == {"Maya plays the cello"}


def test_an_edited_line_takes_the_place_of_its_memory(cabinet: Cabinet) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    report = cabinet.deliver()
    assert report.counts == {"edited": 1}
    old, new = cabinet.hearer.memory(turin), cabinet.named("Maya lives in Genoa")
    assert (old.status, old.archive_reason, old.superseded_by) == ("archived", "edited by hand", new.id)
    assert (new.trust, new.valid_from, new.importance) == ("hand", old.valid_from, old.importance)
    assert (new.id, turin) in cabinet.hearer.links("supersedes")
    assert cabinet.lines(DAY) == {"Maya lives in Genoa": "inbox"}
    assert cabinet.deliver().run is None


def test_a_removed_line_archives_its_memory_everywhere(cabinet: Cabinet) -> None:
    cabinet.change(cabinet.hearer.hear("Maya has a cat"), status="active")
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.drop_line(CURATED, "cat")
    assert cabinet.deliver().counts == {"removed": 1}
    assert cabinet.memories()["Maya has a cat"] == "removed by hand"
    assert cabinet.lines(DAY) == {"Maya lives in Turin": "inbox"}


def test_a_touched_mark_is_written_again_and_states_nothing(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    before = cabinet.files()
    cabinet.replace(DAY, " inbox ", " active ")
    report = cabinet.deliver()
    assert (report.counts, report.run, cabinet.files()) == ({}, None, before)


def test_a_line_that_lost_its_mark_is_still_that_line(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    before = cabinet.files()
    line = next(line for line in cabinet.read(DAY).splitlines() if "Turin" in line)
    cabinet.replace(DAY, line, "- Maya lives in Turin")
    assert cabinet.deliver().counts == {}
    assert cabinet.files() == before


def test_mistake_26_an_edit_of_what_changed_meanwhile_is_a_conflict_and_both_stay(cabinet: Cabinet) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    cabinet.change(turin, content="Maya lives in Turin since March")
    report = cabinet.deliver()
    assert report.counts == {"clashes": 1}
    assert cabinet.conflicts() == {frozenset({"Maya lives in Genoa", "Maya lives in Turin since March"})}
    assert cabinet.hearer.sql("SELECT tier FROM slowwave.review_items WHERE state = 'open'")[0].tier == "high"
    assert set(cabinet.lines(DAY)) == {"Maya lives in Genoa", "Maya lives in Turin since March"}
    assert cabinet.deliver().run is None


def test_lines_of_an_open_contradiction_are_marked_until_it_ends(cabinet: Cabinet) -> None:
    hearer = cabinet.hearer
    owns = hearer.hear("Jonas owns a red boat")
    cabinet.deliver()
    assert "contradicts=" not in cabinet.read(DAY)
    no_boat = hearer.hear("Jonas does not own a red boat", days_ago=20, trust="assistant")
    hearer.run()
    assert cabinet.conflicts() == {frozenset({"Jonas owns a red boat", "Jonas does not own a red boat"})}
    cabinet.deliver()
    marked = "".join(path.read_text("utf-8") for path in sorted(cabinet.folder.rglob("*.md")))
    assert f"contradicts={no_boat}" in marked
    assert f"contradicts={owns}" in marked
    assert cabinet.deliver().run is None, "a mark is nobody's edit"
    hearer.sql("UPDATE slowwave.memory_conflicts SET status = 'dismissed', decided_at = now()")
    cabinet.deliver()
    assert not any("contradicts=" in path.read_text("utf-8") for path in cabinet.folder.rglob("*.md"))


def test_an_edit_of_what_was_promoted_meanwhile_is_no_conflict(cabinet: Cabinet) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    cabinet.change(turin, status="active")
    assert cabinet.deliver().counts == {"edited": 1}
    assert cabinet.lines(CURATED) == cabinet.lines(DAY) == {"Maya lives in Genoa": "active"}


def test_of_a_memory_in_two_files_the_edited_line_wins_and_two_edits_clash(cabinet: Cabinet) -> None:
    for content in ("Maya has a cat", "Maya drinks tea"):
        cabinet.change(cabinet.hearer.hear(content), status="active")
    cabinet.deliver()
    cabinet.replace(CURATED, "Maya has a cat", "Maya has two cats")
    cabinet.replace(CURATED, "Maya drinks tea", "Maya drinks green tea")
    cabinet.replace(DAY, "Maya drinks tea", "Maya drinks coffee")
    assert cabinet.deliver().counts == {"edited": 2, "clashes": 1}
    contents = {"Maya has two cats", "Maya drinks green tea", "Maya drinks coffee"}
    assert set(cabinet.lines(CURATED)) == set(cabinet.lines(DAY)) == contents
    assert cabinet.conflicts() == {frozenset({"Maya drinks green tea", "Maya drinks coffee"})}


def test_a_moved_line_is_no_removal_and_comes_back_where_it_belongs(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.hearer.hear("Maya sails", days_ago=31)
    cabinet.deliver()
    before = cabinet.files()
    line = next(line for line in cabinet.read(DAY).splitlines() if "Turin" in line)
    cabinet.drop_line(DAY, "Turin")
    cabinet.write("daily/2024-04-09.md", f"{cabinet.read('daily/2024-04-09.md')}{line}\n")
    report = cabinet.deliver()
    assert (report.counts, cabinet.files()) == ({}, before)


def test_a_file_that_is_gone_is_written_again(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    before = cabinet.files()
    (cabinet.folder / DAY).unlink()
    report = cabinet.deliver()
    assert (report.counts, cabinet.files()) == ({}, before)
    assert cabinet.memories() == {"Maya lives in Turin": "inbox"}


def test_mistake_37_many_lines_gone_at_once_archive_nothing_until_somebody_says_so(cabinet: Cabinet) -> None:
    for number in range(10):
        cabinet.hearer.hear(f"Maya owns book {number}")
    cabinet.deliver()
    full = cabinet.read(DAY)
    cabinet.write(DAY, "".join(line for line in full.splitlines(keepends=True) if "book" not in line))
    cut = cabinet.read(DAY)
    cabinet.hearer.hear("Maya owns a lamp")
    report = cabinet.deliver()
    assert "--allow-removals" in report.held[DAY]
    assert (cabinet.read(DAY), set(cabinet.memories().values())) == (cut, {"inbox"})
    assert cabinet.deliver().held.keys() == {DAY}
    cabinet.write(DAY, full)
    assert cabinet.deliver().held == {}
    assert len(cabinet.lines(DAY)) == 11
    cabinet.write(DAY, cut)
    report = cabinet.deliver(allow_removals=True)
    assert report.counts == {"removed": 11}
    assert cabinet.lines(DAY) == {}


def test_a_file_that_is_too_large_is_left_alone(cabinet: Cabinet) -> None:
    cabinet.change(cabinet.hearer.hear("Maya has a cat"), status="active")
    cabinet.deliver()
    before = cabinet.read(DAY)
    for path in (DAY, CURATED):
        os.truncate(cabinet.folder / path, 3_000_000_000)
    cabinet.hearer.hear("Maya owns a lamp")
    for _ in range(2):
        report = cabinet.deliver()
        assert set(report.held) == {DAY, CURATED}
        assert report.held[DAY] == (
            "it has 3,000,000,000 bytes, and memory files are read up to 32,000,000, so it is left alone: make it"
            " shorter, or delete it and it is written again"
        )
    assert (cabinet.folder / DAY).stat().st_size == 3_000_000_000
    cabinet.write(DAY, before)
    (cabinet.folder / CURATED).unlink()
    assert cabinet.deliver().held == {}
    assert set(cabinet.lines(DAY)) == {"Maya has a cat", "Maya owns a lamp"}
    assert cabinet.lines(CURATED) == {"Maya has a cat": "active"}


def test_mistake_37_a_file_that_an_editor_has_just_emptied_to_save_it_archives_nothing(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    before = cabinet.read(DAY)
    cabinet.write(DAY, "")
    assert (list(cabinet.deliver().held), cabinet.read(DAY)) == ([DAY], "")
    assert cabinet.memories() == {"Maya lives in Turin": "inbox"}
    cabinet.write(DAY, before)
    assert (cabinet.deliver().held, cabinet.read(DAY)) == ({}, before)
    cabinet.write(DAY, "")
    assert cabinet.deliver(allow_removals=True).counts == {"removed": 1}


def test_who_writes_on_in_a_new_line_before_the_mark_adds_a_memory(cabinet: Cabinet) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.replace(DAY, "Maya lives in Turin <!--", "Maya lives in Turin\n- She works there <!--")
    assert cabinet.deliver().counts == {"typed": 1}
    assert cabinet.lines(DAY) == {"Maya lives in Turin": "inbox", "She works there": "inbox"}
    assert cabinet.hearer.memory(turin).status == "inbox"
    assert cabinet.deliver().run is None


def test_an_edited_line_is_about_whom_it_still_names(cabinet: Cabinet) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.hearer.sql("UPDATE slowwave.memories SET entities = '{Maya,Turin}' WHERE id = :id", id=turin)
    cabinet.deliver()
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    cabinet.deliver()
    assert cabinet.named("Maya lives in Genoa").entities == ["Maya", "Genoa"]


def test_mistake_26_a_line_that_was_taken_away_and_written_again_stays(cabinet: Cabinet) -> None:
    cabinet.change(cabinet.hearer.hear("Maya has a cat"), status="active")
    cabinet.deliver()
    before = cabinet.read(CURATED)
    cabinet.drop_line(CURATED, "cat")
    cabinet.deliver()
    cabinet.write(CURATED, before)
    assert cabinet.deliver().counts == {"typed": 1}
    assert cabinet.lines(CURATED) == cabinet.lines(DAY) == {"Maya has a cat": "active"}
    assert cabinet.deliver().run is None


def test_mistake_26_an_edit_that_is_taken_back_in_an_open_editor_leaves_the_old_words(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    before = cabinet.read(DAY)
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    cabinet.deliver()
    cabinet.write(DAY, before)
    assert cabinet.deliver().counts == {"typed": 1, "removed": 1}
    assert cabinet.lines(DAY) == {"Maya lives in Turin": "inbox"}
    live = cabinet.hearer.sql("SELECT content, trust FROM slowwave.memories WHERE status <> 'archived'")
    assert [(row.content, row.trust) for row in live] == [("Maya lives in Turin", "hand")]


def test_more_held_memories_than_a_delivery_takes_end_and_keep_no_other_waiting(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.write(DAY, "")
    cabinet.hearer.sql(
        "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance, trust,"
        " entities, valid_from, reaffirmed_at, recorded_at, search) SELECT m.scope_id, m.type, m.content || n,"
        " int4send(n), m.status, 0.5, 0.5, m.trust, '{}', m.valid_from, m.valid_from, m.recorded_at, '' FROM"
        " slowwave.memories m, generate_series(1, :most) n",
        most=BATCH,
    )
    cabinet.hearer.sql("SELECT slowwave.enqueue_for_backends(array_agg(id)) FROM slowwave.memories")
    cabinet.hearer.hear("Maya sails", days_ago=31)
    report = cabinet.deliver()
    assert (report.delivered, report.more, list(report.held)) == (0, False, [DAY])
    report = cabinet.deliver()
    assert (report.delivered, list(cabinet.lines("daily/2024-04-09.md"))) == (1, ["Maya sails"])


def test_what_a_write_left_behind_that_was_cut_off_is_swept_from_both_folders(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    before = cabinet.files()
    for folder in ("", "daily/"):
        cabinet.write(f"{folder}{TEMPORARY_PREFIX}x1", "half")
    cabinet.deliver()
    assert cabinet.files() == before


def test_prose_headings_and_topic_files_stay_byte_for_byte(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.write("sailing.md", "- knots\n")
    prose = "\nThe move was hard for her.  \r\n\n## My own heading\n\n- a private list\n  that goes on\n\n> quoted"
    cabinet.write(DAY, cabinet.read(DAY) + prose)
    cabinet.hearer.hear("Maya has a cat")
    cabinet.deliver()
    assert prose.encode() in cabinet.files()[DAY]
    assert cabinet.files()["sailing.md"] == b"- knots\n"
    assert set(cabinet.memories()) == {"Maya lives in Turin", "Maya has a cat"}


def test_a_secret_typed_by_hand_stays_in_its_line_and_nowhere_else(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    cabinet.add_line(DAY, f"Maya's token is {secret}")
    cabinet.deliver()
    content = next(content for content in cabinet.memories() if "token" in content)
    assert secret not in content
    cabinet.hearer.sql("UPDATE slowwave.memories SET importance = 0.11 WHERE content = :c", c=content)
    cabinet.deliver()
    assert f"- Maya's token is {secret} <!-- slowwave " in cabinet.read(DAY)
    assert "importance=0.11" in cabinet.read(DAY)
    before = cabinet.files()
    assert cabinet.deliver().run is None
    assert cabinet.files() == before


def test_hand_edits_are_a_run_that_can_be_undone(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.hearer.hear("Maya has a cat")
    cabinet.deliver()
    before = cabinet.memories()
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    cabinet.drop_line(DAY, "cat")
    cabinet.add_line(DAY, "Maya plays the cello")
    report = cabinet.deliver()
    assert report.counts == {"edited": 1, "removed": 1, "typed": 1}
    assert report.run is not None
    undo(cabinet.engine, "default", report.run, by="test", now=cabinet.hearer.now)
    assert cabinet.memories() == before
    cabinet.deliver()
    assert cabinet.lines(DAY) == before


def test_mistake_27_a_typed_line_that_is_known_is_evidence_and_no_second_memory(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin", confidence=0.5)
    cabinet.deliver()
    cabinet.write(CURATED, "- maya lives in turin.\n")
    cabinet.deliver()
    assert cabinet.memories() == {"maya lives in turin.": "active"}
    assert cabinet.named("maya lives in turin.").confidence > 0.9
    assert set(cabinet.lines(CURATED)) == set(cabinet.lines(DAY)) == {"maya lives in turin."}


def test_i10_lines_of_what_was_forgotten_are_not_read_back(cabinet: Cabinet) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.hearer.hear("Maya has a cat")
    cabinet.deliver()
    # As a forget that has committed, and has not got at the files yet.
    for table in ("memory_sources", "memory_changes", "memory_file_lines", "outbox"):
        cabinet.hearer.sql(f"DELETE FROM slowwave.{table} WHERE memory_id = :id", id=turin)
    cabinet.hearer.sql("DELETE FROM slowwave.memories WHERE id = :id", id=turin)
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Turin now")
    report = cabinet.deliver()
    assert cabinet.memories() == {"Maya has a cat": "inbox"}
    assert [what for _, _, what in report.notes] == ["names a memory that is not here; without its mark it becomes one"]


def test_i10_files_older_than_the_forgetting_of_their_scope_are_left_alone(cabinet: Cabinet) -> None:
    cabinet.write(CURATED, "- Maya has a cat\n")
    cabinet.hearer.sql(
        "INSERT INTO slowwave.erased_names (tenant, agent, session, erased_at, erasure_id)"
        " VALUES ('default', 'maya', '', clock_timestamp() + interval '1 hour', 1)"
    )
    report = cabinet.deliver()
    assert (cabinet.memories(), list(report.held)) == ({}, [CURATED])


class Editor(Disk):
    """Somebody's editor saves a new line of theirs each time before we write, so many times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        if self.times:
            self.times -= 1
            before = path.read_text(encoding="utf-8")
            path.write_text(f"{before}- Maya knows song {self.times}\n", encoding="utf-8")
        super().write(path, data, expected)


def test_mistake_26_what_is_saved_while_a_delivery_writes_is_read_before_it_is_replaced(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.hearer.hear("Maya has a cat")
    cabinet.disk = Editor(2)
    assert cabinet.deliver().counts == {"typed": 2}
    expected = {"Maya lives in Turin", "Maya has a cat", "Maya knows song 0", "Maya knows song 1"}
    assert set(cabinet.lines(DAY)) == set(cabinet.memories()) == expected
    cabinet.hearer.hear("Maya has a dog")
    cabinet.disk = Editor(100)
    report = cabinet.deliver()
    assert (report.state, "Maya knows song 92" in cabinet.read(DAY)) == ("failed", True)


def _summarize(cabinet: Cabinet, version: int, said: str) -> None:
    cabinet.hearer.sql(
        "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text, lines,"
        " made_by, summarizer) SELECT a.id, :scope, '2024-04-10', :version, true, 3, 1, :text, '[]', 'rules', 'rules/1'"
        " FROM slowwave.agents a",
        scope=cabinet.hearer.scope_id,
        version=version,
        text=said,
    )


def test_the_newest_summary_of_a_day_stands_in_its_file_and_an_edited_one_stays(cabinet: Cabinet) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    for version, said in enumerate(("She moved.", "She moved to Turin."), start=1):
        cabinet.age_files()
        cabinet.deliver()
        _summarize(cabinet, version, said)
        assert cabinet.deliver().written == 1
        assert f"\n{said}\n" in cabinet.read(DAY)
    assert "She moved.\n" not in cabinet.read(DAY)
    assert list(cabinet.lines(DAY)) == ["Maya lives in Turin"]
    cabinet.replace(DAY, "She moved to Turin.", "She moved to Turin, at last!")
    _summarize(cabinet, 3, "She moved and has a cat.")
    cabinet.deliver()
    assert "at last!" in cabinet.read(DAY)
    assert cabinet.deliver().written == 0


def test_summaries_that_are_there_when_the_backend_is_chosen_are_written(cabinet: Cabinet) -> None:
    choose_backend(cabinet.engine, "postgres", cabinet.hearer.now)
    _summarize(cabinet, 1, "She moved.")
    choose_backend(cabinet.engine, "file", cabinet.hearer.now)
    assert cabinet.deliver().written == 1
    assert "She moved." in cabinet.read(DAY)
