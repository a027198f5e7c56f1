"""A worker may run its tasks in threads: for model calls, which wait more than they work."""

import signal

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from tests.workers.effects import check_as_if_nothing_had_happened, check_nothing_is_held, until_flushed
from tests.workers.fleet import Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]


@pytest.mark.long
def test_threads_do_what_processes_do_and_end_their_work_on_term(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    worker = fleet.worker(pool="threads", concurrency=4)
    lines = set()
    for number in range(24):
        content = f"maya keeps thing number {number}."
        lines.add(content)
        memory.turn_completed("maya", f"s{number % 6}", [{"role": "user", "content": content}])
    for number in range(6):
        memory.session_idle("maya", f"s{number}")
    until_flushed(look, 30)
    check_as_if_nothing_had_happened(look, lines)
    check_nothing_is_held(own_valkey.client)

    fleet.hold("jonas")
    memory.turn_completed("jonas", "s1", [{"role": "user", "content": "jonas keeps one thing."}])
    memory.session_idle("jonas", "s1")
    fleet.until_held("jonas")
    worker.send(signal.SIGTERM)
    worker.says("Warm shutdown")
    fleet.let_go("jonas")
    assert worker.wait(10) == 0
    check_as_if_nothing_had_happened(look, {"jonas keeps one thing."}, "jonas")
