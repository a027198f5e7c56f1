"""A thousand flushes are queued; a prompt arrives for one agent: its other sessions overtake all of them."""

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.identity import SessionRef
from tests.support.processes import wait_until
from tests.workers.effects import rows, value
from tests.workers.fleet import Fleet
from tests.workers.servers import OwnValkey

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

QUEUED = 1000
CHILDREN = 2
STARTS = """
    SELECT a.name AS agent, f.started_at, f.committed_at FROM slowwave.flushes f
    JOIN slowwave.sessions s ON s.id = f.session_id JOIN slowwave.agents a ON a.id = s.agent_id
    WHERE f.started_at > :since ORDER BY f.started_at
"""
FLUSHED = "SELECT count(*) FROM slowwave.flushes"
OF_MAYA = """
    SELECT count(*) FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id
    JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = 'maya'
"""


@pytest.fixture(params=[5, pytest.param(1, marks=pytest.mark.long)], ids=["five at once", "one at a time"])
def at_once(request: pytest.FixtureRequest) -> int:
    """per_agent_concurrency."""
    return int(request.param)


@pytest.fixture
def fleet(database_url: str, own_valkey: OwnValkey, tmp_path: Path, at_once: int) -> Iterator[Fleet]:
    own_valkey.client.flushall()
    # Nothing but the messages that are queued here may start a flush: sessions are long not idle, tickets last.
    of_flushing = {"PER_AGENT_CONCURRENCY": str(at_once), "IDLE_SECONDS": "3600", "TICKET_SECONDS": "600"}
    variables = {f"SLOWWAVE_MEMORY__AUTO_FLUSH__{name}": value for name, value in of_flushing.items()}
    fleet = Fleet(database_url, own_valkey.url, tmp_path, SLOW_APP_SECONDS="0.02", **variables)
    yield fleet
    fleet.end()


def queue_a_thousand(memory: Memory, engine: Engine) -> None:
    """One session each of a thousand agents, all of them due."""
    batch = [
        {"agent": f"a{n}", "session": "s", "trigger": "idle", "events": [{"kind": "user", "step": 1, "content": "Hi."}]}
        for n in range(QUEUED)
    ]
    value(
        engine,
        "SELECT count(*) FROM slowwave.capture_batch('default', :batch, 1, 1, 5, 'UTC', 0)",
        batch=json.dumps(batch),
    )
    queue = memory.store.offers.queue()
    queue.offer_many([(SessionRef("default", f"a{n}", "s"), "normal") for n in range(QUEUED)])


def test_boosted_sessions_start_before_all_that_had_not_started_but_for_what_each_process_held(
    fleet: Fleet, engine: Engine, own_valkey: OwnValkey, at_once: int
) -> None:
    with Memory(fleet.settings()) as memory:
        for number in range(6):
            memory.turn_completed("maya", f"s{number}", [{"role": "user", "content": f"Thing {number}."}])
        queue_a_thousand(memory, engine.execution_options(isolation_level="AUTOCOMMIT"))
        assert own_valkey.client.llen(NORMAL_QUEUE) == QUEUED
        fleet.worker(concurrency=CHILDREN)
        wait_until(lambda: value(engine, FLUSHED) >= 20, 30, "the worker is at it")
        assert len(memory.prompt_arrived("maya", "s0")) == 5
        assert memory.flush(), "they are offered"
        boosted_at = datetime.now(UTC)
    wait_until(lambda: value(engine, OF_MAYA) == 5, 30, "the boosted ones are done")
    assert own_valkey.client.llen(NORMAL_QUEUE) > QUEUED / 2, "most of the thousand still wait"
    assert own_valkey.client.llen(HIGH_QUEUE) == 0
    # A flush that starts at the very moment of the boost counts as later, which only makes this stricter.
    starts = rows(engine, STARTS, since=boosted_at)
    check_order(starts, at_once, boosted_at)


def check_order(starts: list[Any], at_once: int, boosted_at: datetime) -> None:
    mine = [place for place, start in enumerate(starts) if start.agent == "maya"]
    if at_once == len(mine):
        before = mine[-1] + 1 - len(mine)
        log.info("%d others started before the last of the five", before)
        assert before <= CHILDREN, f"{before} others started before the last of the five"
        return
    # One at a time: each but for what the children held when the one before it ended.
    free = boosted_at
    for place in mine:
        start = starts[place]
        others = [s for s in starts if s.agent != "maya" and free < s.started_at < start.started_at]
        log.info("%d others started while this one could have", len(others))
        assert len(others) <= CHILDREN, f"{len(others)} others started while one of maya's could have"
        assert start.started_at >= free
        free = start.committed_at
