"""`slowwave memory export | import` as people and scripts use them: sentences, JSON, exit codes."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.support.exporting import Scope, files
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


@pytest.fixture
def scope(engine: Engine, tmp_path: Path) -> Scope:
    scope = Scope(engine, tmp_path / "out")
    scope.make()
    scope.remember(1, "Maya prefers tea", status="active")
    return scope


@pytest.fixture
def shell(database_url: str, tmp_path: Path) -> Shell:
    return Shell(database_url, SLOWWAVE_MEMORY__FILES__ROOT=str(tmp_path / "canonical"))


def test_export_and_import_tell_what_they_did(shell: Shell, scope: Scope, tmp_path: Path) -> None:
    told = shell("memory", "export", "Maya Lee", str(scope.root))
    assert told.exit_code == 0, told.output
    assert "agent Maya Lee  1 memory, 1 of them curated, 1 day, 2 files written" in told.stdout
    (again,) = shell.json("memory", "export", "--all", str(scope.root))["exported"]
    assert (again["written"], again["unchanged"]) == ([], 2)
    assert shell.json("memory", "import", "Maya Lee", str(scope.root))["read"]["run"] is None
    assert "1 known" in shell("memory", "import", "Maya Lee", str(scope.root)).stdout

    would = shell("memory", "import", "jonas", str(scope.folder), "--dry-run")
    assert "Maya prefers tea" in would.stdout
    assert "would be: 1 statement: 1 new" in would.stdout
    taken = shell("memory", "import", "jonas", str(scope.folder))
    assert "`slowwave run undo " in taken.stdout
    run = str(shell.json("run", "list", "--kind", "import")[0]["id"])
    assert shell("run", "undo", run).exit_code == 0
    assert scope.memories("jonas") == []


def test_edited_lines_and_bad_ones_end_with_1(shell: Shell, scope: Scope) -> None:
    shell("memory", "export", "Maya Lee", str(scope.root))
    path = scope.folder / "MEMORY.md"
    path.write_text(path.read_text().replace("tea", "coffee"))
    refused = shell("memory", "export", "Maya Lee", str(scope.root))
    assert refused.exit_code == 1
    assert "MEMORY.md line 5" in refused.stderr
    assert "coffee" in path.read_text()
    assert shell("memory", "export", "Maya Lee", str(scope.root), "--force").exit_code == 0
    assert "tea" in path.read_text()
    path.write_text(path.read_text().replace("confidence=0.5", "confidence=much"))
    bad = shell("memory", "import", "Maya Lee", str(scope.root))
    assert bad.exit_code == 1
    assert "MEMORY.md line 5: confidence must be a number from 0 to 1" in bad.stderr
    assert "tea" not in bad.stderr


@pytest.mark.parametrize(
    ("call", "code", "sentence"),
    [
        (("memory", "export", "Maya", "DIR"), 1, "did you mean 'Maya Lee'"),
        (("memory", "export", "room:attic", "DIR"), 1, "no room 'attic'"),
        (("memory", "export", "DIR"), 2, "give SCOPE and DIR"),
        (("memory", "import", "Maya Lee", "DIR"), 2, "does not exist"),
        (("memory", "import", "Maya Lee", "."), 1, "there are no memory files"),
    ],
)
def test_what_can_not_be_done_is_a_sentence(
    shell: Shell, scope: Scope, tmp_path: Path, call: tuple[str, ...], code: int, sentence: str
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"DIR": str(tmp_path / "none"), ".": str(tmp_path / "empty")}
    result = shell(*(places.get(word, word) for word in call))
    assert result.exit_code == code, result.output
    assert sentence in " ".join(result.stderr.replace("│", " ").split())


def test_the_canonical_files_are_not_exported_over(shell: Shell, scope: Scope, tmp_path: Path) -> None:
    told = shell("memory", "export", "Maya Lee", str(tmp_path / "canonical"), SLOWWAVE_MEMORY__BACKEND="file")
    assert told.exit_code == 2
    assert files(tmp_path / "canonical") == {}
