"""`why` reads the true state of both servers (mistake 14)."""

from datetime import timedelta

import pytest
from redis import Redis
from sqlalchemy import Engine, insert

from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.waiting_facts import Reason, Waiting
from slowwave_server.models import SourceRun
from slowwave_server.services.reports.why import why_waiting
from tests.support.installation import NOW, Installation, ago

pytestmark = pytest.mark.servers

REF = SessionRef("default", "concierge", "monday")
OTHER = SessionRef("default", "concierge", "tuesday")


@pytest.fixture
def installation(engine: Engine) -> Installation:
    return Installation(engine)


def fill(installation: Installation, **columns: object) -> int:
    agent, scope = installation.agent("concierge"), installation.scope("concierge")
    said = (("Maya", "I moved to Lisbon."), ("Maya", "I have two cats."))
    due = {"flush_due_at": ago(-110)}
    return installation.session(agent, scope, "monday", *said, **(due | columns))


def ask(installation: Installation, queue: FlushQueue) -> Waiting:
    with installation.engine.connect() as connection:
        return why_waiting(connection, queue, REF, AutoFlush(), now=NOW, swept_ago=1.0)


def test_a_run_that_a_hook_named_is_waited_for(installation: Installation, redis_client: Redis) -> None:
    session = fill(installation, processed_until=2)
    with installation.engine.begin() as connection:
        connection.execute(insert(SourceRun).values(session_id=session, run_id="r1", asked_at=ago(5), due_at=ago(-30)))
        connection.execute(insert(SourceRun).values(session_id=session, run_id="r0", asked_at=ago(50), outcome="taken"))
    waiting = ask(installation, FlushQueue(redis_client))
    assert waiting.reason is Reason.SOURCE
    assert "waits for 1 run that a hook named" in waiting.sentence


def test_the_time_to_live_of_a_session_ends_its_wait(installation: Installation, redis_client: Redis) -> None:
    fill(installation)
    with installation.engine.connect() as connection:
        waiting = why_waiting(
            connection,
            FlushQueue(redis_client),
            REF,
            AutoFlush(),
            now=NOW,
            swept_ago=1.0,
            session_ttl=timedelta(minutes=1),
        )
    assert "memory.sessions.session_ttl_minutes" in waiting.sentence


def test_mistake_14_the_path_of_a_session_through_the_queue_is_told(
    installation: Installation, redis_client: Redis
) -> None:
    queue = FlushQueue(redis_client)
    fill(installation)
    assert ask(installation, queue).reason is Reason.TIMER
    queue.offer(REF, "normal")
    assert "among 1 message" in ask(installation, queue).sentence
    queue.claim(REF, "worker")
    assert ask(installation, queue).reason is Reason.RUNNING
    queue.release(REF, "worker")
    queue.offer(OTHER, "normal")
    queue.claim(OTHER, "worker")
    queue.offer(REF, "high")
    queue.claim(REF, "another")
    parked = ask(installation, queue)
    assert parked.reason is Reason.PARKED
    assert "1 session running, of at most 1" in parked.sentence


def test_mistake_12_a_back_off_says_until_when_and_after_which_error(
    installation: Installation, redis_client: Redis
) -> None:
    fill(installation, not_before=ago(-30), attempts=2, last_error="the model answered 429")
    waiting = ask(installation, FlushQueue(redis_client))
    assert waiting.reason is Reason.BACKING_OFF
    assert waiting.until == ago(-30)
    assert "attempt 2 of 4" in waiting.sentence
    assert "the model answered 429" in waiting.sentence


def test_a_clean_session_says_since_when_and_what_was_set_aside(
    installation: Installation, redis_client: Redis
) -> None:
    session = fill(installation, processed_until=2, flush_due_at=None)
    installation.flush(session, (1, 1))
    installation.quarantine(session, 2, "no extractor could read it")
    waiting = ask(installation, FlushQueue(redis_client))
    assert waiting.reason is Reason.CLEAN
    assert "the last at 13:59:00 UTC" in waiting.sentence
    assert waiting.also == ("1 event of it set aside: see `slowwave queue list`.",)


def test_a_broker_that_is_away_is_an_answer(installation: Installation) -> None:
    fill(installation)
    nowhere = redis_from_url("redis://127.0.0.1:1/0")
    assert ask(installation, FlushQueue(nowhere)).reason is Reason.NO_BROKER
