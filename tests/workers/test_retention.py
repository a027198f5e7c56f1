"""Curation and logs of sessions through a real worker, asked for by another service."""

import json
from collections.abc import Iterator

import pytest
from celery import Celery
from sqlalchemy import Engine

from slowwave import Memory
from slowwave_server.services.session_logs import log_path
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
    fleet.environment["SLOWWAVE_MEMORY__SESSIONS__SESSION_EVENT_LOGGING_ENABLED"] = "true"
    fleet.environment["SLOWWAVE_MEMORY__FILES__ROOT"] = str(fleet.folder / "files")
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


def test_logs_are_written_where_the_settings_say(
    worker: Program, memory: Memory, foreign: Celery, fleet: Fleet
) -> None:
    memory.turn_completed("piper", "monday", [{"role": "user", "content": "The key lies under the mat."}])
    for _ in range(2):
        foreign.send_task("slowwave.log_events", queue="maintenance")
    path = log_path(fleet.folder / "files", "default", "piper", "monday")
    wait_until(lambda: path.exists() and path.stat().st_size > 0, 30, "the log is written")
    worker.says("session logs: ")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["content"] == "The key lies under the mat."
    assert "under the mat" not in worker.log
