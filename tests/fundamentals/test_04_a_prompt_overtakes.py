"""Chapter 4. A prompt overtakes.

Somebody writes to atlas in one session while another of its sessions still waits in a long queue. What stands there is
wanted *now*. So a host that receives a prompt calls `prompt_arrived`: the agent's other dirty sessions go to the queue
`flush.high`, which workers take from first. Their older messages stay where they are and will find nothing to do.
"""

from tests.fundamentals.stage import Stage


def test_a_prompt_moves_the_other_sessions_of_its_agent_to_the_front(stage: Stage) -> None:
    for agent in ("scout", "piper", "atlas"):
        stage.memory.turn_completed(agent, f"{agent}-1", [{"role": "user", "content": "I live in Oslo."}])
        stage.memory.session_idle(agent, f"{agent}-1")
    stage.wake()
    assert stage.queue.depths()["flush"] == 3

    assert stage.memory.prompt_arrived("atlas", "atlas-2") == ("atlas-1",)

    order = stage.work_until_idle()
    assert order[0] == ("atlas-1", "stored"), "it came last and is taken first"
    assert order[1:] == [("scout-1", "stored"), ("piper-1", "stored"), ("atlas-1", "stale")]


def test_the_session_that_the_prompt_came_in_is_not_hurried(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Oslo."}])
    assert stage.memory.prompt_arrived("atlas", "monday") == ()
    assert stage.work() is None


def test_a_clean_session_is_not_hurried_either(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Oslo."}])
    stage.memory.session_idle("atlas", "monday")
    stage.work_until_idle()
    assert stage.memory.prompt_arrived("atlas", "tuesday") == ()
