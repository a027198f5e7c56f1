"""The shell's commands for maintenance jobs on a real database, and the daemon as a process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from slowwave.settings import Maintenance
from slowwave_server.domain.health_limits import FAILED_RUNS
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.maintenance.config import InvalidJob, Wish, configure
from slowwave_server.services.maintenance.jobs import claim_job
from slowwave_server.services.reports.doctor import check_maintenance
from slowwave_server.workers.jobs import job_runners
from tests.support.maintaining import START, Host, june
from tests.support.processes import wait_until
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers

TEN: dict[str, Any] = {"id": "at-ten", "window_start": time(10), "window_end": time(11)}
# No process has a runner for it, so that a test need not do real work to see that the job was run.
UNHEARD = {"job_type": "unheard-of"}


@pytest.fixture
def host(engine: Engine) -> Host:
    host = Host(engine)
    host.only(TEN)
    return host


@pytest.fixture
def shell(database_url: str) -> Shell:
    return Shell(database_url)


def test_status_lists_the_seeded_jobs_and_what_runs(shell: Shell, engine: Engine) -> None:
    shown = shell.json("job", "list")
    jobs = ["curation", "deep-weekly", "finalize-days", "light-10", "light-15", "retention"]
    assert [job["id"] for job in shown["jobs"]] == jobs
    deep = shown["jobs"][1]
    assert (deep["weekday"], deep["window_start"], deep["window_end"]) == ("sunday", "03:00", "06:00")
    assert (deep["next_due_at"], deep["late_seconds"]) == (None, None)
    assert "weekly on sunday 03:00-06:00 (UTC)" in shell("job", "list").stdout
    past = datetime.now(UTC) - timedelta(hours=3)
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.maintenance_jobs SET next_due_at = :t"), {"t": past})
        claim_job(connection, "light-10", now=past, lease_seconds=60, by="a dead one")
        claim_job(connection, "light-15", now=past, lease_seconds=20_000, by="priya@laptop")
    shown = shell("job", "list").stdout
    assert "now, for 3 h" in shown
    assert "run 1 of light-10, started 3 h ago, has died" in shown
    assert "run 2 of light-15 has been running for 3 h, started by priya@laptop" in shown
    assert [run["alive"] for run in shell.json("job", "list")["running"]] == [False, True]


def test_tick_runs_what_is_due_and_says_what_failed(shell: Shell, host: Host) -> None:
    assert shell("job", "tick").stdout == "Nothing is due.\n"
    host.only(TEN | UNHEARD | {"next_due_at": START - timedelta(days=999)})
    ticked = shell.json("job", "tick", exit_code=1)
    (ran,) = ticked["ran"]
    assert (ran["job"], ran["status"]) == ("at-ten", "failed")
    assert "nothing here runs jobs of the type 'unheard-of'" in ran["summary"]
    assert shell("job", "tick").exit_code == 0
    assert host.job("at-ten").next_due_at > datetime.now(UTC)
    assert host.past()[0].started_by.endswith("(tick)")


def test_run_runs_a_job_now_and_names_those_there_are(shell: Shell, host: Host) -> None:
    host.only(TEN | UNHEARD | {"enabled": False})
    ran = shell("job", "run", "at-ten")
    assert (ran.exit_code, "at-ten: run 1 failed" in " ".join(ran.stdout.split())) == (1, True)
    dry = shell.json("job", "run", "at-ten", "--dry-run", exit_code=1)
    assert dry["stats"] == {"dry_run": True}
    unknown = shell("job", "run", "at-nine")
    assert (unknown.exit_code, "there is no job 'at-nine'; there are: at-ten" in unknown.stderr) == (1, True)
    with host.engine.begin() as connection:
        claim_job(connection, "at-ten", now=datetime.now(UTC), lease_seconds=60, by="another", forced=True)
    busy = shell("job", "run", "at-ten")
    assert (busy.exit_code, "has a run under way" in busy.stderr) == (1, True)


def test_every_job_of_a_new_installation_has_a_runner_and_runs(shell: Shell, engine: Engine) -> None:
    for job in shell.json("job", "list")["jobs"]:
        assert job["job_type"] in job_runners()
        assert shell.json("job", "run", job["id"])["status"] == "completed"
    kinds = {run.job_id: run.kind for run in Host(engine).past()}
    passes = {"light-10": "light", "light-15": "light", "deep-weekly": "deep"}
    assert kinds == passes | dict.fromkeys(("curation", "finalize-days", "retention"), "other")


def test_config_changes_a_window_and_plans_anew_where_that_is_asked_for(shell: Shell, host: Host) -> None:
    host.tick()
    before = host.job("at-ten").next_due_at
    kept = shell("job", "config", "at-ten", "--window-start", "12:30", "--window-end", "14:00")
    assert "The next run keeps its time" in kept.stdout
    job = host.job("at-ten")
    assert (job.window_start, job.window_end, job.next_due_at) == (time(12, 30), time(14), before)
    made = shell.json("job", "config", "at-ten", "--time-zone", "Europe/Berlin", "--recompute-next")
    assert made["changed"] == ["next_due_at", "time_zone"]
    due = datetime.fromisoformat(made["next_due_at"])
    assert datetime.now(UTC) < due < datetime.now(UTC) + timedelta(days=1, hours=2)
    assert shell("job", "config", "at-ten").stdout.endswith("Nothing was changed.\n")


def test_config_says_what_is_wrong_and_what_is_known(shell: Shell, host: Host) -> None:
    for options, words in (
        (("--cadence", "hourly"), "'hourly' is not one of daily, weekly, interval"),
        (("--cadence", "interval"), "interval_minutes is needed"),
        (("--interval-minutes", "5"), "interval_minutes is needed by the cadence interval, and by no other"),
        (("--weekday", "someday"), "'someday' is not one of monday, tuesday"),
        (("--weekday", "sunday"), "weekly jobs alone"),
        (("--window-start", "25:00"), "neither a time of day like 10:00"),
        (("--window-end", "10"), "neither a time of day like 10:00"),
        (("--window-start", "10:00+02:00"), "the zone is set by itself"),
        (("--time-zone", "Europe/Berlni"), "did you mean 'Europe/Berlin'?"),
    ):
        result = shell("job", "config", "at-ten", *options)
        assert (result.exit_code, result.stdout) == (2, ""), options
        assert words in result.stderr, result.stderr
    assert host.job("at-ten").window_start == time(10), "nothing was changed"


def wished(host: Host, wish: Wish, *, recompute: bool = False) -> Any:
    with host.engine.begin() as connection:
        configure(connection, "at-ten", wish, recompute=recompute, now=host.clock())
    return host.job("at-ten")


def test_what_belongs_to_another_cadence_goes_with_it(host: Host) -> None:
    job = wished(host, Wish(cadence="weekly", weekday="Sun", window_start="none", window_end="24:00"))
    assert (job.cadence, job.weekday, job.window_start, job.window_end) == ("weekly", 6, None, time())
    job = wished(host, Wish(cadence="interval", interval_minutes=90))
    assert (job.interval_minutes, job.weekday) == (90, None)
    job = wished(host, Wish(cadence="daily"))
    assert job.interval_minutes is None


def test_a_job_that_is_enabled_again_does_not_run_for_the_time_it_was_off(host: Host) -> None:
    host.only(TEN | {"next_due_at": june(1, 10)})
    wished(host, Wish(enabled=False))
    host.clock.now = june(9, 12)
    assert host.tick() == []
    assert wished(host, Wish(enabled=True)).next_due_at == june(10, 10)


def test_a_jobs_command_for_models_reaches_its_runner(host: Host) -> None:
    seen: list[Any] = []
    host.counting.midst = lambda context: seen.append(context.job.details)
    wished(host, Wish(llm_command="ask --brief"))
    host.scheduler.run_now("at-ten")
    wished(host, Wish(llm_command="none"))
    host.scheduler.run_now("at-ten")
    assert seen == [{"llm_command": "ask --brief"}, {}]


def test_an_unknown_job_or_zone_changes_nothing(host: Host) -> None:
    with host.engine.begin() as connection, pytest.raises(UnknownName) as caught:
        configure(connection, "at-tne", Wish(), recompute=True, now=START)
    assert caught.value.nearest == ("at-ten",)
    with pytest.raises(InvalidJob):
        wished(host, Wish(time_zone="Atlantis"))


def health(host: Host) -> tuple[str, str]:
    with host.engine.connect() as connection:
        check = check_maintenance(connection, Maintenance(tick_seconds=900), now=host.clock())
    return check.verdict, check.finding


def test_the_doctor_sees_jobs_that_nobody_runs_and_jobs_that_keep_failing(host: Host) -> None:
    host.only(TEN | {"created_at": START - timedelta(hours=1)})
    assert health(host) == ("problem", "due and not run: at-ten for 1 h")
    host.tick()
    assert health(host) == ("ok", "1 job; none is late or keeps failing")
    host.clock.now = june(2, 10, 29)
    assert health(host)[0] == "ok", "two ticks may be missed"
    host.clock.now = june(2, 12)
    assert health(host) == ("problem", "due and not run: at-ten for 2 h")
    with host.engine.begin() as connection:
        claim_job(connection, "at-ten", now=host.clock(), lease_seconds=60, by="somebody", plan=False)
    assert health(host) == ("ok", "0 jobs; none is late or keeps failing"), "it is being run"
    host.only(TEN | UNHEARD)
    host.tick()
    for number in range(FAILED_RUNS):
        assert health(host)[0] == "ok", f"after {number} failures"
        host.tick(june(3 + number, 10))
    verdict, finding = health(host)
    assert (verdict, "failed 3 times in a row: at-ten (nothing here runs" in finding) == ("problem", True)
    host.runners["unheard-of"] = host.counting
    host.tick(june(8, 10))
    assert health(host)[0] == "ok"


HELD = """
import sys, threading
from pathlib import Path
from slowwave_server.services.maintenance.scheduler import JobOutcome, Scheduler
from slowwave_server.workers.cli.job_ticks import run_ticks
from slowwave_server.workers.shared.shell import Shell

