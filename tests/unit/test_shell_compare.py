"""`slowwave memory compare`: one answer a pair, in their order; a bad line is named and nothing is answered."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

from slowwave_server.workers.cli.main import app
from tests.support.shelling import CliRunner

KEYS = {"verdict", "score", "reasons"}


def run(*arguments: str, stdin: str | bytes | None = None, **variables: str) -> Result:
    return CliRunner().invoke(app, ["memory", "compare", *arguments], input=stdin, env=variables)


def test_two_statements_are_judged_on_one_line() -> None:
    shown = run("Maya works at Northwind", "Maya works at Contoso")
    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == ["conflict 0.68 employer: one says Contoso, the other Northwind"]


def test_json_is_one_line_a_pair_in_the_same_order(tmp_path: Path) -> None:
    pairs = [
        ("Maya likes tea", "Maya likes tea."),
        ("Maya likes tea", "Maya does not like tea"),
        ("Maya\N{LINE SEPARATOR}likes tea", "Jonas likes tea"),
    ]
    file = tmp_path / "pairs.jsonl"
    lines = [json.dumps({"a": a, "b": b}, ensure_ascii=False) for a, b in pairs]
    file.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    shown = run("--file", str(file), "--json")
    told = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [one["verdict"] for one in told] == ["duplicate", "conflict", "distinct"]
    assert [set(one) for one in told] == [KEYS, KEYS | {"model"}, KEYS]
    assert sum(told[1]["model"].values()) == pytest.approx(1, abs=0.001)
    assert told[1]["reasons"] == ["only one is negated"]
    assert told == [json.loads(run(a, b, "--json").stdout) for a, b in pairs]


def test_pairs_come_from_stdin_too() -> None:
    shown = run("--file", "-", stdin='{"a": "Maya likes tea", "b": "Jonas likes tea"}')
    assert shown.stdout.startswith("distinct ")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("not JSON", "the line is not JSON"),
        ('["a", "b"]', "got list"),
        ('{"a": "x"}', "`b` is missing"),
        ('{"a": 7, "b": "y"}', "`a` must be a text, got 7"),
        (b'{"a": "\xff", "b": "y"}', "not UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_answered(line: str | bytes, wrong: str) -> None:
    bad = line if isinstance(line, bytes) else line.encode()
    shown = run("--file", "-", "--json", stdin=b'{"a": "x", "b": "y"}\n' + bad)
    assert shown.exit_code == 2
    assert "line 2" in shown.stderr
    assert wrong in shown.stderr
    assert shown.stdout == ""


@pytest.mark.parametrize("arguments", [(), ("one",), ("a", "b", "--file", "-"), ("--file", "/nowhere/pairs.jsonl")])
def test_a_call_that_names_no_pairs_is_refused(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_thresholds_come_from_the_settings() -> None:
    pair = ("Maya plays the cello in an orchestra", "Maya plays the cello in an orchestra of students")
    assert run(*pair).stdout.startswith("synthesise")
    strict = run(*pair, SLOWWAVE_MEMORY__CONSOLIDATION__SYNTHESIZE_THRESHOLD="0.895")
    assert strict.stdout.startswith("related")
