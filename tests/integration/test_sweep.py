"""The sweep on real servers: I3, fairness, and what it repairs."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, Batch
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.flush.sweep import sweep, wake_stale
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers


@pytest.fixture
def scene(engine: Engine, redis_client: Redis) -> Iterator[Scene]:
    settings = AutoFlush(batch=Batch(max_sessions_per_cycle=20, max_sessions_per_agent_per_cycle=3))
    return make_scene(engine, redis_client, settings)


@pytest.fixture
def hasty(engine: Engine, redis_client: Redis) -> Iterator[Scene]:
    """Sessions count as quiet sooner than a sweep looks at what it took again."""
    return make_scene(engine, redis_client, AutoFlush(idle_seconds=5, retry_interval_seconds=30))


def test_an_idle_session_is_offered_when_its_time_has_come(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).taken == 0
    scene.clock.pass_time(scene.settings.idle_seconds)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1


def test_a_session_that_goes_on_talking_is_put_off_until_it_is_really_quiet(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.clock.pass_time(scene.settings.idle_seconds - 10)
    scene.say("s1", "Maya has two cats.")
    scene.clock.pass_time(20)  # its first due time has passed; somebody spoke 20 s ago
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).taken == 0
    assert scene.session("s1").flush_due_at == scene.clock() + timedelta(seconds=scene.settings.idle_seconds - 20)
    scene.clock.pass_time(scene.settings.idle_seconds - 20)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1


def test_i3_who_talks_on_after_a_sweep_took_the_session_waits_for_quiet_and_no_longer(hasty: Scene) -> None:
    settings = hasty.settings
    hasty.say("s1", "Maya plays the cello.")
    hasty.clock.pass_time(settings.idle_seconds)
    assert sweep(hasty.engine, hasty.queue, settings, hasty.clock()).enqueued == 1
    assert hasty.session("s1").flush_due_at == hasty.clock() + timedelta(seconds=settings.retry_interval_seconds)
    hasty.say("s1", "Maya has two cats.")
    assert hasty.flusher.flush(SessionRef("default", "maya", "s1")).outcome == "early"
    assert hasty.session("s1").flush_due_at == hasty.clock() + timedelta(seconds=settings.idle_seconds)
    hasty.clock.pass_time(settings.idle_seconds)
    assert sweep(hasty.engine, hasty.queue, settings, hasty.clock()).enqueued == 1
    assert hasty.flusher.flush(SessionRef("default", "maya", "s1")).window == (1, 2)


def test_mistake_13_a_session_that_never_rests_is_flushed_by_its_age(scene: Scene) -> None:
    waited = 0.0
    while not sweep(scene.engine, scene.queue, scene.settings, scene.clock()).taken:
        scene.say("s1", "…", kind="assistant", step=0)
        scene.clock.pass_time(60)
        waited += 60
        assert waited <= scene.settings.max_dirty_age_seconds + 60


def test_one_agent_with_many_sessions_takes_no_turn_from_the_others(scene: Scene) -> None:
    for number in range(50):
        scene.say(f"busy-{number}", "Maya plays the cello.", trigger="idle", agent="busy")
    for agent in "abcde":
        scene.say(f"quiet-{agent}", "Maya plays the cello.", trigger="idle", agent=agent)
    with scene.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT agent FROM slowwave.claim_due(%s, %s, %s, %s, %s, %s)", (20, 3, 30, 120, 600, scene.clock())
        ).scalars()
        taken = Counter(rows)
    assert taken == {"busy": 3, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1}


def test_a_sweep_takes_what_it_offers_so_the_next_one_sees_the_others(scene: Scene) -> None:
    for number in range(8):
        scene.say(f"s{number}", "Maya plays the cello.", trigger="idle", agent="maya")
    cycles = [sweep(scene.engine, scene.queue, scene.settings, scene.clock()) for _ in range(4)]
    assert [(c.taken, c.enqueued) for c in cycles] == [(3, 1), (3, 0), (2, 0), (0, 0)]


def test_mistake_08_a_crashed_flush_blocks_nothing(scene: Scene) -> None:
    """Mistakes 5, 15, 28 too: the lease ends by itself, and nobody needs to know the dead worker's name."""
    ref = SessionRef("default", "maya", "s1")
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    scene.queue.offer(ref, "normal")

    class Killed(BaseException):
        pass

    def die(_window: object) -> None:
        raise Killed

    scene.extractor.interrupt = die
    with pytest.raises(Killed):
        scene.flusher.flush(ref)
    scene.queue._redis.flushall()  # as if the lease had run out, and every message were lost
    scene.extractor.interrupt = lambda _window: None
    scene.clock.pass_time(scene.settings.lease_seconds + 1)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1
    assert scene.flusher.flush(ref).outcome == "stored"


