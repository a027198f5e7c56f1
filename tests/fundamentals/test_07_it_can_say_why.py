"""Chapter 7. It can say why.

Work in the background is hard to trust when it is silent. Two questions always have an answer in words: what does this
session wait for (`slowwave session why`), and why does this memory exist (`slowwave memory show`). Both answers only
read; they follow from the same columns and keys by which the system itself decides.
"""

from uuid import UUID

from slowwave.identity import SessionRef
from slowwave_server.domain.waiting_facts import Reason, Waiting
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.services.reports.why import why_waiting
from tests.fundamentals.stage import Stage

MONDAY = SessionRef("default", "atlas", "monday")
SAID = "I'm allergic to peanuts, please remember that."


def why(stage: Stage) -> Waiting:
    with stage.engine.connect() as connection:
        rules = stage.settings.memory.auto_flush
        return why_waiting(connection, stage.queue, MONDAY, rules, now=stage.clock(), listening=frozenset({"flush"}))


def test_mistake_14_a_session_says_what_it_waits_for_at_every_step(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", [{"role": "user", "name": "Maya", "content": SAID}])
    quiet = why(stage)
    assert quiet.reason is Reason.TIMER
    assert quiet.until is not None
    assert "1 so far" in " ".join(quiet.also), "it says how far the other trigger is, too"

    stage.memory.session_idle("atlas", "monday")
    stage.wake()
    queued = why(stage)
    assert queued.reason is Reason.QUEUED
    assert "the agent went idle" in " ".join(queued.also)

    stage.work_until_idle()
    assert why(stage).reason is Reason.CLEAN


def test_a_memory_says_who_said_it_what_spoke_for_it_and_which_flush_made_it(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", [{"role": "user", "name": "Maya", "content": SAID}])
    stage.memory.session_idle("atlas", "monday")
    stage.work_until_idle()
    (hit, *_) = stage.memory.search("atlas", "peanuts")

    with stage.engine.connect() as connection:
        explanation = explain_memory(connection, "default", UUID(hit.id))

    assert [(source.session, source.seq, source.name, source.content) for source in explanation.sources] == [
        ("monday", 1, "Maya", SAID)
    ]
    assert explanation.signals, "each signal is a name, not a number nobody can check"
    assert [change.action for change in explanation.changes] == ["created"]
    assert [(flush.session, flush.from_seq, flush.to_seq) for flush in explanation.flushes] == [("monday", 1, 1)]
