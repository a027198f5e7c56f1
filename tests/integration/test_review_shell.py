"""Review and conflicts from the shell: as a person reads them, and as a script does."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine
from typer.testing import Result

from slowwave_server.services.review.decisions import expire_due
from slowwave_server.workers.cli.main import app
from tests.support.installation import NOW
from tests.support.reviewing import Dispute
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers


class Shell:
    """Runs commands against the database of this test."""

    def __init__(self, database_url: str, valkey_url: str, folder: Path) -> None:
        self.variables = {
            "SLOWWAVE_DATABASE_URL": database_url,
            "SLOWWAVE_BROKER_URL": valkey_url,
            "SLOWWAVE_SPOOL": str(folder / "spool"),
            "LOGNAME": "priya",
        }

    def __call__(self, *arguments: Any) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], env=self.variables)

    def text(self, *arguments: Any) -> str:
        result = self(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *arguments: Any, exit_code: int = 0) -> Any:
        result = self(*arguments, "--json")
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)


class Told(Dispute):
    """Two employers of Maya, and a claim of her assistant's that contradicts what she eats."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.acme = self.memory("Maya works at Acme.", days=9)
        self.globex = self.memory("Maya works at Globex.", days=2)
        self.fish = self.memory("Maya eats fish.", days=9)
        self.vegan = self.memory("Maya is a vegan.", trust="assistant", status="active", days=2)
        self.employers, self.which = self.conflict(self.globex, self.acme, now=datetime.now(UTC) - timedelta(days=8))
        self.diet, self.claim = self.in_review(self.vegan, self.fish, now=datetime.now(UTC))


@pytest.fixture
def shell(database_url: str, valkey_url: str, tmp_path: Path) -> Shell:
    return Shell(database_url, valkey_url, tmp_path)


@pytest.fixture
def told(engine: Engine) -> Told:
    return Told(engine)


def test_a_list_shows_both_statements_with_dates_sources_and_trust(shell: Shell, told: Told) -> None:
    shown = shell.text("inbox", "list")
    for part in ("Maya works at Acme.", "Maya works at Globex.", "from 2026-03-03", "monday#1", "on the word of: user"):
        assert part in shown
    assert shown.index("medium") < shown.index("low")
    assert shown.index("Maya is a vegan.") < shown.index("Maya eats fish.")
    assert "lapses" in shown
    shown = shell.text("inbox", "list")
    assert f"asked in question {told.which}" in shown
    assert f"asked in question {told.claim}" in shown


def test_json_has_every_side_with_its_sources(shell: Shell, told: Told) -> None:
    first, second = shell.json("inbox", "list")
    assert (first["id"], first["tier"], first["memory"]) == (told.which, "medium", None)
    (conflict,) = first["conflicts"]
    assert (conflict["newer"]["id"], conflict["older"]["id"]) == (str(told.globex), str(told.acme))
    assert [(s["session"], s["seq"], s["speaker"]) for s in conflict["older"]["sources"]] == [("monday", 1, "Maya")]
    assert (second["memory"]["id"], second["memory"]["status"]) == (str(told.vegan), "review")
    assert second["conflicts"][0]["older"]["id"] == str(told.fish)
    assert [row["id"] for row in shell.json("inbox", "list")] == [told.diet, told.employers]


def test_filters_narrow_what_is_listed(shell: Shell, told: Told) -> None:
    def listed(*options: str) -> list[int]:
        return [row["id"] for row in shell.json("inbox", "list", *options)]

    assert listed("--tier", "low") == [told.claim]
    assert listed("--older-than", "7d") == [told.which]
    assert listed("--agent", "maya", "--limit", "1") == [told.which]
    assert listed("--scope", "room:kitchen") == listed("--state", "expired") == []
    assert set(listed("--state", "any")) == {told.which, told.claim}
    assert shell("inbox", "list", "--older-than", "soon").exit_code == 2
    assert shell("inbox", "list", "--agent", "myaa").exit_code == 1
    assert "Nothing is asked." in shell.text("inbox", "list", "--tier", "high")


