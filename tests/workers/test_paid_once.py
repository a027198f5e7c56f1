"""Real workers whose leases are lost on purpose while a model answers slowly: as many calls as windows."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from proof.fake_model import FakeModel
from proof.fake_replies import slow
from slowwave import Memory
from tests.support.modelling import memory
from tests.support.processes import wait_until
from tests.workers.fleet import PLAIN_APP, Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers]

AGENTS = 4
LOSSES = 4
ANSWER_SECONDS = 5.0
PATIENCE = 120.0
ANSWER = {"memories": [memory("Maya plays the cello.", 1)]}


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel(slow(ANSWER_SECONDS, ANSWER)) as model:
        yield model


@pytest.fixture(scope="module")
def fleet(module_database: str, own_valkey: OwnValkey, folder: Path, model: FakeModel) -> Iterator[Fleet]:
    """A fleet whose model is this one; leases of 2 s are renewed as usual."""
    llm = {"DRIVER": "openai", "MODEL": "fake-1", "BASE_URL": model.base_url, "API_KEY": "no-key"}
    variables = {f"SLOWWAVE_MEMORY__LLM__{name}": value for name, value in llm.items()}
    fleet = Fleet(module_database, own_valkey.url, folder, **variables)
    yield fleet
    fleet.end()


def _one(look: Engine, statement: str) -> Any:
    with look.connect() as connection:
        return connection.execute(text(statement)).one()


def test_i7_calls_equal_windows_while_leases_are_lost(
    fleet: Fleet, look: Engine, model: FakeModel, own_valkey: OwnValkey
) -> None:
    with Memory(fleet.settings()) as client:
        for number in range(AGENTS):
            said = {"role": "user", "content": "I play the cello.", "name": "Maya"}
            client.turn_completed(f"agent-{number}", "monday", [said])
    fleet.worker(app=PLAIN_APP, concurrency=AGENTS + 2)
    fleet.beat()
    for _ in range(LOSSES):
        wait_until(lambda: model.calls > 0, PATIENCE, "the model is asked")
        own_valkey.client.flushall()
        model.wait(1.2)
    done = "SELECT count(*) AS n, coalesce(sum(tokens), 0) AS tokens FROM slowwave.flushes"
    wait_until(lambda: _one(look, done).n == AGENTS, PATIENCE, "every window is committed")
    assert model.calls == AGENTS
    spent = _one(
        look, "SELECT calls, failures, tokens_settled FROM slowwave.llm_usage WHERE agent = '' AND period = 'day'"
    )
    assert (spent.calls, spent.failures, spent.tokens_settled) == (AGENTS, 0, model.tokens)
    assert _one(look, done).tokens == model.tokens
    assert _one(look, "SELECT count(*) AS n FROM slowwave.window_answers").n == 0
    assert _one(look, "SELECT count(*) AS n FROM slowwave.memory_sources").n == AGENTS
    log = fleet.programs[0].log
    assert "lost" in log, "no lease was lost"
    sys.stdout.write(f"\n{AGENTS} windows, every lease lost {LOSSES} times: {model.calls} calls of the model\n")
