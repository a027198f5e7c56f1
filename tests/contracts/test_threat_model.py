"""The threat model names tests that are there, and every attack that is there stands in it."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


def test_each_test_that_the_threat_model_names_is_there() -> None:
    assert [f"{file}::{test}" for file, test in NAMED if not _is_there(ROOT / file, test)] == []


def _is_there(path: Path, test: str) -> bool:
    return path.is_file() and (not test or test in _tests_of(path))


@cache
def _tests_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


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
