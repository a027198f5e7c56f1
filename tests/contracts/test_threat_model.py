"""The threat model names tests that are there, and every attack that is there stands in it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_test_that_the_threat_model_names_is_there(file: str, test: str) -> None:
    path = ROOT / file
    assert path.is_file()
    defined = {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}
    assert not test or test in defined


def test_every_attack_stands_in_the_threat_model() -> None:
    files = {f"tests/attacks/{path.name}" for path in (ROOT / "tests" / "attacks").glob("test_*.py")}
    assert files - {file for file, _ in NAMED} == set()
    assert len(NAMED) > 40


def test_every_row_of_an_attack_names_what_tries_it() -> None:
    """A table whose head says `tried by` has a test in each of its rows."""
    tables = re.findall(r"\|[^\n]*tried by \|\n\|[-| ]+\n((?:\|[^\n]*\n)+)", PAGE)
    assert len(tables) >= 6
    for table in tables:
        for row in table.splitlines():
            assert "`tests/" in row.rsplit("|", 2)[1], row
