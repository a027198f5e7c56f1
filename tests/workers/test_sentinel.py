"""Behind sentinels a killed master is replaced: workers, beat and hooks go to the new one, and nothing is lost."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from tests.support.processes import wait_until
from tests.workers.effects import check_as_if_nothing_had_happened, check_nothing_is_held, until_flushed
from tests.workers.fleet import Fleet
from tests.workers.sentinels import MASTER, WatchedValkeys

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(120)]

LONGEST_HOOK_SECONDS = 2.0
MOST_SESSIONS = 80


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedValkeys]:
    servers = WatchedValkeys(tmp_path_factory.mktemp("watched"))
    servers.start()
    yield servers
    servers.close()


@pytest.fixture(scope="module")
def fleet(module_database: str, watched: WatchedValkeys, folder: Path) -> Iterator[Fleet]:
    """In place of the one on a single server."""
    fleet = Fleet(module_database, watched.url, folder, SLOWWAVE_BROKER_MASTER=MASTER)
    yield fleet
    fleet.end()


def test_i1_i3_a_killed_master_is_replaced_and_nothing_is_lost(
    fleet: Fleet, watched: WatchedValkeys, memory: Memory, look: Engine
) -> None:
    fleet.beat()
    worker = fleet.worker(concurrency=2)
    lines: set[str] = set()
    slowest = 0.0

    def talk(number: int) -> None:
        nonlocal slowest
        line = f"I have planted apple tree number {number} in my garden."
        began = time.monotonic()
        receipt = memory.turn_completed(f"agent{number % 5}", f"s{number}", [{"role": "user", "content": line}])
        memory.session_idle(f"agent{number % 5}", f"s{number}")
        slowest = max(slowest, time.monotonic() - began)
        assert receipt.stored == "postgres"
        lines.add(line)

    for number in range(20):
        talk(number)
    until_flushed(look, 20)
    for number in range(20, 40):  # some of these are queued, some running, when it is killed
        talk(number)
    watched.kill("first")
    killed = time.monotonic()
    number = 40

    def fails_over() -> bool:
        nonlocal number
        if len(lines) < MOST_SESSIONS:
            talk(number)  # hooks go on meanwhile
            number += 1
        return watched.master() == "second"

    wait_until(fails_over, 20, "the sentinels name the second server")
    for after in range(number, number + 10):
        talk(after)
    assert memory.flush(20)
    log.info("a new master after %.1f s, %d sessions", time.monotonic() - killed, len(lines))
    until_flushed(look, 40)
    log.info("all flushed %.1f s after the kill", time.monotonic() - killed)
    assert slowest < LONGEST_HOOK_SECONDS
    assert worker.exit_code is None, "the same worker goes on"
    check_as_if_nothing_had_happened(look, lines)
    redis = connect_broker(fleet.settings())
    wait_until(lambda: redis.llen("flush") == redis.llen("flush.high") == 0, 20, "the queues are empty")
    check_nothing_is_held(redis)
    redis.close()
