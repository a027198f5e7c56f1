"""`slowwave alias list | show | add | remove` on real servers."""

from pathlib import Path

import pytest

from tests.integration.test_reports_shell import Shell

pytestmark = pytest.mark.servers


@pytest.fixture
def shell(database_url: str, valkey_url: str, tmp_path: Path) -> Shell:
    shell = Shell(database_url, valkey_url, tmp_path)
    shell("note", "add", "atlas", "The Kubernetes upgrade is done.", "--mark")
    shell("memory", "consolidate", "atlas")
    return shell


def test_names_are_added_listed_shown_and_removed(shell: Shell) -> None:
    assert "There are no aliases yet" in shell("alias", "list", "atlas").stdout
    added = shell("alias", "add", "atlas", "Kubernetes", "k8s", "--by", "ann")
    assert "added: Kubernetes · k8s" in added.stdout
    assert "added by ann" in shell("alias", "list", "atlas").stdout
    assert "Kubernetes · k8s · added by ann" in shell("alias", "show", "atlas", "k8s").stdout
    assert "The Kubernetes upgrade is done." in shell("search", "atlas", "k8s").stdout
    removed = shell.json("alias", "remove", "atlas", "k8s", "--by", "ann")
    assert (removed["action"], removed["pairs"]) == ("removed", [["Kubernetes", "k8s"]])
    assert shell.json("alias", "list", "atlas") == []
    assert [one["status"] for one in shell.json("alias", "list", "atlas", "--removed")] == ["removed"]
    assert "1 alias as before" in shell("run", "undo", str(removed["run"])).stdout
    assert [one["alias"] for one in shell.json("alias", "list", "atlas")] == ["k8s"]


def test_wrong_names_say_what_to_do(shell: Shell) -> None:
    failed = shell("alias", "add", "atlsa", "Kubernetes", "k8s")
    assert failed.exit_code == 1
    assert "did you mean 'atlas'" in failed.stderr
    failed = shell("alias", "remove", "atlas", "Kubernetes", "k8s")
    assert failed.exit_code == 1
    assert "`slowwave alias list` shows the pairs" in failed.stderr
    assert shell("alias", "show", "atlas", "Kubernetes").exit_code == 1
