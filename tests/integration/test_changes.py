"""The feed of changes: nothing is lost, nothing forgotten leaves, and whoever listens is woken."""

import asyncio
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import Engine, text

from slowwave import AsyncMemory, Memory
from slowwave.changes import BEGINNING, Change, ChangePage, CursorExpired, places_of
from slowwave.errors import InvalidQuery
from slowwave.settings import Settings
from slowwave_server.services.changes.feed import TOMBSTONE_DAYS, read_changes, remove_old_tombstones
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.undo.undo import undo
from tests.support.installation import NOW, Installation, ago
from tests.support.passing import Past, day
from tests.support.roles import Deployment, deployed

pytestmark = pytest.mark.servers


@pytest.fixture
def installation(engine: Engine) -> Installation:
    return Installation(engine)


@pytest.fixture
def atlas(installation: Installation) -> int:
    installation.agent("atlas")
    return installation.scope("atlas")


@pytest.fixture
def deployment(database_url: str) -> Iterator[Deployment]:
    with deployed(database_url) as made:
        yield made


def read(
    engine: Engine, after: str | None = BEGINNING, *, places: list[str] | None = None, limit: int = 200
) -> ChangePage:
    with engine.connect() as connection:
        return read_changes(connection, "default", after, places, limit)


def seen(engine: Engine, after: str = BEGINNING, *, places: list[str] | None = None) -> list[tuple[str, str | None]]:
    return [(change.type, change.memory.content) for change in read(engine, after, places=places).changes]


def test_a_change_that_commits_late_is_not_lost(installation: Installation, atlas: int, database_url: str) -> None:
    first = installation.memory(atlas, "Maya lives in Lisbon.", [])
    second = installation.memory(atlas, "Maya has a cat.", [])
    insert = "INSERT INTO slowwave.memory_changes (memory_id, action, reason) VALUES (%s, 'created', 'said')"
    with psycopg.connect(database_url) as slow:
        slow.execute(insert, (first,))
        installation.change(second, "created", "said")
        early = read(installation.engine)
        assert (early.changes, early.waits) == ((), True), "an older transaction may still add a row in front"
    late = read(installation.engine, early.cursor)
    assert [change.memory.id for change in late.changes] == [str(first), str(second)]


def test_pages_follow_each_other_without_gap_or_repetition(installation: Installation, atlas: int) -> None:
    memories = [installation.memory(atlas, f"Fact {number}.", []) for number in range(7)]
    for memory in memories:
        installation.change(memory, "created", "said")
    found, cursor, more = [], BEGINNING, True
    while more:
        page = read(installation.engine, cursor, limit=3)
        found += [change.memory.id for change in page.changes]
        cursor, more = page.cursor, page.more
    assert found == [str(memory) for memory in memories]
    assert read(installation.engine, cursor).changes == ()
    assert read(installation.engine, None).changes == ()


def test_changes_say_what_happened(installation: Installation, atlas: int) -> None:
    old = installation.memory(atlas, "Maya lives in Porto.", [], valid_to=ago(5))
    changes = [
        ("created", None, {"status": "inbox"}, "created"),
        ("repeated", {"confidence": 0.5}, {"confidence": 0.7}, "reaffirmed"),
        ("promoted", {"status": "inbox"}, {"status": "active"}, "changed"),
        ("superseded", {"valid_to": None}, {"valid_to": ago(5).isoformat(), "superseded_by": str(old)}, "superseded"),
        ("merged", {"status": "active"}, {"status": "archived", "merged_into": str(old)}, "merged"),
        ("unmerged", {"status": "archived", "merged_into": str(old)}, {"status": "active"}, "restored"),
        ("by hand", {"status": "active"}, {"status": "archived"}, "archived"),
        ("linked", None, {"target": str(old)}, "linked"),
        ("conflict", None, {"with": str(old)}, "disputed"),
    ]
    for action, before, after, _ in changes:
        installation.change(old, action, "why", before=before, after=after)
    page = read(installation.engine)
    assert [change.type for change in page.changes] == [kind for *_, kind in changes]
    change = page.changes[0]
    assert (change.memory.scope, change.memory.agent, change.reason) == ("agent:atlas", "atlas", "why")
    assert change.memory.valid_to == ago(5)
    assert type(change).from_json(change.to_json()) == change


