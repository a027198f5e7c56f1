"""Chapter 3. A repetition changes nothing.

Networks repeat: a host tries a call again, a broker delivers a message twice. And people repeat themselves. The first
kind must leave no trace. The second must not make a second memory; it makes the first one surer.
"""

from tests.fundamentals.stage import Stage

SAID = [{"role": "user", "name": "Jonas", "content": "My favourite editor is Helix."}]


def test_a_call_with_the_same_key_adds_nothing(stage: Stage) -> None:
    first = stage.memory.turn_completed("atlas", "monday", SAID, key="turn-1")
    again = stage.memory.turn_completed("atlas", "monday", SAID, key="turn-1")
    assert (first.added, first.repeated) == (1, 0)
    assert (again.added, again.repeated, again.last_seq) == (0, 1, 1)


def test_i2_a_message_that_is_delivered_twice_is_worked_once(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", SAID)
    stage.memory.session_idle("atlas", "monday")
    stage.wake()
    copy = stage.redis.lindex("flush", 0)
    assert isinstance(copy, bytes)
    stage.redis.lpush("flush", copy)

    # The ticket is spent by whichever message comes first. The other one finds nothing to claim.
    assert stage.work_until_idle() == [("monday", "stored"), ("monday", "stale")]
    assert stage.windows("monday") == [(1, 1, "stored")]


def test_asking_twice_puts_one_message_on_its_way(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", SAID)
    stage.memory.session_idle("atlas", "monday")
    stage.memory.session_idle("atlas", "monday")
    stage.wake()
    assert stage.queue.depths()["flush"] == 1


def test_the_same_statement_in_another_session_makes_one_memory_surer(stage: Stage) -> None:
    confidence = []
    for session in ("monday", "tuesday"):
        stage.memory.turn_completed("atlas", session, SAID)
        stage.memory.session_idle("atlas", session)
        stage.work_until_idle()
        (row,) = stage.rows("SELECT confidence FROM slowwave.memories")
        confidence.append(row.confidence)
    assert confidence[1] > confidence[0]
    (memory,) = [hit for hit in stage.memory.search("atlas", "favourite editor") if hit.kind == "memory"]
    assert memory.sources == (("monday", 1), ("tuesday", 1))
