"""`slowwave note curate` and retention on a real database: sentences, JSON, exit codes, and undo of runs."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave_server.services.consolidation.scope_lock import scope_lock
from tests.support.consolidating import Hearer
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


@pytest.fixture
def shell(database_url: str, tmp_path: Path) -> Shell:
    return Shell(database_url, folder=tmp_path)


def test_curate_shows_does_and_can_be_taken_back(shell: Shell, engine: Engine) -> None:
    hearer = Hearer(engine)
    note = hearer.hear("Maya is allergic to peanuts.", importance=0.8)
    shown = shell("note", "curate", "maya", "--dry-run").stdout
    assert "would be: 1 note curated" in shown
    assert "status inbox → active" in shown
    assert hearer.memory(note).status == "inbox"
    report = shell.json("note", "curate", "maya")
    assert (report["state"], report["curated"]) == ("completed", 1)
    assert "1 pass a day may be made here" in shell("note", "curate", "maya").stdout
    (listed,) = shell.json("run", "list", "--kind", "curation")
    assert (listed["id"], listed["scope"]) == (report["run"], "agent:maya")
    assert shell("run", "undo", str(report["run"]), "--by", "Priya").exit_code == 0
    assert hearer.memory(note).status == "inbox"


def test_curate_says_what_stands_in_its_way(shell: Shell, engine: Engine) -> None:
    hearer = Hearer(engine)
    unknown = shell("note", "curate", "room:kitchen")
    assert (unknown.exit_code, "has no scope room:kitchen" in unknown.stderr) == (1, True)
    with scope_lock(engine, hearer.scope_id):
        busy = shell("note", "curate", "maya")
    assert (busy.exit_code, "another pass is running on this scope" in busy.stdout) == (3, True)
    assert shell("note", "curate", "room:").exit_code == 2


def test_retention_is_the_job_run_by_hand(shell: Shell) -> None:
    told = shell("job", "run", "retention", "--dry-run")
    assert told.exit_code == 0
    assert "events are kept for ever (memory.retention.event_days is 0)" in told.stdout
    report = shell.json("job", "run", "retention")
    assert (report["job"], report["status"], report["stats"]["events"]) == ("retention", "completed", 0)
