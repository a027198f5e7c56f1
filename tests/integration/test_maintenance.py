"""The opportunistic scheduler on a real database: due jobs run once, missed ones once, dead ones again."""

import threading
from collections import Counter
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text

from slowwave_server.models.engine import make_engine
from slowwave_server.services.maintenance.due_check import DueCheck
from slowwave_server.services.maintenance.jobs import MAX_DEATHS, claim_job
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, Scheduler
from slowwave_server.services.runs.store import AlreadyRunning
from tests.support.flushing import Clock
from tests.support.installation import Installation
from tests.support.maintaining import START, Counting, Host, june

pytestmark = pytest.mark.servers

TEN: dict[str, Any] = {"id": "at-ten", "window_start": time(10), "window_end": time(11)}
QUARTER = timedelta(minutes=15)


@pytest.fixture
def host(engine: Engine) -> Host:
    host = Host(engine)
    host.only(TEN)
    return host


def lose(host: Host, job: str = "at-ten") -> None:
    """A process claims a job that is due and dies."""
    with host.engine.begin() as connection:
        assert claim_job(connection, job, now=host.clock(), lease_seconds=60, by="one that dies") is not None


def test_the_jobs_that_every_installation_has_begin_with_their_next_window(engine: Engine) -> None:
    host = Host(engine, at=june(2, 10, 30))
    assert host.tick() == [], "nothing is run for the past"
    due = {name: host.job(name).next_due_at for name in ("light-10", "light-15", "deep-weekly")}
    assert due == {"light-10": june(3, 10), "light-15": june(2, 15), "deep-weekly": june(7, 3)}


def test_a_due_job_runs_once_and_its_row_and_its_run_tell_of_it(host: Host) -> None:
    assert host.tick(june(2, 8)) == []
    assert host.tick(june(2, 9, 59)) == []
    assert host.tick(june(2, 10, 4)) == [("at-ten", "completed")]
    assert host.tick(june(2, 10, 5)) == []
    job, (run,) = host.job("at-ten"), host.past()
    assert (job.next_due_at, job.last_run_at) == (june(3, 10), june(2, 10, 4))
    assert (job.last_status, job.last_summary) == ("completed", "looked at 3 memories")
    assert (run.status, run.kind, run.job_id, run.stats) == ("completed", "other", "at-ten", {"seen": 3})
    assert (run.started_by, run.lease, run.completed_at) == ("a test", None, june(2, 10, 4))


def test_mistake_34_a_host_that_is_off_at_night_still_runs_the_job_of_four_in_the_morning(host: Host) -> None:
    host.only({"id": "at-four", "window_start": time(4), "window_end": time(5)})
    host.walk(june(6), every=QUARTER, off=lambda now: now.hour < 9)
    assert [at for _, at in host.runs] == [june(day, 9) for day in (3, 4, 5)]


def test_a_host_that_was_off_for_a_week_runs_each_missed_job_once(host: Host) -> None:
    host.only(
        TEN,
        {"id": "weekly", "cadence": "weekly", "weekday": 6, "window_start": time(3)},
        {"id": "hourly", "cadence": "interval", "interval_minutes": 60},
    )
    host.tick()
    host.clock.now = june(10, 12)
    assert host.tick() == [("hourly", "completed"), ("at-ten", "completed"), ("weekly", "completed")]
    assert host.tick() == []
    assert host.job("at-ten").next_due_at == june(11, 10)
    assert host.job("weekly").next_due_at == june(14, 3)
    assert host.job("hourly").next_due_at == june(10, 13)


def test_mistake_13_an_install_that_is_never_idle_still_consolidates(host: Host) -> None:
    """Due is due: no session is asked whether it rests, and here one always speaks."""
    installation = Installation(host.engine)
    agent, scope = installation.agent("busy"), installation.scope("busy")
    while host.clock() < june(4):
        spoke = {"last_seen_at": host.clock(), "dirty_since": host.clock()}
        installation.session(agent, scope, f"at {host.clock()}", ("Maya", "I moved again."), **spoke)
        host.tick()
        host.clock.pass_time(QUARTER.total_seconds())
    assert [at for _, at in host.runs] == [june(2, 10), june(3, 10)]


