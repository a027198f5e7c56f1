"""The outbox: what a backend has to hear of is queued by the database itself, in the transaction that changes it.

Invariants proved here: I1 (no change is missed), I8.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from slowwave_server.services.memories.changes import Author, Ledger, change_memory
from slowwave_server.services.memories.merging import merge_into, part_again
from slowwave_server.services.memory_files.backends import choose_backend, mismatch, registered
from slowwave_server.services.memory_files.locks import FilesBusy, file_lock
from slowwave_server.services.runs.store import start_run
from tests.support.consolidating import NOW, Hearer

pytestmark = pytest.mark.servers

_STORE = text(
    "SELECT id FROM slowwave.store_memory(:scope, :session, NULL, 'Maya sails', 'hash', 'fact', 'inbox', 0.5, 0.5,"
    " 'user', '{}', :now, ARRAY[1]::bigint[], 'test', :now)"
)


def _waiting(hearer: Hearer) -> dict[str, int]:
    rows = hearer.sql(
        "SELECT m.content, o.changes - o.delivered AS open FROM slowwave.outbox o"
        " JOIN slowwave.memories m ON m.id = o.memory_id AND m.scope_id = o.scope_id WHERE o.delivered < o.changes"
    )
    return {row.content: row.open for row in rows}


def _delivered(hearer: Hearer) -> None:
    hearer.sql("UPDATE slowwave.outbox SET delivered = changes")


def test_without_a_backend_nothing_is_queued(engine: Engine) -> None:
    hearer = Hearer(engine)
    hearer.hear("Maya lives in Turin")
    assert _waiting(hearer) == {}


def test_what_lives_when_a_backend_is_chosen_is_queued_once(engine: Engine) -> None:
    hearer = Hearer(engine)
    kept = hearer.hear("Maya lives in Turin")
    gone = hearer.hear("Maya has a cat")
    hearer.sql("UPDATE slowwave.memories SET status = 'archived' WHERE id = :id", id=gone)
    assert choose_backend(engine, "file", NOW).registered == "file"
    assert _waiting(hearer) == {"Maya lives in Turin": 1}
    assert choose_backend(engine, "file", NOW).registered is None
    assert _waiting(hearer) == {"Maya lives in Turin": 1}
    assert hearer.sql("SELECT memory_id FROM slowwave.outbox")[0].memory_id == kept
    assert choose_backend(engine, "postgres", NOW).unregistered == "file"
    assert _waiting(hearer) == {}
    with engine.connect() as connection:
        assert registered(connection) == []


def test_settings_that_differ_from_what_is_fed_are_told(engine: Engine) -> None:
    with engine.connect() as connection:
        assert mismatch(connection, "postgres") is None
        assert "files sync" in str(mismatch(connection, "file"))
    choose_backend(engine, "file", NOW)
    with engine.connect() as connection:
        assert mismatch(connection, "file") is None
        assert "another process" in str(mismatch(connection, "postgres"))


def test_every_change_that_a_file_shows_is_queued(engine: Engine) -> None:
    hearer = Hearer(engine)
    choose_backend(engine, "file", NOW)
    turin = hearer.hear("Maya lives in Turin")
    torino = hearer.hear("Maya lives in Torino", session="t", confidence=0.9)
    assert _waiting(hearer) == {"Maya lives in Turin": 1, "Maya lives in Torino": 1}
    _delivered(hearer)
    hearer.hear("Maya lives in Turin", session="u")
    assert set(_waiting(hearer)) == {"Maya lives in Turin"}
    _delivered(hearer)
    with engine.begin() as connection:
        author = Author(start_run(connection, kind="other", now=NOW, lease_seconds=60).id)
        merge_into(Ledger(connection, author, NOW), torino, 0, turin, reason="test")
    assert set(_waiting(hearer)) == {"Maya lives in Turin", "Maya lives in Torino"}
    _delivered(hearer)
    with engine.begin() as connection:
        revision = hearer.memory(torino).revision
        part_again(Ledger(connection, author, NOW), torino, revision, "inbox", reason="test")
    # The survivor has no change of its own: it is weighed without what the part knew.
    assert set(_waiting(hearer)) == {"Maya lives in Turin", "Maya lives in Torino"}
    _delivered(hearer)
    with engine.begin() as connection:
        fields = {"status": "archived", "archive_reason": "test"}
        change_memory(
            Ledger(connection, author, NOW), turin, hearer.memory(turin).revision, fields, action="x", reason="t"
        )
    assert set(_waiting(hearer)) == {"Maya lives in Turin"}


def test_i1_a_change_under_way_while_a_backend_registers_is_queued(engine: Engine) -> None:
    hearer = Hearer(engine)
    hearer.session("s")
    with ThreadPoolExecutor(1) as pool, engine.begin() as connection:
        values = {"scope": hearer.scope_id, "session": hearer.session("s"), "now": NOW}
        connection.execute(_STORE, values)
        choosing = pool.submit(choose_backend, engine, "file", NOW)
        deadline = time.monotonic() + 10
        while not hearer.sql("SELECT FROM pg_locks WHERE NOT granted"):
            assert time.monotonic() < deadline
            assert not choosing.done()
        connection.commit()
        assert choosing.result(10).registered == "file"
    assert _waiting(hearer) == {"Maya sails": 1}


def test_the_file_lock_keeps_others_out_and_is_given_back(engine: Engine) -> None:
    with (
        file_lock(engine, 1) as lock,
        pytest.raises(FilesBusy, match="try again"),
        file_lock(engine, 1, wait_seconds=0.05),
    ):
        raise AssertionError("two hold it")  # pragma: no cover
    with file_lock(engine, 1, wait_seconds=0.05), file_lock(engine, 2, wait_seconds=0.05) as lock:
        lock.check()