def test_show_says_what_each_answer_would_do_and_changes_nothing(shell: Shell, told: Told) -> None:
    before = told.dump()
    answers = shell.json("review", "show", told.claim)["answers"]
    assert answers["accept"] == "this memory is in answers again; both hold beside each other"
    assert answers["reject"].startswith("this memory is archived, and stays so")
    assert answers["merge"] == "this memory is merged into the other statement, with the sources of both"
    answers = shell.json("review", "show", told.which)["answers"]
    assert answers["accept"] == "the earlier statement holds until 2026-03-03, and the later statement from then on"
    assert answers["no answer"] == "all stays as it is, and nobody is asked any more"
    answers = shell.json("conflicts", "show", told.employers)["answers"]
    assert answers[f"resolve {told.employers} --keep {told.acme}"].startswith("the later statement is archived")
    assert answers[f"dismiss {told.employers}"] == "both hold beside each other"
    assert "line 0" in shell.text("review", "show", told.which)
    assert "slowwave conflicts resolve" in shell.text("conflicts", "show", told.employers)
    assert told.dump() == before


def test_an_answer_is_a_run_that_can_be_taken_back(shell: Shell, told: Told) -> None:
    before = told.dump()
    report = shell.json("review", "accept", told.which, "--by", "Jonas")
    assert report["results"][0]["outcome"] == "decided"
    assert told.row(told.acme).superseded_by == told.globex
    assert told.item(told.which).decided_by == "Jonas"
    assert "accepted by Jonas" in shell.text("inbox", "list", "--state", "accepted")
    assert shell.json("review", "show", told.which)["answers"] == {}
    late = shell("review", "reject", told.which)
    assert late.exit_code == 1
    assert f"question {told.which} was accepted already by Jonas" in late.stderr
    shell.text("run", "undo", report["run"])
    assert told.dump() == before


def test_who_decides_is_the_person_at_the_shell_unless_named(shell: Shell, told: Told) -> None:
    assert "decided in run" in shell.text("conflicts", "dismiss", told.employers)
    assert told.item(told.which).decided_by == "priya"


def test_many_are_answered_at_once_after_a_look(shell: Shell, told: Told) -> None:
    before = told.dump()
    tried = shell.text("review", "reject", "--tier", "low", "--dry-run")
    assert "status review → archived" in tried
    assert "Nothing was changed" in tried
    assert told.dump() == before
    shell.text("review", "reject", "--agent", "maya", "--older-than", "7d")
    assert (told.item(told.which).state, told.item(told.claim).state) == ("rejected", "open")
    shell.text("review", "reject", "--all")
    assert told.item(told.claim).state == "rejected"
    assert "No open question fits." in shell.text("review", "accept", "--all")
    for call in (["accept"], ["reject", "--all", "7"]):
        assert shell("inbox", *call).exit_code == 2


def test_resolve_and_merge_take_the_memory_that_stays(shell: Shell, told: Told) -> None:
    wrong = shell("conflicts", "resolve", told.employers, "--keep", UUID(int=7))
    assert wrong.exit_code == 1
    assert "is neither" in wrong.stderr
    shell.text("conflicts", "resolve", told.employers, "--keep", told.acme)
    assert told.status(told.globex) == ("archived", "rejected")
    shell.text("review", "merge", told.claim, "--into", told.fish)
    assert told.row(told.vegan).merged_into == told.fish


def test_i8_another_tenants_questions_are_not_there(shell: Shell, told: Told) -> None:
    assert shell.json("--tenant", "other", "inbox", "list") == []
    assert shell.json("--tenant", "other", "inbox", "list") == []
    for call in (("review", "show", told.which), ("conflicts", "show", told.employers)):
        assert "tenant 'other' has no" in shell("--tenant", "other", *call).stderr
    report = shell.json("--tenant", "other", "review", "accept", told.which, exit_code=1)
    assert report["results"][0]["outcome"] == "unknown"
    assert told.item(told.which).state == "open"


def test_a_question_that_lapsed_says_so(shell: Shell, told: Told) -> None:
    assert expire_due(told.engine, NOW + timedelta(days=3650), "worker") == 2
    (shown,) = [row for row in shell.json("inbox", "list", "--state", "expired") if row["id"] == told.claim]
    assert shown["memory"]["archive_reason"] == "review expired"