shell, folder = Shell(), Path(sys.argv[1])

def held(context):
    (folder / "begun").touch()
    while not (folder / "go").exists():
        threading.Event().wait(0.02)
    return JobOutcome("done")

scheduler = Scheduler(shell.engine, {"held": held}, shell.settings, clock=shell.now, by="a test")
run_ticks(shell, scheduler, interval_seconds=1, tell=lambda report: None)
"""


@pytest.fixture
def held(database_url: str, host: Host, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon's loop in the midst of a job, with another that is due after it."""
    past = {"job_type": "held", "next_due_at": START - timedelta(days=999)}
    host.only(TEN | past, {"id": "later"} | past | {"next_due_at": START - timedelta(days=998)})
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SLOWWAVE_")}
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, str(tmp_path)],
        env=clean | {"SLOWWAVE_DATABASE_URL": database_url},
        stderr=subprocess.DEVNULL,
    )
    wait_until((tmp_path / "begun").exists, 40, "the job has begun")
    yield process
    process.kill()
    process.wait(10)


def test_the_daemon_ends_after_the_running_job(held: subprocess.Popen[bytes], host: Host, tmp_path: Path) -> None:
    held.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        held.wait(1)
    (tmp_path / "go").touch()
    assert held.wait(20) == 0
    (run,) = host.past()
    assert (run.job_id, run.status) == ("at-ten", "completed"), "the next job is left to the next tick"