def test_a_failing_job_keeps_its_error_and_waits_for_its_schedule_and_the_others_run(host: Host) -> None:
    def fail(_context: JobContext) -> JobOutcome:
        raise ValueError("no \0 model\nand a second line")

    host.runners |= {"fail": fail}
    host.only(TEN, {"id": "bad", "job_type": "fail", "window_start": time(9)}, {"id": "odd", "job_type": "unheard-of"})
    host.tick()
    assert host.tick(june(3, 10)) == [("bad", "failed"), ("at-ten", "completed"), ("odd", "failed")]
    bad, odd = host.job("bad"), host.job("odd")
    assert (bad.last_status, bad.last_summary) == ("failed", "ValueError: no � model")
    assert odd.last_summary == "nothing here runs jobs of the type 'unheard-of'; known: count, fail"
    (run,) = host.past("bad")
    assert (run.status, run.error) == ("failed", "ValueError: no � model")
    assert host.tick(june(3, 10, 15)) == [], "no hot loop"
    assert bad.next_due_at == june(4, 9)


def test_a_job_whose_outcome_cannot_be_stored_has_failed(host: Host) -> None:
    host.counting.outcome = JobOutcome("odd", {"share": float("nan")})
    host.tick()
    assert host.tick(june(2, 10)) == [("at-ten", "failed")]
    assert "ValueError" in host.job("at-ten").last_summary


def test_a_job_without_a_usable_schedule_says_so_and_blocks_nothing(host: Host) -> None:
    host.only(
        TEN, {"id": "lost", "time_zone": "Atlantis"}, {"id": "lost-2", "time_zone": "Atlantis", "next_due_at": START}
    )
    host.tick()
    assert host.tick(june(2, 10)) == [("at-ten", "completed")]
    for name in ("lost", "lost-2"):
        job = host.job(name)
        assert (job.last_status, job.last_run_at) == ("failed", None)
        assert job.last_summary == "no schedule: time_zone: 'Atlantis' is not an IANA time zone"


def test_a_stopped_run_is_told_as_one(host: Host) -> None:
    host.counting.outcome = JobOutcome("it would have archived 40 %", {"asked": 1}, "stopped")
    host.tick()
    assert host.tick(june(2, 10)) == [("at-ten", "stopped")]
    assert host.job("at-ten").last_status == host.past()[0].status == "stopped"


def test_a_disabled_job_rests(host: Host) -> None:
    host.only(TEN | {"enabled": False, "next_due_at": START})
    assert host.tick(june(5)) == []


def test_a_dead_run_is_marked_and_the_next_tick_takes_the_job_over(host: Host) -> None:
    host.tick()
    host.clock.now = june(2, 10)
    lose(host)
    assert host.tick(june(2, 10, 0)) == [], "its lease still holds"
    host.clock.now = june(2, 10, 2)
    report = host.scheduler.tick()
    assert (report.taken_over, [r.job for r in report.ran]) == (("at-ten",), ["at-ten"])
    dead, run = host.past()
    assert (dead.status, dead.completed_at, run.status) == ("failed", june(2, 10, 2), "completed")
    assert "its lease ran out" in dead.error
    assert host.job("at-ten").next_due_at == june(3, 10)


def test_a_job_that_kills_whoever_runs_it_is_not_taken_over_for_ever(host: Host) -> None:
    host.tick()
    host.clock.now = june(2, 10)
    for _ in range(MAX_DEATHS):
        lose(host)
        host.clock.pass_time(120)
        host.scheduler.find_due()
    assert host.tick() == []
    assert host.job("at-ten").next_due_at == june(3, 10)
    assert len(host.past()) == MAX_DEATHS
    assert host.tick(june(3, 10)) == [("at-ten", "completed")], "its schedule goes on"


