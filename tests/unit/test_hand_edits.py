"""What a person did to a file, told from what is remembered of its lines; and files that are saved while we write them.

Mistake 26: a stale snapshot written back.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from slowwave_server.domain.hand_edits import HandEdits, KnownLine, hand_edits, ids_in, line_digest
from slowwave_server.domain.memory_files import FileHeader, FileMemory, parse_document, render_line, render_memory_md
from slowwave_server.services.memory_files.disk import Disk, FileChanged, digest_of

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
HEADER = FileHeader("default", "agent", "maya", "UTC", 0)
FIRST, SECOND, STRANGE = (UUID(int=number) for number in (1, 2, 3))


def _memory(identity: UUID, content: str) -> FileMemory:
    return FileMemory(identity, "fact", content, "active", 0.5, 0.5, "user", (), NOW, NOW)


MEMORIES = [_memory(FIRST, "Maya lives in Turin"), _memory(SECOND, "Maya has a cat")]
WRITTEN = "".join(render_memory_md(HEADER, MEMORIES))
KNOWN = {
    entry.memory.id: KnownLine(line_digest(entry.memory.content, entry.raw), 0)
    for entry in parse_document(WRITTEN).entries
    if entry.memory is not None and entry.memory.id is not None
}


def _edits(text: str) -> HandEdits:
    entries = parse_document(text).entries
    return hand_edits(entries, KNOWN, ids_in(entries) - {STRANGE})


def test_what_was_written_has_no_edits() -> None:
    found = _edits(WRITTEN)
    assert (found.are_statements, found.same, found.marked, found.notes) == (False, {FIRST, SECOND}, {}, [])


def test_an_edited_a_removed_and_a_typed_line_are_told_apart() -> None:
    lines = WRITTEN.replace("in Turin", "in Genoa").splitlines(keepends=True)
    text = "".join(line for line in lines if "cat" not in line) + "- Maya sails\n"
    found = _edits(text)
    assert [(edit.memory, edit.shown.content) for edit in found.edited] == [(FIRST, "Maya lives in Genoa")]
    assert (list(found.removed), [typed.text for typed in found.typed]) == ([SECOND], ["Maya sails"])


def test_a_copy_of_a_line_is_nothing_and_with_a_text_of_its_own_a_statement() -> None:
    line = render_line(MEMORIES[0])
    assert not _edits(f"{WRITTEN}{line}\n").are_statements
    found = _edits(f"{line.replace('Turin', 'Genoa')}\n{WRITTEN}")
    assert ([typed.text for typed in found.typed], found.edited) == (["Maya lives in Genoa"], [])


def test_who_writes_on_in_a_new_line_before_the_mark_adds_a_statement_and_edits_none() -> None:
    line = render_line(MEMORIES[0])
    found = _edits(WRITTEN.replace(line, line.replace(" <!--", "\n- and works there <!--")))
    assert ([typed.text for typed in found.typed], list(found.marked.values())) == (["and works there"], [FIRST])
    assert (found.edited, found.removed) == ([], {})


def test_a_damaged_mark_archives_nothing() -> None:
    found = _edits(WRITTEN.replace(f"slowwave {FIRST} fact active", f"slowwave {FIRST} fcat active"))
    assert (found.removed, found.edited, len(found.notes)) == ({}, [], 1)
    found = _edits(WRITTEN.replace("from=2026-03-01T09:00:00Z -->", "from=2026-03-01T0", 1))
    assert (found.removed, found.typed, len(found.notes)) == ({}, [], 1)


def test_a_mark_of_nobody_is_left_alone() -> None:
    strange = render_line(replace(MEMORIES[0], id=STRANGE, content="Jonas lives in Bern"))
    found = _edits(f"{WRITTEN}{strange}\n")
    assert (found.are_statements, found.left, len(found.notes)) == (False, {STRANGE}, 1)


@pytest.mark.parametrize(
    ("known", "removed", "accident"), [(10, 5, False), (30, 9, False), (30, 10, True), (6, 6, True)]
)
def test_mistake_37_many_lines_at_once_are_an_accident(known: int, removed: int, *, accident: bool) -> None:
    edits = HandEdits(removed={UUID(int=number): KnownLine(b"", 0) for number in range(removed)})
    assert edits.is_accident(known) is accident


def test_mistake_26_a_file_that_was_saved_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_text("read", encoding="utf-8")
    disk = Disk()
    before = disk.read(file)
    assert before is not None
    file.write_text("saved meanwhile", encoding="utf-8")
    with pytest.raises(FileChanged):
        disk.write(file, b"ours", before.digest)
    with pytest.raises(FileChanged):
        disk.write(file, b"ours", None)
    assert file.read_text(encoding="utf-8") == "saved meanwhile"
    disk.write(file, b"ours", digest_of(b"saved meanwhile"))
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("MEMORY.md", b"ours")]


def test_a_replaced_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "notes.md", tmp_path / "MEMORY.md"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    Disk().write(link, b"after", digest_of(b"before"))
    assert (link.is_symlink(), target.read_bytes(), target.stat().st_mode & 0o777) == (True, b"after", 0o640)
