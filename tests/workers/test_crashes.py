"""Workers that die or stop in mid-flush: another one does it again, soon, and nothing is doubled or lost."""

import logging
import os
import signal
import time
from typing import Any

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.keys import NORMAL_QUEUE
from tests.support.processes import wait_until
from tests.workers.effects import check_as_if_nothing_had_happened, check_nothing_is_held, until_flushed, value
from tests.workers.fleet import Fleet, Program
from tests.workers.servers import OwnValkey

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

# The lease (2 s), a second behind it, a sweep (1 s), and as much again for a slow machine. Celery's own redelivery
# would take three minutes.
RECOVERY_SECONDS = 15.0
DONE_BY_NOW = """
    SELECT s.processed_until FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = :agent
"""


@pytest.fixture(scope="module", autouse=True)
def _beat(fleet: Fleet) -> Program:
    return fleet.beat()


@pytest.fixture
def worker(fleet: Fleet) -> Program:
    """The only worker; it may come to harm."""
    return fleet.standing_worker()


def start_a_flush_and_hold_it(fleet: Fleet, memory: Memory, agent: str) -> set[str]:
    lines = {f"{agent} keeps thing number {n}." for n in range(4)}
    fleet.hold(agent)
    memory.turn_completed(agent, "evening", [{"role": "user", "content": line} for line in sorted(lines)])
    memory.session_idle(agent, "evening")
    fleet.until_held(agent)
    return lines


def taken_and_not_acknowledged(valkey: OwnValkey, agent: str) -> int:
    """How many messages of an agent workers hold, or held when they died."""
    return sum(agent.encode() in message for message in valkey.client.hvals("unacked"))


def test_mistake_05_08_a_killed_child_in_mid_flush_is_made_good_within_its_lease_and_a_sweep(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = start_a_flush_and_hold_it(fleet, memory, "maya")
    (child,) = fleet.held("maya")
    assert child in worker.children()
    os.kill(child, signal.SIGKILL)
    killed = time.monotonic()
    fleet.let_go("maya")
    until_flushed(look, RECOVERY_SECONDS, "maya")
    log.info("a child was killed: flushed after %.1f s", time.monotonic() - killed)
    assert worker.exit_code is None
    assert fleet.extractions("maya") == [(1, 4), (1, 4)]
    check_as_if_nothing_had_happened(look, lines, "maya")
    check_nothing_is_held(own_valkey.client)


def test_mistake_15_28_a_killed_parent_is_made_good_by_any_other_worker(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = start_a_flush_and_hold_it(fleet, memory, "jonas")
    worker.kill()
    killed = time.monotonic()
    fleet.standing_worker()
    fleet.let_go("jonas")
    until_flushed(look, RECOVERY_SECONDS, "jonas")
    log.info("a parent was killed: flushed after %.1f s, a new one's start included", time.monotonic() - killed)
    # The dead worker's message has not even come back yet: nobody waited for Celery's redelivery.
    wait_until(lambda: taken_and_not_acknowledged(own_valkey, "jonas") == 1, 10, "only the other's is acknowledged")
    check_as_if_nothing_had_happened(look, lines, "jonas")
    check_nothing_is_held(own_valkey.client)


def test_mistake_29_a_message_is_acknowledged_when_its_flush_is_done_and_not_before(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = start_a_flush_and_hold_it(fleet, memory, "priya")
    assert taken_and_not_acknowledged(own_valkey, "priya") == 1
    fleet.let_go("priya")
    until_flushed(look, 15, "priya")
    wait_until(lambda: taken_and_not_acknowledged(own_valkey, "priya") == 0, 10, "the message is acknowledged")
    check_as_if_nothing_had_happened(look, lines, "priya")
    assert worker.exit_code is None


def test_mistake_11_a_flush_that_outlasts_its_lease_keeps_its_session(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    """A sweep offers the session when its lease should long have ended; the mark it leaves says that it has not."""
    lines = start_a_flush_and_hold_it(fleet, memory, "wanda")
    session = b"slowwave:{default/wanda}:session:evening"

    def marked_for_a_rerun() -> bool:
        state: Any = own_valkey.client.get(session)
        return state is not None and state.startswith(b"running normal normal ")

    wait_until(marked_for_a_rerun, RECOVERY_SECONDS, "a sweep finds it running")
    fleet.let_go("wanda")
    worker.says("flush wanda/evening: clean")
    assert worker.log.count("flush wanda/evening: stored") == 1
    assert fleet.extractions("wanda") == [(1, 4)]
    check_as_if_nothing_had_happened(look, lines, "wanda")
    check_nothing_is_held(own_valkey.client)


def test_term_lets_a_flush_end_that_is_nearly_done(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = start_a_flush_and_hold_it(fleet, memory, "amara")
    worker.send(signal.SIGTERM)
    worker.says("Soft Shutdown")
    fleet.let_go("amara")
    worker.wait(10)
    assert value(look, DONE_BY_NOW, agent="amara") == 4
    assert fleet.extractions("amara") == [(1, 4)]
    check_as_if_nothing_had_happened(look, lines, "amara")
    check_nothing_is_held(own_valkey.client)


def test_term_gives_a_flush_back_that_takes_too_long_and_another_worker_does_it(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = start_a_flush_and_hold_it(fleet, memory, "tomas")
    began = time.monotonic()
    worker.send(signal.SIGTERM)
    worker.wait(10)
    stopped = time.monotonic()
    fleet.let_go("tomas")
    fleet.standing_worker()
    until_flushed(look, RECOVERY_SECONDS, "tomas")
    log.info("TERM: stopped after %.1f s, flushed %.1f s later", stopped - began, time.monotonic() - stopped)
    assert fleet.extractions("tomas") == [(1, 4), (1, 4)]
    check_as_if_nothing_had_happened(look, lines, "tomas")
    check_nothing_is_held(own_valkey.client)


def test_one_message_delivered_five_times_is_one_window(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.end()
    fleet.beat()
    lines = {f"ines keeps thing number {n}." for n in range(4)}
    memory.turn_completed("ines", "evening", [{"role": "user", "content": line} for line in sorted(lines)])
    memory.session_idle("ines", "evening")
    assert memory.flush(), "its message is sent"
    (message,) = own_valkey.client.lrange(NORMAL_QUEUE, 0, -1)
    own_valkey.client.lpush(NORMAL_QUEUE, *([message] * 4))
    worker = fleet.standing_worker()
    until_flushed(look, 15, "ines")
    wait_until(lambda: worker.log.count("flush ines/evening: ") >= 5, 15, "all five were taken")
    # A commit is seen before the worker has told of it, and a sweep may have sent a sixth.
    wait_until(lambda: "flush ines/evening: stored" in worker.log, 15, "the one that stored has told so")
    assert fleet.extractions("ines") == [(1, 4)]
    assert worker.log.count("flush ines/evening: stored") == 1
    check_as_if_nothing_had_happened(look, lines, "ines")
    check_nothing_is_held(own_valkey.client)