def test_readers_choose_agents_and_rooms(installation: Installation, atlas: int) -> None:
    places = {"atlas": atlas, "at_as": installation.scope("at_as"), "bolt": installation.scope("bolt")}
    places["room"] = installation.scope("kitchen", kind="room")
    other = installation.scope("atlas", tenant="globex")
    for name, scope in [*places.items(), ("globex", other)]:
        installation.change(installation.memory(scope, f"Of {name}.", []), "created", "said")

    def chosen(agents: list[str], scopes: list[str]) -> list[str | None]:
        return [content for _, content in seen(installation.engine, places=places_of(agents, scopes))]

    assert chosen([], []) == ["Of atlas.", "Of at_as.", "Of bolt.", "Of room."]
    assert chosen(["at_as"], []) == ["Of at_as."]
    assert chosen(["at*"], ["room:kit*"]) == ["Of atlas.", "Of at_as.", "Of room."]
    assert chosen([], ["team:kitchen"]) == []


def test_forgotten_words_never_leave(installation: Installation, atlas: int) -> None:
    secret = installation.memory(atlas, "The vault's number is 4711.", [])
    kept = installation.memory(atlas, "Maya has a cat.", [])
    for memory in (secret, kept):
        installation.change(memory, "created", "said: 4711")
    cursor = read(installation.engine).cursor
    erase(installation.engine, Target("memory", "default", memory=secret), clock=lambda: NOW, by="priya", dry_run=False)
    assert seen(installation.engine) == [("created", "Maya has a cat."), ("forgotten", None)]
    (gone,) = (change for change in read(installation.engine, cursor).changes if change.type == "forgotten")
    assert (gone.memory.id, gone.memory.scope) == (str(secret), "agent:atlas")
    with installation.engine.connect() as connection:
        rows = connection.execute(text("SELECT to_jsonb(t)::text FROM slowwave.memory_tombstones t")).scalars().all()
    assert len(rows) == 1
    assert "4711" not in rows[0]


def test_an_undo_removes_and_brings_back(engine: Engine) -> None:
    past = Past(engine)
    note = past.note("Maya lives in Lisbon.")
    with past.run("working", at=day(8)) as run:
        memory = run.keep(note, "Maya lives in Lisbon.")
    cursor = read(engine, None).cursor
    first = undo(engine, past.tenant, run.id, by="priya", now=day(9))
    assert [(change.type, change.memory.id) for change in _of(past, cursor)] == [("removed", str(memory))]
    cursor = _of_cursor(past)
    undo(engine, past.tenant, first.run, by="priya", now=day(10))
    assert [(change.type, change.memory.content) for change in _of(past, cursor)] == [
        ("restored", "Maya lives in Lisbon.")
    ]


def _of(past: Past, cursor: str) -> tuple[Change, ...]:
    with past.engine.connect() as connection:
        return read_changes(connection, past.tenant, cursor).changes


def _of_cursor(past: Past) -> str:
    with past.engine.connect() as connection:
        return read_changes(connection, past.tenant, None).cursor


def test_a_cursor_of_another_database_is_refused(installation: Installation, atlas: int) -> None:
    with pytest.raises(CursorExpired, match="cursor '999999999999-1' is unknown here"):
        read(installation.engine, "999999999999-1")
    for wrong in ("1042", "-1-0", "1-9223372036854775808", "18446744073709551616-1", "01-1", "1-1 "):
        with pytest.raises(InvalidQuery, match="a cursor must be the id of a change"):
            read(installation.engine, wrong)


def test_a_cursor_before_removed_tombstones_is_refused(installation: Installation, atlas: int) -> None:
    memories = [installation.memory(atlas, f"Fact {number}.", []) for number in range(3)]
    cursor = read(installation.engine, None).cursor
    _delete(installation, memories[0])
    _delete(installation, memories[1])
    later = read(installation.engine, None).cursor
    _delete(installation, memories[2])
    with installation.engine.begin() as connection:
        connection.execute(
            text("UPDATE slowwave.memory_tombstones SET made_at = :old WHERE memory_id <> :last"),
            {"old": NOW - timedelta(days=TOMBSTONE_DAYS + 1), "last": memories[2]},
        )
    assert remove_old_tombstones(installation.engine, now=NOW, dry_run=True) == 1
    assert remove_old_tombstones(installation.engine, now=NOW) == 1
    assert remove_old_tombstones(installation.engine, now=NOW) == 0
    with pytest.raises(CursorExpired, match="is too old"):
        read(installation.engine, cursor)
    assert seen(installation.engine, later) == [("forgotten", None)]
    assert seen(installation.engine) == [("forgotten", None)]


