"""Flushes that are asked for never end; a session that nobody asks for is found by a sweep all the same."""

import json
import time

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.messages import SWEEP_SESSIONS
from slowwave_server.workers.app import make_app
from tests.workers.effects import value
from tests.workers.fleet import Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(120)]

KEPT_FULL = 10
SWEEP_SECONDS = 0.5
OF_PRIYA = """
    SELECT count(*) FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id
    JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = 'priya'
"""


def ask(memory: Memory, engine: Engine, first: int) -> None:
    """Sessions of agents that are told to be idle, each with one event, offered at once."""
    agents = [f"a{number}" for number in range(first, first + KEPT_FULL)]
    events = [{"kind": "user", "step": 1, "content": "Hi."}]
    batch = [{"agent": agent, "session": "s", "trigger": "idle", "events": events} for agent in agents]
    value(
        engine,
        "SELECT count(*) FROM slowwave.capture_batch('default', :batch, 1, 1, 5, 'UTC', 0)",
        batch=json.dumps(batch),
    )
    memory.store.offers.queue().offer_many([(SessionRef("default", agent, "s"), "normal") for agent in agents])


@pytest.mark.long
def test_i3_sweeps_go_on_while_flushes_that_are_asked_for_keep_every_worker_busy(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.worker(concurrency=1, SLOW_APP_SECONDS="0.02")
    engine = look.execution_options(isolation_level="AUTOCOMMIT")
    asked = 0
    memory.turn_completed("priya", "quiet", [{"role": "user", "content": "I moved to Bergen in May."}])
    swept, deadline = 0.0, time.monotonic() + 20
    with make_app(fleet.settings()) as beat:
        # The queue is never empty, and never so long that what a sweep adds to it would wait for long.
        while not value(look, OF_PRIYA):
            assert time.monotonic() < deadline, f"no sweep has found it beside {asked} flushes that were asked for"
            if own_valkey.client.llen(NORMAL_QUEUE) < KEPT_FULL:
                ask(memory, engine, asked)
                asked += KEPT_FULL
            if time.monotonic() > swept + SWEEP_SECONDS:
                beat.send_task(SWEEP_SESSIONS)  # as beat does, whose start would take as long as all of this
                swept = time.monotonic()
    assert asked > KEPT_FULL, "the worker never rested"
