"""A process of a worker's pool that somebody stopped: the worker replaces it, and its work is done."""

import os
import signal
import uuid
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave_server.workers.stopped_children import is_stopped
from tests.support.processes import wait_until
from tests.workers.effects import value
from tests.workers.fleet import PLAIN_APP, Fleet

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system tells no state of processes")


@needs_proc
def test_a_stopped_process_of_the_pool_is_replaced(fleet: Fleet, memory: Memory, look: Engine) -> None:
    worker = fleet.worker(app=PLAIN_APP)
    worker.says("ready.")
    stopped = worker.children()
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(map(is_stopped, stopped)), 10, "they are stopped")
    memory.turn_completed("maya", "s1", [{"role": "user", "content": f"I keep {uuid.uuid4()} bees."}])
    memory.session_idle("maya", "s1")
    worker.says("was stopped for more than 5 s: it is replaced")
    wait_until(lambda: value(look, "SELECT count(*) FROM slowwave.flushes") > 0, 60, "the turn is flushed")
    assert worker.exit_code is None
    assert not set(stopped) & set(worker.children())


def test_a_process_that_runs_or_is_gone_is_not_stopped() -> None:
    assert not is_stopped(os.getpid())
    assert not is_stopped(2**22 + 1)