def _delete(installation: Installation, memory: UUID) -> None:
    with installation.engine.begin() as connection:
        connection.execute(text("DELETE FROM slowwave.memories WHERE id = :id"), {"id": memory})


def test_a_change_is_on_disk_before_it_is_told(installation: Installation, atlas: int) -> None:
    memory = installation.memory(atlas, "Maya has a cat.", [])
    with installation.engine.begin() as connection:
        connection.execute(text("SET LOCAL synchronous_commit = off"))
        connection.execute(
            text("INSERT INTO slowwave.memory_changes (memory_id, action, reason) VALUES (:id, 'created', 'said')"),
            {"id": memory},
        )
    with installation.engine.connect() as connection:
        written = connection.execute(text("SELECT pg_current_wal_insert_lsn()::text")).scalar_one()
        assert read_changes(connection, "default", BEGINNING).changes
        done = connection.execute(
            text("SELECT pg_current_wal_flush_lsn() >= CAST(:lsn AS pg_lsn)"), {"lsn": written}
        ).scalar_one()
    assert done


def test_only_a_listener_makes_changes_announce_themselves(
    installation: Installation, atlas: int, database_url: str
) -> None:
    memory = installation.memory(atlas, "Maya has a cat.", [])
    with psycopg.connect(database_url, autocommit=True) as listener:
        row = listener.execute("SELECT slowwave.await_changes('default', 60)").fetchone()
        assert row is not None
        listener.execute(f'LISTEN "{row[0]}"')
        installation.change(memory, "created", "said")
        assert [one.channel for one in listener.notifies(timeout=10, stop_after=1)] == [row[0]]
        _delete(installation, installation.memory(atlas, "Gone.", []))
        assert len(list(listener.notifies(timeout=10, stop_after=1))) == 1
        listener.execute("UPDATE slowwave.change_listeners SET until = now() - interval '1 second'")
        installation.change(memory, "repeated", "said")
        assert list(listener.notifies(timeout=0.3)) == []


async def _first(memory: AsyncMemory, began: threading.Event) -> list[str | None]:
    changes = memory.changes("atlas", after=BEGINNING)
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.to_thread(began.wait)
    found = [(await waiting).memory.content, (await anext(changes)).memory.content]
    await changes.aclose()
    return found


def test_an_event_loop_follows_changes(installation: Installation, atlas: int, database_url: str) -> None:
    began = threading.Event()
    memory = AsyncMemory(Settings(database_url=database_url))

    def speak() -> None:
        until = time.monotonic() + 20
        listening = text("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        while time.monotonic() < until:
            with installation.engine.connect() as connection:
                if connection.execute(listening).scalar_one():
                    break
        for number in range(2):
            installation.change(installation.memory(atlas, f"Fact {number}.", []), "created", "said")
        began.set()

    thread = threading.Thread(target=speak)
    thread.start()
    assert asyncio.run(_first(memory, began)) == ["Fact 0.", "Fact 1."]
    thread.join()
    memory.memory.close()


def test_a_producer_follows_its_own_tenant(deployment: Deployment) -> None:
    there = Installation(deployment.owner)
    scopes = {name: there.scope("atlas", tenant=name) for name in ("acme", "globex")}
    memory = Memory(Settings(database_url=deployment.url_of("acme app"), tenant="acme"))
    with memory:
        found: list[tuple[str, float]] = []

        def follow() -> None:
            for change in memory.changes(after=BEGINNING, timeout=20):
                found.append((str(change.memory.content), time.monotonic()))
                if len(found) == 2:
                    return

        thread = threading.Thread(target=follow)
        thread.start()
        _wait_for_listener(deployment)
        began = time.monotonic()
        for number in range(2):
            for tenant, scope in scopes.items():
                made = there.memory(scope, f"{tenant} says {number}", [])
                there.change(made, "created", "said")
        thread.join(30)
    assert [content for content, _ in found] == ["acme says 0", "acme says 1"]
    assert found[-1][1] - began < 4, "woken, not looked for"
    with deployment.connection("acme app") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT slowwave.read_changes('globex', '0-0', NULL, 10)")
    with deployment.connection("acme app") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT slowwave.await_changes('globex', 10)")


def _wait_for_listener(deployment: Deployment) -> None:
    until = time.monotonic() + 10
    listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
    while not deployment.ask("owner", listening)[0][0]:
        assert time.monotonic() < until
        time.sleep(0.02)
