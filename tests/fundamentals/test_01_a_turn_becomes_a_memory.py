"""Chapter 1. A turn becomes a memory.

An agent named "atlas" talks with Maya. After each reply its host calls one hook, `turn_completed`, and goes on. Nothing
is extracted then: the turn is committed to Postgres, and that is all that the reply waits for. The session is *dirty*
now: it holds events that lie past its watermark.

When the conversation goes quiet the session is *due*. A message in a queue wakes a worker (a thread of the host sends
it, so that the reply does not wait for that either). The worker reads the window of new events, keeps what is worth
remembering, and commits memories, watermark and a line of the ledger in one step.
"""

from datetime import UTC, datetime

from tests.fundamentals.stage import Stage

MORNING = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)


def test_a_turn_becomes_a_memory_that_knows_where_it_comes_from(stage: Stage) -> None:
    receipt = stage.memory.turn_completed(
        "atlas",
        "monday",
        [
            {"role": "user", "name": "Maya", "content": "I am allergic to peanuts.", "at": MORNING},
            {"role": "assistant", "content": "Thanks, I will keep that in mind.", "at": MORNING},
        ],
    )

    # The hook has returned, so both events are committed. One turn is no reason to hurry.
    assert receipt.stored == "postgres"
    assert (receipt.added, receipt.last_seq, receipt.due) == (2, 2, False)
    assert stage.work() is None, "no message, so nothing for a worker to do"

    # The host says that the conversation went quiet. (If it says nothing, a timer in Postgres comes to the same.)
    receipt = stage.memory.session_idle("atlas", "monday")
    assert (receipt.due, receipt.reason) == (True, "idle")

    # A worker takes the message. Its flush covers both events, and the watermark stands behind them.
    assert stage.work_until_idle() == [("monday", "stored")]
    assert stage.windows("monday") == [(1, 2, "stored")]

    # The memory speaks of Maya by her name, holds since she said it, and names the event that it comes from.
    (memory,) = [hit for hit in stage.memory.search("atlas", "Maya peanuts") if hit.kind == "memory"]
    assert "Maya" in memory.content
    assert "peanuts" in memory.content
    assert memory.sources == (("monday", 1),)
    assert memory.valid_from == MORNING


def test_the_sixth_turn_makes_a_session_due_without_waiting_for_quiet(stage: Stage) -> None:
    threshold = stage.settings.memory.auto_flush.turn_threshold
    for number in range(1, threshold + 2):
        receipt = stage.memory.turn_completed(
            "atlas", "busy", [{"role": "user", "content": f"My lucky number: {number}"}]
        )
        assert receipt.due == (number > threshold), number
    assert receipt.reason == "turns"
    assert stage.work_until_idle()[0][0] == "busy"
    assert stage.windows("busy")[0][:2] == (1, threshold + 1)
