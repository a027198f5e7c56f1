"""Ninety questions that are not plain English words, through the real pipeline: each must find its event first."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis

from slowwave import Memory, Settings
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.services.evaluation.recall import Recorder
from tests.support.flushing import make_scene
from tests.support.search_language_further import FURTHER
from tests.support.search_language_probes import PROBES, Probe

pytestmark = pytest.mark.servers

BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def memory(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory that holds all events and distractors of one agent."""
    spool: Path = tmp_path_factory.mktemp("spool")
    settings = Settings(database_url=module_database, broker_url=valkey_url, spool=spool)
    client = redis.Redis.from_url(valkey_url)
    scene = make_scene(make_engine(module_database), client)
    with Memory(settings) as memory:
        recorder = Recorder(memory, replace(scene.flusher, extractor=RulesExtractor()))
        for number, probe in enumerate(PROBES + FURTHER):
            for session, text in ((probe.name, probe.event), (f"not {probe.name}", probe.distractor)):
                at = (BEGUN + timedelta(hours=number)).isoformat()
                memory.turn_completed("maya", session, [{"role": "user", "content": text, "at": at}])
                recorder.flush("maya", session)
        recorder.settle()
        yield memory
    scene.engine.dispose()
    client.close()


def test_there_are_sixty_and_thirty_probes_of_different_names() -> None:
    assert (len(PROBES), len(FURTHER)) == (60, 30)
    assert len({probe.name for probe in PROBES + FURTHER}) == 90


@pytest.mark.parametrize("probe", PROBES + FURTHER, ids=lambda probe: probe.name)
def test_probe_is_found_first(probe: Probe, memory: Memory) -> None:
    hits = memory.search("maya", probe.question, 5)
    assert [session for session, _ in hits[0].sources] == [probe.name] if hits else False, [h.content for h in hits]