def test_runs_of_no_job_that_died_are_marked_too(host: Host) -> None:
    with host.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO slowwave.maintenance_runs (kind, started_at, lease, lease_until)"
                " VALUES ('working', :now, gen_random_uuid(), :now)"
            ),
            {"now": START},
        )
    host.tick()
    assert host.past()[0].status == "failed"


def test_a_long_run_renews_its_lease(engine: Engine) -> None:
    """The clock of this test does not move, so only a renewal can put the end of the lease off."""
    host, renewed = Host(engine, lease_seconds=1), threading.Event()
    host.only(TEN)

    def outlive(context: JobContext) -> None:
        host.clock.pass_time(30)
        for _ in range(500):
            with context.engine.connect() as connection:
                until = connection.execute(text("SELECT lease_until FROM slowwave.maintenance_runs")).scalar_one()
            if until > host.clock():
                renewed.set()
                return
            threading.Event().wait(0.02)

    host.counting.midst = outlive
    host.tick()
    assert host.tick(june(2, 10)) == [("at-ten", "completed")]
    assert renewed.is_set()


def test_a_run_that_lost_its_lease_learns_it_and_tells_nothing(engine: Engine) -> None:
    host, other = Host(engine, lease_seconds=1), Host(engine)
    host.only(TEN)

    def be_taken_over(context: JobContext) -> None:
        assert context.still_ours()
        assert other.tick(june(2, 10, 30)) == [("at-ten", "completed")]
        for _ in range(500):
            if not context.still_ours():
                return
            threading.Event().wait(0.02)
        raise AssertionError("it never learnt it")

    host.counting.midst = be_taken_over
    host.tick()
    assert host.tick(june(2, 10)) == [("at-ten", "lost")]
    dead, run = host.past()
    assert (dead.status, run.status) == ("failed", "completed")
    assert host.job("at-ten").last_run_at == june(2, 10, 30)


def test_a_process_that_is_told_to_stop_leaves_the_job_to_the_next_tick(host: Host) -> None:
    def stop(_context: JobContext) -> None:
        raise KeyboardInterrupt

    host.tick()
    host.counting.midst = stop
    with pytest.raises(KeyboardInterrupt):
        host.tick(june(2, 10))
    assert host.past()[0].error == "it was interrupted (KeyboardInterrupt)"
    host.counting.midst = lambda _context: None
    assert host.tick(june(2, 10, 1)) == [("at-ten", "completed")]


def test_a_clock_set_back_by_seconds_repeats_nothing(host: Host) -> None:
    host.tick()
    assert host.tick(june(2, 10, 0)) == [("at-ten", "completed")]
    assert host.tick(june(2, 9, 59)) == []
    assert host.tick(june(2, 10, 1)) == []
    assert host.job("at-ten").next_due_at == june(3, 10)


def test_a_clock_set_back_by_long_blocks_no_job_for_long(host: Host) -> None:
    host.tick(june(30, 12))
    assert host.job("at-ten").next_due_at > june(30, 12)
    assert host.tick(june(2, 8)) == []
    assert host.job("at-ten").next_due_at == june(2, 10)


def test_a_run_that_died_before_the_clock_was_set_back_is_found(host: Host) -> None:
    host.tick(june(29, 12))
    host.clock.now = june(30, 10)
    lose(host)
    assert host.tick(june(2, 8)) == [("at-ten", "completed")]


def test_a_job_runs_now_whatever_its_due_time_and_dry_without_a_trace_on_it(host: Host) -> None:
    host.tick()
    host.only(TEN | {"enabled": False, "next_due_at": june(2, 10)})
    seen = []
    host.counting.midst = lambda context: seen.append(context.dry_run)
    dry = host.scheduler.run_now("at-ten", dry_run=True)
    assert dry is not None
    assert (dry.status, dry.stats) == ("completed", {"seen": 3, "dry_run": True})
    assert (host.job("at-ten").last_run_at, host.job("at-ten").next_due_at) == (None, june(2, 10))
    assert host.scheduler.run_now("at-ten") is not None
    assert host.job("at-ten").last_run_at == START
    assert seen == [True, False]
    assert host.scheduler.run_now("nonsense") is None


