"""Maintenance jobs through real workers: each due job runs once, whoever ticks and whatever dies."""

import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import MAINTENANCE_TICK, RUN_MAINTENANCE
from tests.support.maintaining import Host
from tests.support.processes import wait_until
from tests.workers.effects import until_flushed
from tests.workers.fleet import Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

APP = "tests.workers.jobs_app"


@pytest.fixture
def host(look: Engine) -> Host:
    """Looks at the jobs, and runs none."""
    return Host(look)


@pytest.fixture
def worker(fleet: Fleet) -> Iterator[Program]:
    program = fleet.worker(
        app=APP, SLOWWAVE_MEMORY__MAINTENANCE__LEASE_SECONDS="2", SLOWWAVE_MEMORY__MAINTENANCE__TICK_AFTER_WRITES="true"
    )
    yield program
    program.end()


@pytest.fixture(autouse=True)
def clean(folder: Path) -> None:
    for file in (*folder.glob("hold-*"), *folder.glob("ran")):
        file.unlink()


def send(client: redis.Redis, task: str, *arguments: str) -> None:
    publish(client, "maintenance", envelope(task, list(arguments), {}, "maintenance", task_id=new_id()))


def make_due(host: Host, count: int) -> list[str]:
    names = [f"job-{number}" for number in range(count)]
    since = datetime.now(UTC) - timedelta(hours=30)
    host.only(*({"id": name, "job_type": "note", "next_due_at": since} for name in names))
    return names


def traces(folder: Path) -> list[tuple[str, int]]:
    if not (folder / "ran").exists():
        return []
    lines = (folder / "ran").read_text("ascii").splitlines()
    return [(line.split()[0], int(line.split()[1])) for line in lines]


def ended(host: Host, *, status: str = "completed") -> int:
    return sum(run.status == status for run in host.past())


def test_two_ticks_at_the_same_time_on_two_workers_run_each_due_job_once(
    fleet: Fleet, own_valkey: OwnValkey, host: Host, folder: Path
) -> None:
    host.only()
    workers = [fleet.worker(app=APP, concurrency=2) for _ in range(2)]
    client = own_valkey.client
    ended_tick = re.compile(r"maintenance_tick\[.*succeeded")
    wait_until(lambda: sum(len(ended_tick.findall(w.log)) for w in workers) == 2, 20, "the ticks of their start ended")
    jobs = make_due(host, 6)
    for job in jobs:
        (folder / f"hold-{job}").touch()
    for _ in range(2):
        send(client, MAINTENANCE_TICK)
    wait_until(lambda: len(traces(folder)) >= 4, 20, "every child of both workers has a job")
    for _ in range(4):
        send(client, MAINTENANCE_TICK)
        for job in jobs:
            send(client, RUN_MAINTENANCE, job)
    for job in jobs:
        (folder / f"hold-{job}").unlink()
    wait_until(lambda: ended(host) == len(jobs), 20, "every job has run")
    wait_until(lambda: client.llen("maintenance") == 0, 20, "every message is through")
    wait_until(lambda: all("succeeded" in worker.log for worker in workers), 10, "both have worked")
    assert Counter(job for job, _ in traces(folder)) == dict.fromkeys(jobs, 1)
    assert len({pid for _, pid in traces(folder)}) >= 4, "the jobs were spread"
    assert [run.status for run in host.past()] == ["completed"] * len(jobs)
    assert {run.stats["noted"] for run in host.past()} == {1}
    for job in jobs:
        assert host.job(job).next_due_at > datetime.now(UTC)
        assert host.job(job).last_status == "completed"
    for worker in workers:
        worker.end()


def test_a_job_that_was_missed_while_everything_was_off_runs_when_a_worker_starts(
    host: Host, folder: Path, fleet: Fleet
) -> None:
    """Mistake 34: nobody sends a tick, beat does not run."""
    make_due(host, 1)
    worker = fleet.worker(app=APP)
    wait_until(lambda: ended(host) == 1, 20, "the job has run")
    worker.end()
    assert len(traces(folder)) == 1


def test_a_job_whose_worker_was_killed_is_taken_over_by_another_tick(
    fleet: Fleet, own_valkey: OwnValkey, host: Host, folder: Path, worker: Program
) -> None:
    client = own_valkey.client
    (job,) = make_due(host, 1)
    (folder / f"hold-{job}").touch()
    send(client, MAINTENANCE_TICK)
    wait_until(lambda: len(traces(folder)) == 1, 20, "it runs")
    os.kill(traces(folder)[0][1], signal.SIGKILL)
    (folder / f"hold-{job}").unlink()
    wait_until(lambda: host.past()[0].lease_until < datetime.now(UTC), 20, "its lease is over")
    send(client, MAINTENANCE_TICK)
    wait_until(lambda: ended(host) == 1, 20, "it was taken over")
    dead, run = host.past()
    assert (dead.status, run.status) == ("failed", "completed")
    assert "its lease ran out" in dead.error
    assert len(traces(folder)) == 2


def test_a_write_wakes_a_due_job_where_that_is_wanted(
    worker: Program, host: Host, folder: Path, memory: Memory, look: Engine
) -> None:
    make_due(host, 1)
    memory.turn_completed("maya", "s1", [{"role": "user", "content": "I moved to Bergen."}])
    memory.session_idle("maya", "s1")
    until_flushed(look, 30, "maya")
    wait_until(lambda: ended(host) == 1, 20, "the job has run")
    assert len(traces(folder)) == 1


def test_a_message_for_a_job_that_is_not_there_is_no_work_and_a_bad_one_a_dead_letter(
    worker: Program, own_valkey: OwnValkey, host: Host, look: Engine
) -> None:
    host.only()
    send(own_valkey.client, RUN_MAINTENANCE, "no-such-job")
    publish(
        own_valkey.client,
        "maintenance",
        envelope(RUN_MAINTENANCE, [], {"jobb": "x"}, "maintenance", task_id=new_id()),
    )
    wait_until(lambda: own_valkey.client.llen("maintenance") == 0, 10, "both are taken")

    def letters(about: str) -> list[str]:
        with look.connect() as connection:
            found = connection.execute(text("SELECT payload::text || error FROM slowwave.dead_letters ORDER BY id"))
            return [letter for letter in found.scalars() if about in letter]

    # Of these two alone: a tick before may have asked for a job once more than it was due, and that job is gone.
    wait_until(lambda: letters("no-such-job") != [] and letters("jobb") != [], 10, "both lie in dead letters")
    (unknown,), (bad,) = letters("no-such-job"), letters("jobb")
    assert "there is no job 'no-such-job'" in unknown
    assert "job: is missing" in bad
