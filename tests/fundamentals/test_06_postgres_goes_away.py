"""Chapter 6. Postgres goes away.

A reply must not fail because a server restarts. While Postgres can't be reached, a hook writes what it was given to a
spool: files on the local disk, synced before the hook returns. Nobody gets an exception unless they asked for one. When
the server is back a thread delivers the files in their order, exactly once, and later turns never overtake earlier
ones.
"""

import pytest

from slowwave import Memory, StoreUnavailable
from tests.fundamentals.stage import Stage


def test_i1_what_was_said_meanwhile_is_delivered_in_order_and_once(stage: Stage, postgres_url: str) -> None:
    stage.memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Oslo."}])
    with stage.without_postgres(postgres_url):
        receipts = [
            stage.memory.turn_completed("atlas", "monday", [{"role": "user", "content": content}], key=key)
            for key, content in (
                ("a", "My favourite tea is oolong."),
                ("b", "I moved to Bergen."),
                ("b", "I moved to Bergen."),
            )
        ]
        assert {receipt.stored for receipt in receipts} == {"spool"}
        assert not stage.memory.flush(timeout=0.1), "it can't be delivered yet"

    assert stage.memory.flush(timeout=60)
    events = stage.rows("SELECT seq, content FROM slowwave.events ORDER BY seq")
    assert [(event.seq, event.content) for event in events] == [
        (1, "I live in Oslo."),
        (2, "My favourite tea is oolong."),
        (3, "I moved to Bergen."),
    ]
    assert stage.memory.status().spool_files == 0


def test_who_wants_to_know_is_told_after_the_turn_is_safe(stage: Stage, postgres_url: str) -> None:
    with Memory(stage.settings, raise_errors=True) as strict:
        with stage.without_postgres(postgres_url), pytest.raises(StoreUnavailable, match="will be delivered"):
            strict.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Oslo."}])
        assert strict.flush(timeout=60)
    assert [row.content for row in stage.rows("SELECT content FROM slowwave.events")] == ["I live in Oslo."]
