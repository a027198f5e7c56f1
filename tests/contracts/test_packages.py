"""Client and server are two distributions: one version, no shared module, no module that loads under two names."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slowwave.version import VERSION
from tests.support.documents import blocks

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "slowwave_server"
MEMBERS = {path.stem for path in SERVER.iterdir() if path.is_symlink()}
LISTED = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False)
MODULES = [ROOT / name for name in LISTED.stdout.split("\0") if name and not name.startswith("slowwave_server/")]
INSTALL_COMMAND = re.compile(r"pip install[^`\n]*")
NAMES_A_DISTRIBUTION = re.compile(r"(?<![\w./-])slowwave(?:[-_]server)?(?:\[|'|\"|\s|$|==)")


def _project(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def test_server_depends_on_the_client_of_its_own_version() -> None:
    (needed,) = [line for line in _project(ROOT)["dependencies"] if line.startswith("slowwave")]
    assert needed == f"slowwave=={VERSION}"


def test_server_has_a_member_for_each_folder_of_its_code() -> None:
    beside = {"slowwave_server", "tests", "bench", "proof", "examples", "docs_reference"}
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - beside
    assert folders | {"beat_schedule"} == MEMBERS
    for path in SERVER.iterdir():
        assert not path.is_symlink() or path.resolve() == ROOT / path.name


def imported(tree: ast.AST) -> Iterator[str]:
    """The names of all modules that a program imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module


_MAYBE = re.compile(rf"\b(?:from|import)\s(?:[\w., ]*,)?\s*(?:{'|'.join(sorted(MEMBERS))})\b")
"""A text without a match imports no member of the server by its bare name, so the test need not parse it."""


def test_no_module_is_imported_by_the_name_of_its_folder() -> None:
    """`workers.app` and `slowwave_server.workers.app` are two modules to Python, each with its own state."""
    assert len(MODULES) > 500
    programs = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in MODULES}
    programs |= {block.name: block.text for block in blocks(info="python")}
    found = {
        (name, module)
        for name, text in programs.items()
        if _MAYBE.search(text)
        for module in imported(ast.parse(text))
        if module.partition(".")[0] in MEMBERS
    }
    assert found == set()


def test_an_import_by_the_name_of_the_folder_is_found() -> None:
    """So that the check above can fail."""
    text = "import workers.app\nfrom models import Base"
    assert set(imported(ast.parse(text))) == {"workers.app", "models"}
    assert all(_MAYBE.search(line) for line in (*text.splitlines(), "import re, tasks as t", "if x: import domain"))


@pytest.mark.parametrize("folder", [".", "client"])
def test_extras_name_extras_that_exist(folder: str) -> None:
    known = {name: set(_project(ROOT / place)["optional-dependencies"]) for name, place in _PLACES.items()}
    for lines in _project(ROOT / folder)["optional-dependencies"].values():
        for line in lines:
            found = re.match(r"(slowwave|slowwave-server)\[([^\]]+)\]", line)
            assert found is None or set(found[2].split(",")) <= known[found[1]], line


_PLACES = {"slowwave": "client", "slowwave-server": "."}


def test_no_text_installs_from_an_index_that_has_neither_distribution() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kinds = (".md", ".py", ".yaml", ".toml", "Dockerfile")
    own = "tests/contracts/test_packages.py"
    texts = [ROOT / name for name in listed.split("\0") if name.endswith(kinds) and name != own]
    found = []
    for path in filter(Path.is_file, texts):
        commands = INSTALL_COMMAND.findall(path.read_text(encoding="utf-8"))
        found += [(path.name, command) for command in commands if NAMES_A_DISTRIBUTION.search(command)]
    assert found == []
