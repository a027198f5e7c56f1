"""`slowwave inbox`: questions and contradictions, as a person reads and answers them, and as a script does."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave_server.services.review.decisions import expire_due
from tests.support.installation import NOW
from tests.support.reviewing import Dispute
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


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
    return Shell(database_url, valkey_url, tmp_path, LOGNAME="priya")


@pytest.fixture
def told(engine: Engine) -> Told:
    return Told(engine)


def test_a_list_shows_both_statements_with_their_sources(shell: Shell, told: Told) -> None:
    shown = shell.text("inbox", "list")
    for part in ("Maya works at Acme.", "Maya works at Globex.", "from 2026-03-03", "monday#1", "source: user"):
        assert part in shown
    assert shown.index("medium") < shown.index("low")
    assert shown.index("Maya is a vegan.") < shown.index("Maya eats fish.")
    assert "expires" in shown
    assert f"q{told.which}" in shown
    assert re.search(rf"\bc{told.employers}\b", shown) is None, "the question stands for its contradiction"


def test_json_has_every_side_with_its_sources(shell: Shell, told: Told) -> None:
    first, second = shell.json("inbox", "list")
    assert (first["id"], first["tier"], first["memory"]) == (f"q{told.which}", "medium", None)
    assert first["conflict"] == told.employers
    later, earlier = first["sides"]
    assert (later["id"], earlier["id"]) == (str(told.globex), str(told.acme))
    assert [(s["session"], s["seq"], s["speaker"]) for s in earlier["sources"]] == [("monday", 1, "Maya")]
    assert (second["id"], second["kind"], second["memory"]) == (f"q{told.claim}", "claim", str(told.vegan))


def test_filters_narrow_what_is_listed(shell: Shell, told: Told) -> None:
    def listed(*options: str) -> list[str]:
        return [row["id"] for row in shell.json("inbox", "list", *options)]

    which, claim = f"q{told.which}", f"q{told.claim}"
    assert listed("--tier", "low") == [claim]
    assert listed("--older-than", "7d") == [which]
    assert listed("--agent", "maya", "--limit", "1") == [which]
    assert listed("--scope", "room:kitchen") == []
    assert set(listed("--decided")) == {which, claim}
    assert shell("inbox", "list", "--older-than", "soon").exit_code == 2
    assert shell("inbox", "list", "--agent", "myaa").exit_code == 1
    assert "The inbox is empty." in shell.text("inbox", "list", "--tier", "high")


def test_show_says_what_each_answer_does_and_changes_nothing(shell: Shell, told: Told) -> None:
    before = told.dump()
    answers = shell.json("inbox", "show", f"q{told.claim}")["answers"]
    assert set(answers) == {"keep", "archive", "later", "earlier", "both", "same", "neither", "no answer"}
    assert answers["archive"].startswith("this memory is archived")
    answers = shell.json("inbox", "show", f"q{told.which}")["answers"]
    assert set(answers) == {"later", "earlier", "both", "same", "neither", "no answer"}
    assert answers["later"] == "the earlier statement holds until 2026-03-03, and the later statement from then on"
    assert answers["earlier"].startswith("the later statement is archived")
    assert answers["both"] == "both hold beside each other"
    assert shell.json("inbox", "show", f"c{told.employers}")["answers"]["later"] == answers["later"]
    shown = shell.text("inbox", "show", f"q{told.which}")
    assert "line 0" in shown
    assert f"slowwave inbox answer ANSWER q{told.which}" in shown
    assert told.dump() == before


def test_an_answer_is_a_run_that_can_be_undone(shell: Shell, told: Told) -> None:
    before = told.dump()
    report = shell.json("inbox", "answer", "later", f"q{told.which}", "--by", "Jonas")
    assert [one["outcome"] for one in report["results"]] == ["decided"]
    assert told.row(told.acme).superseded_by == told.globex
    assert told.item(told.which).decided_by == "Jonas"
    assert "closed by Jonas" in shell.text("inbox", "list", "--decided")
    assert shell.json("inbox", "show", f"q{told.which}")["answers"] == {}
    late = shell("inbox", "answer", "both", f"q{told.which}")
    assert late.exit_code == 1
    assert f"question {told.which} was accepted already by Jonas" in late.stderr
    shell.text("run", "undo", report["runs"][0])
    assert told.dump() == before


def test_who_answers_is_the_login_name_unless_named(shell: Shell, told: Told) -> None:
    shown = shell.text("inbox", "answer", "both", f"c{told.employers}")
    assert "1 item answered in run" in shown
    assert told.item(told.which).decided_by == "priya"


def test_each_answer_about_two_statements_does_what_it_says(shell: Shell, told: Told) -> None:
    shell.text("inbox", "answer", "earlier", f"q{told.which}")
    assert told.status(told.globex) == ("archived", "rejected")
    assert told.item(told.which).state == "accepted"
    shell.text("inbox", "answer", "same", f"q{told.claim}", "--into", told.fish)
    assert told.row(told.vegan).merged_into == told.fish


def test_neither_rejects_both_statements(shell: Shell, told: Told) -> None:
    shell.text("inbox", "answer", "neither", f"c{told.employers}")
    assert told.status(told.globex) == told.status(told.acme) == ("archived", "rejected")


def test_keep_puts_a_claim_into_answers(shell: Shell, told: Told) -> None:
    shell.text("inbox", "answer", "keep", f"q{told.claim}")
    assert told.status(told.vegan)[0] == "active"


def test_an_answer_that_does_not_fit_is_refused(shell: Shell, told: Told) -> None:
    before = told.dump()
    wrong = shell("inbox", "answer", "keep", f"q{told.which}")
    assert wrong.exit_code == 2
    assert "later, earlier, both, same, neither" in " ".join(wrong.stderr.split())
    assert shell("inbox", "answer", "later", "12").exit_code == 2
    assert told.dump() == before


def test_many_are_answered_at_once_after_a_dry_run(shell: Shell, told: Told) -> None:
    before = told.dump()
    tried = shell.text("inbox", "answer", "archive", "--tier", "low", "--dry-run")
    assert "status review → archived" in tried
    assert "Nothing was changed" in tried
    assert told.dump() == before
    shell.text("inbox", "answer", "both", "--agent", "maya", "--older-than", "7d")
    assert (told.item(told.which).state, told.item(told.claim).state) == ("rejected", "open")
    shell.text("inbox", "answer", "archive", "--all")
    assert told.item(told.claim).state == "rejected"
    assert "No open item fits" in shell.text("inbox", "answer", "keep", "--all")


def test_i8_another_tenants_items_are_not_there(shell: Shell, told: Told) -> None:
    assert shell.json("--tenant", "other", "inbox", "list") == []
    for item in (f"q{told.which}", f"c{told.employers}"):
        assert "tenant 'other' has no item" in shell("--tenant", "other", "inbox", "show", item).stderr
    report = shell.json("--tenant", "other", "inbox", "answer", "later", f"q{told.which}", exit_code=1)
    assert report["results"][0]["outcome"] == "unknown"
    assert told.item(told.which).state == "open"


def test_an_expired_question_says_so(shell: Shell, told: Told) -> None:
    assert expire_due(told.engine, NOW + timedelta(days=3650), "worker") == 2
    (shown,) = [row for row in shell.json("inbox", "list", "--decided") if row["id"] == f"q{told.claim}"]
    assert shown["closed"]
    assert shown["sides"][0]["archive_reason"] == "review expired"
