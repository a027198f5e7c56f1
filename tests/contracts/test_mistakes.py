"""docs/mistakes.md: all numbers are there, and each names tests that exist and run in CI."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.tables import for_each

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
ROWS = {int(number): tests for number, _, _, tests in ROW.findall((ROOT / "docs" / "mistakes.md").read_text("utf-8"))}
NUMBERS = range(1, 43)


@cache
def functions(file: str) -> dict[str, list[str]]:
    """Each test of a file with its marks."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {
        node.name: [ast.unparse(mark) for mark in node.decorator_list]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


def test_every_mistake_has_its_row() -> None:
    assert list(ROWS) == list(NUMBERS)


@for_each("number", NUMBERS)
def test_its_tests_exist_bear_its_number_and_are_not_skipped(number: int) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", ROWS[number])
    assert named, "no test is named"
    for file, name in named:
        assert name in functions(file), f"{file} has no {name}"
        numbers = re.search(r"test_mistakes?_((?:\d+_|and_)+)", name)
        assert numbers, name
        assert number in map(int, re.findall(r"\d+", numbers[1])), name
        assert not any("skip" in mark or "xfail" in mark for mark in functions(file)[name])
