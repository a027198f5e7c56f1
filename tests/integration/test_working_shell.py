"""`slowwave note add | working | consolidate` on real servers."""

from pathlib import Path

import pytest

from slowwave_server.models.engine import make_engine
from slowwave_server.services.working.store import cycle_lock
from tests.integration.test_reports_shell import Shell

pytestmark = pytest.mark.servers

KEY = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


@pytest.fixture
def shell(database_url: str, valkey_url: str, tmp_path: Path) -> Shell:
    return Shell(database_url, valkey_url, tmp_path)


def test_a_note_goes_in_is_listed_and_becomes_a_memory(shell: Shell) -> None:
    noted = shell.json("note", "add", "atlas", "Maya lives in Lisbon.", "--importance", "0.8", "--session", "monday")
    assert noted["added"]
    assert shell.json("note", "add", "atlas", "The build was slow today.", "--importance", "0.1", "--key", "k")["added"]
    again = shell("note", "add", "atlas", "The build was slow today.", "--key", "k")
    assert "A note with this key exists already" in again.stdout
    listed = shell.json("note", "list", "atlas")
    assert [(note["content"], note["treatment"]) for note in listed] == [
        ("Maya lives in Lisbon.", "keep"),
        ("The build was slow today.", "wait"),
    ]
    shown = shell("note", "list", "atlas").stdout
    assert "keep: important enough: 0.80, the minimum is 0.40" in shown
    assert "wait: not important enough: 0.10" in shown
    (report,) = shell.json("memory", "consolidate", "atlas")
    assert (report["mode"], report["state"], report["gathered"], report["persisted"]) == ("working", "completed", 1, 1)
    assert [memory["content"] for memory in shell.json("memory", "list", "atlas")] == ["Maya lives in Lisbon."]
    (settled,) = shell.json("note", "list", "atlas", "--settled")
    assert (settled["outcome"], settled["memory"]) == ("consolidated", report["outcomes"][0]["memory"])


def test_a_marked_note_is_kept_however_unimportant(shell: Shell) -> None:
    shell("note", "add", "atlas", "Jonas rows on Sundays.", "--importance", "0", "--mark")
    assert [note["why"] for note in shell.json("note", "list", "atlas")] == ["marked"]
    assert shell.json("memory", "consolidate", "atlas")[0]["persisted"] == 1


def test_a_dry_run_shows_and_changes_nothing(shell: Shell) -> None:
    shell("note", "add", "atlas", "Maya lives in Lisbon.")
    shown = shell("memory", "consolidate", "atlas", "--dry-run")
    assert shown.exit_code == 0
    assert "working: would be: 1 note: 1 kept" in shown.stdout
    assert "Maya lives in Lisbon." in shown.stdout
    assert shell.json("memory", "list", "atlas") == []
    assert len(shell.json("note", "list", "atlas")) == 1
    assert shell.json("run", "list") == []


def test_secrets_are_not_shown_before_a_note_is_consolidated_either(shell: Shell) -> None:
    shell("note", "add", "atlas", f"The deploy key is {KEY} for now.")
    for command, options in ((("note", "list"), []), (("memory", "consolidate"), ["--dry-run"])):
        for form in ([], ["--json"]):
            shown = shell(*command, "atlas", *options, *form)
            assert "deploy key" in shown.stdout
            assert KEY not in shown.output


def test_all_modes_run_one_after_the_other_and_say_what_they_did(shell: Shell) -> None:
    shell("note", "add", "atlas", "Maya lives in Lisbon.")
    reports = shell.json("memory", "consolidate", "atlas", "--mode", "all")
    assert [report["mode"] for report in reports] == ["working", "light", "deep"]
    assert [report["state"] for report in reports] == ["completed", "completed", "completed"]
    shown = shell("memory", "consolidate", "atlas", "--mode", "all").stdout
    assert "working: no note is due" in shown


def test_another_cycle_that_is_at_it_is_a_sentence_and_exit_3(shell: Shell, database_url: str) -> None:
    shell("note", "add", "atlas", "Maya lives in Lisbon.")
    engine = make_engine(database_url)
    with engine.connect() as connection:
        scope = connection.exec_driver_sql("SELECT id FROM slowwave.scopes").scalar_one()
        connection.rollback()
        with cycle_lock(connection, scope, wait_seconds=1):
            busy = shell("memory", "consolidate", "atlas")
    engine.dispose()
    assert busy.exit_code == 3
    assert "another cycle of this scope is under way" in busy.output


def test_names_that_are_not_there_are_told_with_the_nearest(shell: Shell) -> None:
    shell("note", "add", "atlas", "Maya lives in Lisbon.")
    for command in (("note", "list"), ("memory", "consolidate")):
        missing = shell(*command, "atlos")
        assert missing.exit_code == 1
        assert "did you mean 'atlas'" in missing.stderr
    assert "This scope does not exist yet." in shell("memory", "consolidate", "atlas", "--scope", "room:office").stdout
    assert shell("note", "add", "atlas", "x", "--scope", "kitchen").exit_code == 2
    assert shell("note", "add", "atlas", " ").exit_code == 2
    assert shell("note", "add", "atlas", "x", "--importance", "2").exit_code == 2
