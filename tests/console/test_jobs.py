"""The page of maintenance: how jobs stand, one run now, one paused; by who may see all that jobs work on."""

import io
import logging
import threading
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from sqlalchemy import Engine, text

from slowwave_server.services.maintenance.jobs import claim_job
from slowwave_server.workers.console.background import Finished, run_in_background
from slowwave_server.workers.shared.audit_log import write_log
from tests.console.conftest import TENANT, Console
from tests.support.maintaining import Host

pytestmark = pytest.mark.servers

LIGHT: dict[str, Any] = {"id": "light", "job_type": "consolidate_light", "cadence": "weekly"}
# No process has a runner for it.
UNHEARD: dict[str, Any] = {"id": "odd", "job_type": "unheard-of"}


@pytest.fixture
def host(engine: Engine) -> Host:
    host = Host(engine)
    host.only(LIGHT, UNHEARD)
    return host


def test_how_jobs_stand_is_for_all_to_read_and_for_operators_to_change(console: Console, host: Host) -> None:
    shown = console.get("/jobs").text
    assert "light" in shown
    assert "at the next tick" in shown
    assert "Run now" not in shown
    assert 'action="/jobs/light/run"' in console.get("/jobs", who="operator").text


def test_a_job_is_run_now_in_the_person_s_name(console: Console, host: Host) -> None:
    assert console.post("/jobs/light/run").status_code == 303
    (run,) = host.past("light")
    assert (run.status, run.started_by.startswith("operator@"), run.started_by.endswith("(console)")) == (
        "completed", True, True,
    )  # fmt: skip
    said = console.get("/jobs", who="operator").text
    assert f"light: run {run.id} completed in" in said
    assert host.job("light").last_status == "completed"
    before = host.job("light")
    console.post("/jobs/light/run", dry_run="yes")
    assert host.job("light") == before
    assert host.past("light")[1].stats["dry_run"] is True
    console.post("/jobs/odd/run")
    assert "nothing here runs jobs of the type" in console.get("/jobs", who="operator").text
    assert console.post("/jobs/nonsense/run").status_code == 404


def test_a_job_that_runs_already_is_not_run_a_second_time(console: Console, host: Host) -> None:
    with host.engine.begin() as connection:
        assert claim_job(connection, "light", now=datetime.now(UTC), lease_seconds=60, by="a worker", forced=True)
    refused = console.post("/jobs/light/run")
    assert (refused.status_code, "has a run under way" in refused.text) == (409, True)
    assert "for a worker" in console.get("/jobs").text


def test_a_job_is_paused_and_resumed(console: Console, host: Host) -> None:
    console.post("/jobs/light/pause")
    assert host.job("light").enabled is False
    paused = console.get("/jobs", who="operator").text
    assert "light is paused" in paused
    assert 'action="/jobs/light/resume"' in paused
    console.post("/jobs/light/resume")
    job = host.job("light")
    assert (job.enabled, job.next_due_at > datetime.now(UTC)) == (True, True)
    assert console.post("/jobs/light/pause", who="curator").status_code == 403


def test_i8_who_sees_some_tenants_alone_changes_nothing_that_works_on_others(console: Console, host: Host) -> None:
    with host.engine.begin() as connection:
        connection.execute(
            text("INSERT INTO slowwave.agents (tenant, name) VALUES (:t, 'a'), ('globex', 'b')"), {"t": TENANT}
        )
    assert "Only operators who see all tenants" in console.get("/jobs", who="operator").text
    for what in ("run", "pause", "resume"):
        refused = console.post(f"/jobs/light/{what}")
        assert (refused.status_code, "all tenants" in refused.text) == (403, True)
    assert (host.past(), host.job("light").enabled) == ([], True)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_journal_says_who_did_what_and_nothing_that_was_said(
    console: Console, host: Host, form: Literal["text", "json"]
) -> None:
    stream = io.StringIO()
    handler = write_log(console.settings.model_copy(update={"log_format": form}), stream)
    try:
        console.post("/jobs/light/pause")
        try:
            int("Maya lives in Lisbon.")
        except ValueError:
            logging.getLogger("slowwave_server.workers.console.failures").exception("a page failed")
    finally:
        logging.getLogger().removeHandler(handler)
    written = stream.getvalue()
    assert "maintenance job light was paused by operator" in written
    assert ("ValueError" in written, "test_jobs.py" in written, "Lisbon" in written) == (True, True, False)


def test_work_that_takes_long_goes_on_beside(caplog: pytest.LogCaptureFixture) -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(10)
        ended.set()
        raise ValueError("what somebody said")

    assert run_in_background("short", lambda: 7) == Finished(7)
    with pytest.raises(ZeroDivisionError):
        run_in_background("wrong", lambda: 1 // 0)
    assert run_in_background("long", work, wait_seconds=0) is None
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "console-long"]
    go_on.set()
    thread.join(10)
    assert ended.is_set()
    assert ("long failed: ValueError" in caplog.text, "somebody said" in caplog.text) == (True, False)