def test_a_job_has_one_run_at_a_time(host: Host) -> None:
    def again(context: JobContext) -> None:
        other = Scheduler(host.engine, host.runners, host.settings, clock=host.clock, by="another")
        host.counting.midst = lambda _context: None
        with pytest.raises(AlreadyRunning):
            other.run_now("at-ten")
        # Its due time passes while it still runs.
        host.clock.now = june(3, 10)
        with context.engine.begin() as connection:
            connection.execute(text("UPDATE slowwave.maintenance_runs SET lease_until = :t"), {"t": june(3, 11)})
        assert other.tick().ran == ()

    host.counting.midst = again
    host.tick()
    assert host.tick(june(2, 10)) == [("at-ten", "completed")]
    assert host.tick() == [("at-ten", "completed")], "what became due meanwhile runs after it"


def test_many_ticks_at_once_run_each_due_job_once(database_url: str) -> None:
    """Eight hosts with an engine each, and a barrier: as many ticks at the same moment, over several days."""
    hosts = [Host(make_engine(database_url)) for _ in range(8)]
    counting = Counting()
    hosts[0].only(*({"id": f"job-{number}", "window_start": time(10)} for number in range(5)))
    hosts[0].tick()
    barrier = threading.Barrier(len(hosts))
    ran: list[tuple[str, str]] = []

    def wake(host: Host, at: datetime) -> None:
        barrier.wait(30)
        ran.extend(host.tick(at))

    for host in hosts:
        host.runners["count"] = counting
    for day in (2, 3, 4):
        threads = [threading.Thread(target=wake, args=(host, june(day, 10))) for host in hosts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    each = Counter(job for job, _ in counting.runs)
    assert each == {f"job-{number}": 3 for number in range(5)}
    assert {status for _, status in ran} == {"completed"}
    assert len(hosts[0].past()) == len(ran) == 15
    for host in hosts:
        host.engine.dispose()


def test_many_ticks_at_once_take_a_dead_job_over_once(database_url: str) -> None:
    hosts = [Host(make_engine(database_url), at=june(2, 12)) for _ in range(6)]
    hosts[0].only(TEN | {"next_due_at": june(2, 10)})
    lose(hosts[0])
    barrier = threading.Barrier(len(hosts))

    def wake(host: Host) -> None:
        barrier.wait(30)
        host.tick(june(2, 12, 5))

    threads = [threading.Thread(target=wake, args=(host,)) for host in hosts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.status for run in hosts[0].past()] == ["failed", "completed"]
    for host in hosts:
        host.engine.dispose()


def test_a_tick_survives_that_postgres_was_restarted_since_the_last_one(host: Host, database_url: str) -> None:
    """Workers don't test their connections before use, and between two ticks lie 15 minutes."""
    worker = Host(make_engine(database_url, pre_ping=False, autocommit=True))
    cut = text(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    def cut_all() -> None:
        with host.engine.connect() as connection:
            connection.execute(cut)

    worker.tick()
    cut_all()
    assert worker.tick(june(2, 10)) == [("at-ten", "completed")]
    cut_all()
    worker.clock.now = june(3, 10)
    report = worker.scheduler.run_if_due("at-ten")
    assert report is not None
    assert report.status == "completed"
    worker.engine.dispose()


def test_a_write_asks_rarely_and_leaves_time_after_a_yes(host: Host) -> None:
    now = Clock(START)
    check = DueCheck(host.engine, monotonic=lambda: now().timestamp(), seconds=5, rest_seconds=60)
    assert not check.is_due(june(2, 12)), "no due time is computed yet"
    host.tick()
    assert not check.is_due(june(2, 12)), "it does not ask again at once"
    now.pass_time(6)
    assert check.is_due(june(2, 12))
    now.pass_time(30)
    assert not check.is_due(june(2, 12)), "whoever was told is given time"
    now.pass_time(31)
    assert check.is_due(june(2, 12))
