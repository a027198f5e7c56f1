"""Chapter 6. Postgres goes away.

A reply must not fail because a server restarts. While Postgres can't be reached, a hook writes what it was given to a
spool: files on the local disk, synced before the hook returns. Nobody gets an exception unless they asked for one. When
the server is back a thread delivers the files in their order, exactly once, and later turns never overtake earlier
ones.
"""

import pytest

from slowwave import Memory, StoreUnavailable
from tests.fundamentals.stage import Stage


def say(stage: Stage, content: str, key: str) -> str:
    """Record a turn, and answer where it went."""
    return stage.memory.turn_completed("atlas", "monday", [{"role": "user", "content": content}], key=key).stored


def test_i1_what_was_said_meanwhile_is_delivered_in_order_and_once(stage: Stage, postgres_url: str) -> None:
    said = ["I live in Oslo.", "My favourite tea is oolong.", "I moved to Bergen.", "I love rain.", "I play chess."]
    assert say(stage, said[0], "0") == "postgres"
    with stage.without_postgres(postgres_url):
        for place in (1, 2, 2, 3):  # the host tries one of them twice
            assert say(stage, said[place], f"{place}") == "spool"
        assert not stage.memory.flush(timeout=0.1), "it can't be delivered yet"

    # The server is back, and this turn could be written at once. It goes behind what still waits.
    say(stage, said[4], "4")

    assert stage.memory.flush(timeout=60)
    events = stage.rows("SELECT seq, content FROM slowwave.events ORDER BY seq")
    assert [(event.seq, event.content) for event in events] == list(enumerate(said, start=1))
    assert stage.memory.status().spool_files == 0


def test_who_wants_to_know_is_told_after_the_turn_is_safe(stage: Stage, postgres_url: str) -> None:
    with Memory(stage.settings, raise_errors=True) as strict:
        with stage.without_postgres(postgres_url), pytest.raises(StoreUnavailable, match="will be delivered"):
            strict.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Oslo."}])
        assert strict.flush(timeout=60)
    assert [row.content for row in stage.rows("SELECT content FROM slowwave.events")] == ["I live in Oslo."]
