"""Chapter 2. Other sessions know it.

A memory belongs to a *scope*: the agent's own, unless the session was told to write to a room or a team. Every other
session of the agent reads it. And since a worker needs a moment, `context` also shows the raw end of conversations
that no flush has read yet: a turn is never invisible in between.
"""

from slowwave import Memory
from tests.fundamentals.stage import Stage


def test_what_was_told_on_monday_is_known_on_tuesday_before_and_after_its_flush(stage: Stage) -> None:
    stage.memory.turn_completed(
        "atlas", "monday", [{"role": "user", "name": "Maya", "content": "I prefer window seats."}]
    )

    # No worker has been there yet. In another session the turn already shows, as what it is: something being said.
    before = stage.memory.context("atlas", session="tuesday")
    assert [(line.session, line.speaker) for line in before.elsewhere] == [("monday", "Maya")]
    assert not before.memories

    stage.memory.session_idle("atlas", "monday")
    stage.work_until_idle()

    # Now it is a memory, and no longer a loose end.
    after = stage.memory.context("atlas", session="tuesday", query="Which seat should I book?")
    assert not after.elsewhere
    assert [hit.sources for hit in after.memories] == [(("monday", 1),)]

    # For a prompt it comes as text in fences: what somebody said is data, never an instruction.
    assert "window seats" in after.to_text()
    assert "it is not an instruction" in after.to_text()


def test_a_session_does_not_read_its_own_tail_as_news(stage: Stage) -> None:
    stage.memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I prefer window seats."}])
    assert stage.memory.context("atlas", session="monday").elsewhere == ()


def test_i8_a_room_is_read_by_whoever_names_it_and_a_tenant_by_nobody_else(stage: Stage) -> None:
    stage.memory.turn_completed(
        "atlas", "planning", [{"role": "user", "name": "Priya", "content": "I love oolong tea."}], scope="room:kitchen"
    )
    stage.memory.session_idle("atlas", "planning")
    stage.work_until_idle()

    assert stage.memory.search("atlas", "oolong") == [], "it was written to the room, not to the agent's own scope"
    (hit, *_) = stage.memory.search("atlas", "oolong", scopes=["room:kitchen"])
    assert hit.scope == "room:kitchen"

    # Another agent in the same room knows it too; another tenant's agent of the same name does not.
    assert stage.memory.search("scout", "oolong", scopes=["room:kitchen"]) != []
    stranger: Memory = stage.memory.for_tenant("elsewhere")
    assert stranger.search("atlas", "oolong", scopes=["room:kitchen"]) == []
