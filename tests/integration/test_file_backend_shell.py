"""The file backend in the shell, and as the tick sees it: what is due, what is wrong, what to do."""

import errno
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.memory_files.sync import due_scopes
from slowwave_server.services.reports.files import check_files
from tests.support.consolidating import NOW, Hearer
from tests.support.filing import CURATED, Cabinet
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers

DAY = "daily/2024-04-10.md"


class FullDisk(Disk):
    """A disk without room, until somebody makes some."""

    full = True

    def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        super().write(path, data, expected)


def shell_of(database_url: str, root: Path, backend: str = "file") -> Shell:
    return Shell(database_url, SLOWWAVE_MEMORY__BACKEND=backend, SLOWWAVE_MEMORY__FILES__ROOT=str(root))


@pytest.fixture
def cabinet(engine: Engine, tmp_path: Path) -> Cabinet:
    return Cabinet(engine, tmp_path)


@pytest.fixture
def shell(database_url: str, tmp_path: Path) -> Shell:
    return shell_of(database_url, tmp_path)


def _due(cabinet: Cabinet) -> list[str]:
    later = NOW + timedelta(days=9999)
    with cabinet.engine.connect() as connection:
        return [scope.name for scope in due_scopes(connection, cabinet.root, cabinet.disk, limit=10, now=later)]


def test_sync_writes_what_waits_and_reads_back_what_was_edited(cabinet: Cabinet, shell: Shell) -> None:
    cabinet.hearer.hear("Maya lives in Turin")
    assert shell.json("backend", "status", "files")["scopes"][0]["waiting"] == 1
    assert shell.json("backend", "sync", "files", "maya")["maya"]["written"] == 1
    cabinet.replace(DAY, "Turin", "Genoa")
    result = shell("backend", "sync", "files")
    assert (result.exit_code, "1 line edited" in result.stdout) == (0, True)
    status = shell.json("backend", "status", "files")
    assert (status["fed"], status["problem"]) == (True, None)
    assert [(one["scope"], one["memories"], one["waiting"]) for one in status["scopes"]] == [("maya", 1, 0)]


def test_what_is_held_back_is_told_with_what_to_do(cabinet: Cabinet, shell: Shell) -> None:
    for number in range(8):
        cabinet.hearer.hear(f"Maya owns book {number}")
    cabinet.deliver()
    cabinet.drop_line(DAY, "book")
    result = shell("backend", "sync", "files", "maya")
    assert (result.exit_code, "--allow-removals" in result.stdout) == (1, True)
    result = shell("backend", "status", "files")
    assert (result.exit_code, DAY in result.stdout) == (1, True)
    with cabinet.engine.connect() as connection:
        assert check_files(connection, "file", 30, now=NOW).verdict == "problem"
    assert shell("backend", "sync", "files", "maya", "--allow-removals").exit_code == 0
    assert set(cabinet.memories().values()) == {"removed by hand"}


def test_settings_that_disagree_and_names_that_are_not_known_are_told(
    cabinet: Cabinet, shell: Shell, database_url: str
) -> None:
    other = shell_of(database_url, cabinet.root, "postgres")
    result = other("backend", "status", "files")
    assert (result.exit_code, "another process" in result.stdout) == (1, True)
    assert other("backend", "sync", "files").exit_code == 2
    assert shell("backend", "sync", "files", "jonas").exit_code == 1
    with cabinet.engine.connect() as connection:
        assert check_files(connection, "postgres", 30, now=NOW).verdict == "problem"
        assert check_files(connection, "file", 30, now=NOW).verdict == "ok"


def test_a_disk_without_room_is_told_waited_for_and_made_up_for(cabinet: Cabinet, shell: Shell) -> None:
    cabinet.disk = disk = FullDisk()
    cabinet.hearer.hear("Maya lives in Turin")
    report = cabinet.deliver()
    assert (report.state, "No space left" in str(report.error)) == ("failed", True)
    status = shell.json("backend", "status", "files", exit_code=1)["scopes"][0]
    assert (status["waiting"], status["attempts"], "No space left" in status["last_error"]) == (1, 1, True)
    with cabinet.engine.connect() as connection:
        assert due_scopes(connection, cabinet.root, disk, limit=10, now=NOW) == []
        assert "No space left" in check_files(connection, "file", 30, now=NOW).finding
    cabinet.deliver()
    assert shell.json("backend", "status", "files", exit_code=1)["scopes"][0]["attempts"] == 2
    disk.full = False
    assert cabinet.deliver().written == 1
    assert shell.json("backend", "status", "files")["scopes"][0]["last_error"] is None


def test_what_waits_and_files_that_somebody_saved_are_due(cabinet: Cabinet) -> None:
    assert _due(cabinet) == []
    cabinet.hearer.hear("Maya lives in Turin")
    assert _due(cabinet) == ["maya"]
    cabinet.deliver()
    # So short a time after it was written the file's time proves nothing: it is looked at once more.
    assert _due(cabinet) == ["maya"]
    cabinet.age_files()
    cabinet.deliver()
    assert _due(cabinet) == []
    cabinet.add_line(DAY, "Maya plays the cello")
    assert _due(cabinet) == ["maya"]
    cabinet.deliver()
    cabinet.age_files()
    cabinet.deliver()
    (cabinet.folder / DAY).unlink()
    assert _due(cabinet) == ["maya"]


class LockedFolder(Disk):
    """Nobody may look into the folder of maya."""

    def paths(self, folder: Path) -> list[str]:
        if folder.name == "maya":
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return super().paths(folder)


def test_a_folder_that_cannot_be_read_keeps_no_other_waiting(cabinet: Cabinet) -> None:
    jonas = cabinet.root / "default" / "agent" / "jonas" / CURATED
    Hearer(cabinet.engine, agent="jonas")
    jonas.parent.mkdir(parents=True)
    jonas.write_text("- Jonas rows\n", encoding="utf-8")
    cabinet.disk = LockedFolder()
    assert _due(cabinet) == ["maya", "jonas"]
    report = cabinet.deliver()
    assert (report.state, "Permission denied" in str(report.error)) == ("failed", True)


def test_a_memory_and_a_run_name_the_file_that_they_rest_on(cabinet: Cabinet, shell: Shell) -> None:
    cabinet.write(CURATED, "- Maya plays the cello\n")
    run = cabinet.deliver().run
    memory = cabinet.named("Maya plays the cello")
    told = shell.json("memory", "show", str(memory.id))
    assert [(line["file"], line["trust"], line["run"]) for line in told["lines"]] == [(CURATED, "hand", run)]
    assert f"read in {CURATED}" in shell("memory", "list", "maya").stdout
    assert f"Read in files:\n  {CURATED}, " in shell("memory", "show", str(memory.id)).stdout
    changes = shell.json("run", "show", str(run))["changes"]
    assert [change["evidence"] for change in changes] == [[f"read in {CURATED}"]]


def test_a_question_about_a_clash_names_the_file_that_one_side_was_read_in(cabinet: Cabinet, shell: Shell) -> None:
    turin = cabinet.hearer.hear("Maya lives in Turin")
    cabinet.deliver()
    cabinet.replace(DAY, "Maya lives in Turin", "Maya lives in Genoa")
    cabinet.change(turin, content="Maya lives in Turin since March")
    assert cabinet.deliver().counts == {"clashes": 1}
    told = shell("inbox", "list").stdout
    assert ("Maya lives in Genoa" in told, f"read in {DAY}" in told) == (True, True), told
