"""The shell asks real workers what they listen to, and finds none where none is (mistake 30)."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest
from redis import Redis

from slowwave.coordination.flush_queue import redis_from_url
from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings
from slowwave_server.services.reports.sweeping import check_workers
from slowwave_server.workers.shared.listening import listening
from tests.support.processes import wait_until

pytestmark = [pytest.mark.servers, pytest.mark.workers]
QUIET = ("--without-gossip", "--without-mingle")


@pytest.fixture
def worker(database_url: str, valkey_url: str, redis_client: Redis) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of two queues."""
    variables = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url}
    command = [sys.executable, "-m", "celery", "-A", "slowwave_server", "worker", "-c", "1", "-n", "two@test"]
    command += ["-Q", "flush.high,flush", "-l", "error", *QUIET]
    process = subprocess.Popen(command, env=os.environ | variables, start_new_session=True)
    yield process
    end(process)


def end(worker: subprocess.Popen[bytes]) -> None:
    """Kill it with its child: what it does when it is asked to end is no matter here, and takes seconds."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(timeout=30)


def test_mistake_30_a_queue_that_nobody_reads_is_named(
    worker: subprocess.Popen[bytes], valkey_url: str, redis_client: Redis
) -> None:
    wait_until(lambda: bool(listening(redis_client, Settings(broker_url=valkey_url))), 60, "the worker answers")
    found = listening(redis_client, Settings(broker_url=valkey_url))
    assert found == {"two@test": frozenset({"flush.high", "flush"})}
    check = check_workers(found)
    assert check.verdict == "problem"
    assert all(queue in check.finding for queue in set(QUEUES) - {"flush.high", "flush"})
    end(worker)
    wait_until(lambda: listening(redis_client, Settings(broker_url=valkey_url)) == {}, 30, "nobody answers any more")


def test_a_broker_that_is_away_is_unknown_and_not_empty() -> None:
    nowhere = "redis://127.0.0.1:1/0"
    assert listening(redis_from_url(nowhere), Settings(broker_url=nowhere)) is None
