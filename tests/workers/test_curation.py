"""Curation through a real worker, asked for by another service."""

from collections.abc import Iterator

import pytest
from celery import Celery
from sqlalchemy import Engine

from slowwave import Memory
from tests.support.processes import wait_until
from tests.workers.effects import rows, until_flushed, value
from tests.workers.fleet import PLAIN_APP, Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

STATUSES = """
    SELECT m.status FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id WHERE k.name = :agent
"""


@pytest.fixture(scope="module")
def foreign(own_valkey: OwnValkey) -> Iterator[Celery]:
    """A Celery app of somebody else."""
    with Celery(broker=own_valkey.url, set_as_current=False) as app:
        yield app


@pytest.fixture(scope="module")
def worker(fleet: Fleet) -> Program:
    return fleet.worker(app=PLAIN_APP, concurrency=1)


def test_a_service_asks_for_curation_and_a_message_too_many_changes_nothing(
    worker: Program, memory: Memory, foreign: Celery, look: Engine
) -> None:
    said = [{"role": "user", "name": "Maya", "content": "I am allergic to peanuts."}]
    memory.turn_completed("atlas", "monday", said)
    memory.session_idle("atlas", "monday")
    until_flushed(look, 30, "atlas")
    assert set(rows(look, STATUSES, agent="atlas")) == {("inbox",)}
    for _ in range(3):
        foreign.send_task("slowwave.curate_scope", kwargs={"agent": "atlas"}, queue="consolidate")
    foreign.send_task("slowwave.curate_scope", kwargs={"agent": "nobody"}, queue="consolidate")
    foreign.send_task("slowwave.curate_scope", kwargs={"scope": "kitchen"}, queue="consolidate")
    worker.says("curate agent:nobody: nothing was ever written there")
    wait_until(
        lambda: value(look, "SELECT count(*) FROM slowwave.dead_letters") == 1, 30, "the bad payload is a dead letter"
    )
    assert set(rows(look, STATUSES, agent="atlas")) == {("active",)}
    assert value(look, "SELECT count(*) FROM slowwave.maintenance_runs WHERE kind = 'curation'") == 1
