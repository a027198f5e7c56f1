"""Two brokers on one database: nothing is lost or doubled, but an agent's limit holds for each of them by itself.

That is why a database has one broker, and what is divided is the whole installation (docs/scale.md).
"""

from collections.abc import Iterator

import pytest
from redis import Redis

from slowwave_server.domain.candidates import Window
from slowwave_server.models.engine import make_engine
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers


@pytest.fixture
def pair(database_url: str, valkey_url: str, redis_client: Redis) -> Iterator[tuple[Scene, Scene]]:
    other = Redis.from_url(valkey_url.removesuffix("/0") + "/1")
    scenes = make_scene(make_engine(database_url), redis_client), make_scene(make_engine(database_url), other)
    yield scenes
    for scene in scenes:
        scene.engine.dispose()
    other.close()


def test_i2_two_brokers_read_a_session_at_once_and_one_of_them_commits(pair: tuple[Scene, Scene]) -> None:
    first, second = pair
    first.say("s1", "Priya keeps bees.", trigger="idle")
    outcomes: list[str] = []

    def meanwhile(_window: Window) -> None:
        first.extractor.interrupt = lambda _again: None
        outcomes.append(second.flush("s1").outcome)

    first.extractor.interrupt = meanwhile
    outcomes.append(first.flush("s1").outcome)

    assert outcomes[0] == "stored", "the other broker knows nothing of the first one's lease"
    assert outcomes[1] != "stored", "what came second is rolled back"
    assert (first.windows("s1"), first.memories()) == ([(1, 1, "stored")], ["Priya keeps bees."])


def test_i4_the_limit_of_an_agent_holds_for_each_broker_by_itself(pair: tuple[Scene, Scene]) -> None:
    first, second = pair
    for session in ("s1", "s2", "s3"):
        first.say(session, f"Priya has hive {session}.", trigger="idle")
    outcomes: dict[str, str] = {}

    def meanwhile(_window: Window) -> None:
        first.extractor.interrupt = lambda _again: None
        outcomes["same broker"] = first.flush("s2").outcome
        outcomes["other broker"] = second.flush("s3").outcome

    first.extractor.interrupt = meanwhile
    first.flush("s1")
    assert outcomes == {"same broker": "parked", "other broker": "stored"}