def test_the_daemon_ends_at_once_when_told_twice_and_its_job_is_due_again(
    held: subprocess.Popen[bytes], host: Host
) -> None:
    held.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        held.wait(1)
    held.send_signal(signal.SIGTERM)
    assert held.wait(20) != 0
    (run,) = host.past()
    assert (run.status, run.error) == ("failed", "it was interrupted (KeyboardInterrupt)")
    assert host.job("at-ten").next_due_at <= datetime.now(UTC)


def test_the_daemon_waits_for_an_absent_database_until_ctrl_c(tmp_path: Path) -> None:
    nowhere = {"SLOWWAVE_DATABASE_URL": "postgresql://slowwave:hidden-word@127.0.0.1:1/slowwave"}
    command = [sys.executable, "-c", "from slowwave_server.workers.cli import main; main()", "job", "daemon"]
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(command, env=os.environ | nowhere, stderr=err)
    try:
        wait_until(lambda: "no tick: Postgres does not answer" in (tmp_path / "err").read_text(), 40, "it says so")
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        said = (tmp_path / "err").read_text()
        assert "hidden-word" not in said
        assert "Traceback" not in said
    finally:
        process.kill()


@pytest.fixture
def daemon(database_url: str, host: Host, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    host.only(TEN | UNHEARD | {"next_due_at": START - timedelta(days=999)})
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SLOWWAVE_")}
    command = [sys.executable, "-c", "from slowwave_server.workers.cli import main; main()", "job", "daemon"]
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            [*command, "--interval-seconds", "1", "--json"],
            env=clean | {"SLOWWAVE_DATABASE_URL": database_url},
            stdout=out,
            stderr=err,
        )
    yield process
    process.kill()
    process.wait(10)


def test_the_daemon_ticks_by_itself_and_ends_cleanly(
    daemon: subprocess.Popen[bytes], host: Host, tmp_path: Path
) -> None:
    def ticks() -> list[Any]:
        return [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]

    wait_until(lambda: len(ticks()) >= 2, 40, "two ticks")
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(30) == 0
    assert (tmp_path / "err").read_text() == ""
    assert [len(tick["ran"]) for tick in ticks()[:2]] == [1, 0]
    (run,) = host.past()
    assert (run.status, run.started_by.endswith("(daemon)")) == ("failed", True)