def test_i3_a_flush_that_dies_after_a_sweep_saw_it_running_is_offered_by_the_first_sweep_after_its_lease(
    scene: Scene,
) -> None:
    """The mark for a rerun dies with whoever should have told of it, so a sweep that left one soon looks again."""
    ref = SessionRef("default", "maya", "s1")
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1
    seen = []

    def outlast_the_lease(_window: object) -> None:
        scene.clock.pass_time(scene.settings.lease_seconds + 1)  # it was renewed, and lives
        seen.append(sweep(scene.engine, scene.queue, scene.settings, scene.clock()))
        raise KeyboardInterrupt

    scene.extractor.interrupt = outlast_the_lease
    with pytest.raises(KeyboardInterrupt):
        scene.flusher.flush(ref)
    assert [(report.taken, report.enqueued) for report in seen] == [(1, 0)]
    scene.queue._redis.flushall()  # as if the worker had been killed, and its lease had run out
    scene.extractor.interrupt = lambda _window: None
    scene.clock.pass_time(scene.settings.flush_interval_seconds)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1
    assert scene.flusher.flush(ref).outcome == "stored"


@pytest.mark.parametrize("failing", [False, True])
def test_i3_what_was_put_off_while_a_clock_was_ahead_is_due_when_it_is_right_again(scene: Scene, failing: bool) -> None:
    ref = SessionRef("default", "maya", "s1")
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    right = scene.clock()
    scene.clock.pass_time(6 * 3600)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1

    def fail(_window: object) -> None:
        raise TransientError("nobody answers")

    if failing:
        scene.extractor.interrupt = fail
        assert scene.flusher.flush(ref).outcome == "failed"
    scene.queue._redis.flushall()  # its message is lost
    scene.extractor.interrupt = lambda _window: None
    scene.clock.now = right
    scene.clock.pass_time(1)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1
    assert scene.flusher.flush(ref).outcome == "stored"


def test_a_back_off_that_a_server_asked_for_is_no_time_of_a_wrong_clock(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")

    def fail(_window: object) -> None:
        raise TransientError("too many requests", retry_after=86_400)

    scene.extractor.interrupt = fail
    assert scene.flush("s1").outcome == "failed"
    assert scene.session("s1").not_before == scene.clock() + timedelta(hours=1)
    scene.clock.pass_time(scene.settings.flush_interval_seconds)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).taken == 0
    assert scene.session("s1").not_before is not None


def test_a_backlog_waits_in_postgres_and_not_in_a_growing_queue(scene: Scene) -> None:
    short = scene.settings.model_copy(update={"max_queued": 5})
    for number in range(30):
        scene.say(f"s{number}", "Maya plays the cello.", trigger="idle", agent=f"agent-{number}")
    reports = [sweep(scene.engine, scene.queue, short, scene.clock()) for _ in range(3)]
    assert [r.enqueued for r in reports] == [5, 0, 0]
    assert all(r.more for r in reports)
    assert scene.queue.depths()[NORMAL_QUEUE] == 5


def test_boosted_sessions_are_offered_in_the_high_queue(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.sql("SELECT * FROM slowwave.boost_sessions('default', 'maya', 's2', 5, :now)", now=scene.clock())
    scene.clock.pass_time(scene.settings.idle_seconds)  # the offer of the boost itself was lost
    sweep(scene.engine, scene.queue, scene.settings, scene.clock())
    assert scene.queue.depths()[HIGH_QUEUE] == 1


def test_mistake_06_a_stale_session_gets_a_last_flush_and_keeps_its_events(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.sql("UPDATE slowwave.sessions SET flush_due_at = NULL RETURNING 1")  # as if its due time had been lost
    scene.clock.pass_time(scene.settings.stale_ttl_seconds + 1)
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).taken == 0

    assert wake_stale(scene.engine, scene.settings, scene.clock()) == 1

    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1
    assert scene.sql("SELECT count(*) AS n FROM slowwave.events")[0].n == 1


def test_auto_flush_can_be_switched_off(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.", trigger="idle")
    off = scene.settings.model_copy(update={"enabled": False})
    assert sweep(scene.engine, scene.queue, off, scene.clock()).taken == 0
