"""Scripts in the broker: workers load them, and a producer, whose user may load none, waits for that."""

import hashlib
import uuid
from collections.abc import Iterator
from itertools import count

import pytest
from redis.exceptions import NoPermissionError, NoScriptError, RedisError
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.outcomes import Offer
from slowwave.identity import SessionRef
from slowwave_server.services.access.broker_users import broker_user
from tests.support.processes import wait_until
from tests.workers.effects import value
from tests.workers.fleet import PLAIN_APP, Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

WORD = "a-word-of-tests"


def add_producer(server: OwnValkey) -> str:
    """Make the user and answer its URL. A server that keeps no file of users forgets them when it restarts."""
    user = broker_user("producer", "producer", "default")
    server.client.execute_command(*user.command(hashlib.sha256(WORD.encode()).hexdigest()).split())
    return server.url.replace("://", f"://producer:{WORD}@")


@pytest.fixture
def producer(own_valkey: OwnValkey, fleet: Fleet) -> Iterator[Memory]:
    settings = fleet.settings().model_copy(update={"broker_url": add_producer(own_valkey)})
    with Memory(settings) as memory:
        yield memory


def offers(queue: FlushQueue, numbers: "count[int]") -> bool:
    """Whether an offer of a session that nobody has offered before is taken."""
    try:
        return queue.offer(SessionRef("default", f"agent-{next(numbers)}", "s1"), "normal") is Offer.ENQUEUE
    except RedisError:
        return False


def test_what_is_captured_before_scripts_are_loaded_is_flushed(
    producer: Memory, own_valkey: OwnValkey, fleet: Fleet, look: Engine
) -> None:
    own_valkey.client.script_flush()
    client = redis_from_url(own_valkey.url.replace("://", f"://producer:{WORD}@"))
    with pytest.raises(NoPermissionError):
        client.script_load("while true do end")
    with pytest.raises(NoScriptError, match="a worker of this version loads it"):
        FlushQueue(client).offer(SessionRef("default", "maya", "s1"), "normal")
    producer.turn_completed("maya", "s1", [{"role": "user", "content": f"I keep {uuid.uuid4()} bees."}])
    producer.session_idle("maya", "s1")
    assert own_valkey.client.llen("flush") == 0, "nothing was offered"
    fleet.beat()
    worker = fleet.worker(app=PLAIN_APP)
    wait_until(lambda: value(look, "SELECT count(*) FROM slowwave.flushes") > 0, 40, "a sweep has offered it")
    assert worker.exit_code is None
    wait_until(lambda: offers(FlushQueue(client), count()), 20, "the producer's own offers work")
    client.close()


def test_workers_load_scripts_again_after_the_broker_restarts(own_valkey: OwnValkey, fleet: Fleet) -> None:
    worker = fleet.worker(app=PLAIN_APP)
    worker.says("ready.")
    own_valkey.stop()
    own_valkey.start()
    client = redis_from_url(add_producer(own_valkey))
    numbers = count()
    wait_until(lambda: offers(FlushQueue(client), numbers), 60, "the producer's offers work again")
    client.close()
