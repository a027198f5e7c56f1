"""Sessions that nobody ends, on real servers: their last flush, and how many an agent may leave open."""

from collections.abc import Iterator

import pytest
from redis import Redis
from sqlalchemy import Engine

from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, Sessions
from slowwave_server.services.flush.sweep import sweep, wake_stale
from slowwave_server.services.reports.why import why_waiting
from slowwave_server.services.retention.sessions import BoundReport, bound_sessions
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers

HOUR = Sessions(session_ttl_minutes=60)
THREE = Sessions(session_ttl_minutes=0, max_active_sessions=3)


@pytest.fixture
def scene(engine: Engine, redis_client: Redis) -> Iterator[Scene]:
    # Timers so long that only the bounds can ask for a flush.
    return make_scene(engine, redis_client, AutoFlush(idle_seconds=86_400, max_dirty_age_seconds=604_800))


def bound(scene: Scene, rules: Sessions) -> tuple[int, int]:
    report: BoundReport = bound_sessions(scene.engine, rules, scene.clock())
    return report.closed, report.asked


def asked_for(scene: Scene) -> list[str]:
    rows = scene.sql("SELECT name FROM slowwave.sessions WHERE invalidated_at IS NOT NULL ORDER BY name")
    return [row.name for row in rows]


def why(scene: Scene, session: str) -> str:
    with scene.engine.connect() as connection:
        ref = SessionRef("default", "maya", session)
        waiting = why_waiting(connection, scene.queue, ref, scene.settings, now=scene.clock())
    return " ".join(waiting.also)


def test_mistake_06_a_session_that_nobody_ended_is_flushed_and_not_dropped(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    assert bound(scene, HOUR) == (0, 0)
    scene.clock.pass_time(3600)
    assert bound(scene, HOUR) == (1, 0)
    assert "nobody has seen it for memory.sessions.session_ttl_minutes" in why(scene, "s1")
    assert sweep(scene.engine, scene.queue, scene.settings, scene.clock()).enqueued == 1
    assert scene.flush("s1").outcome == "stored"
    assert scene.memories() == ["Maya plays the cello."]
    assert bound(scene, HOUR) == (0, 0)  # a clean one has nothing to end


def test_a_closed_session_goes_on_when_somebody_speaks(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.clock.pass_time(3600)
    bound(scene, HOUR)
    scene.flush("s1")
    scene.say("s1", "Maya has two cats.")
    assert (bound(scene, HOUR), asked_for(scene)) == ((0, 0), [])
    scene.clock.pass_time(3600)
    assert bound(scene, HOUR) == (1, 0)


def test_a_back_off_ends_once_for_a_session_that_is_over_and_is_kept_from_then_on(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.clock.pass_time(3600)
    later = "UPDATE slowwave.sessions SET not_before = :later, flush_due_at = :later RETURNING 1"
    scene.sql(later, later=scene.clock.now.replace(year=scene.clock.now.year + 1))
    assert bound(scene, HOUR) == (1, 0)
    assert scene.session("s1").not_before is None
    scene.sql(later, later=scene.clock.now.replace(year=scene.clock.now.year + 1))
    assert [bound(scene, HOUR) for _ in range(3)] == [(0, 0)] * 3


def test_the_two_ends_of_a_session_do_not_wake_it_in_turns_for_ever(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.clock.pass_time(scene.settings.stale_ttl_seconds + 1)
    woken = 0
    for _ in range(6):
        later = scene.clock.now.replace(year=scene.clock.now.year + 1)
        scene.sql("UPDATE slowwave.sessions SET not_before = :later, flush_due_at = :later RETURNING 1", later=later)
        woken += wake_stale(scene.engine, scene.settings, scene.clock())
        woken += bound_sessions(scene.engine, HOUR, scene.clock()).closed
    assert woken <= 2


def test_an_agent_keeps_so_many_open_sessions_and_the_oldest_are_flushed(scene: Scene) -> None:
    for number in range(8):
        scene.say(f"s{number}", "Maya plays the cello.")
        scene.clock.pass_time(1)
    for number in range(3):
        scene.say(f"other-{number}", "Jonas sings.", agent="jonas")
    assert bound(scene, THREE) == (0, 5)
    assert asked_for(scene) == ["s0", "s1", "s2", "s3", "s4"]
    assert "more open conversations than memory.sessions.max_active_sessions" in why(scene, "s0")
    assert bound(scene, THREE) == (0, 0)
    scene.say("s0", "Maya has two cats.")  # asked for already, and seen again
    scene.say("s8", "Maya is back.")
    assert bound(scene, THREE) == (0, 2)
    assert asked_for(scene) == ["s0", "s1", "s2", "s3", "s4", "s5", "s6"]


def test_capacity_does_not_end_a_back_off(scene: Scene) -> None:
    for number in range(4):
        scene.say(f"s{number}", "Maya plays the cello.")
        scene.clock.pass_time(1)
    later = scene.clock.now.replace(year=scene.clock.now.year + 1)
    scene.sql("UPDATE slowwave.sessions SET not_before = :later WHERE name = 's0' RETURNING 1", later=later)
    assert bound(scene, THREE) == (0, 1)
    assert scene.session("s0").flush_due_at == later


def test_no_bound_asks_for_nothing(scene: Scene) -> None:
    scene.say("s1", "Maya plays the cello.")
    scene.clock.pass_time(10_000_000)
    assert bound(scene, Sessions(session_ttl_minutes=0)) == (0, 0)


def test_bounds_ask_in_batches_until_all_are_asked(scene: Scene) -> None:
    for number in range(4):
        scene.say(f"s{number}", *["Maya plays the cello."])
    scene.sql(
        "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seq, last_seen_at, dirty_since)"
        " SELECT agent_id, scope_id, 'more-' || n, 1, last_seen_at - interval '1 day', last_seen_at"
        " FROM slowwave.sessions, generate_series(1, 2500) AS n WHERE name = 's0' RETURNING 1"
    )
    assert bound(scene, Sessions(session_ttl_minutes=0, max_active_sessions=4)) == (0, 2500)
