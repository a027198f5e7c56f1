"""Cycles as runs: they are told of, break without a trace, keep out of each other's way, and can be taken back."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from slowwave.settings import Consolidation
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.runs.signals import consolidation_completed, consolidation_failed, consolidation_started
from slowwave_server.services.undo.undo import undo
from slowwave_server.services.working.consolidate import consolidate_working
from slowwave_server.services.working.store import DEAD_RUN, cycle_lock
from tests.support.remembering import Desk, open_desk

pytestmark = pytest.mark.servers

_STORE = text(
    "SELECT slowwave.store_memory(:scope, (SELECT id FROM slowwave.sessions LIMIT 1), NULL, :content, :hash, 'fact',"
    " 'inbox', 0.6, 0.5, 'user', NULL, now(), ARRAY[1]::bigint[], 'test', now())"
)


@pytest.fixture
def desk(engine: Engine, database_url: str, valkey_url: str, tmp_path: Path) -> Iterator[Desk]:
    with open_desk(engine, database_url, valkey_url, tmp_path / "spool") as desk:
        yield desk


class Listener:
    """Notes which signals came, with their fields."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def started(self, _kind: str, **fields: Any) -> None:
        self.heard.append(("started", fields))

    def completed(self, _kind: str, **fields: Any) -> None:
        self.heard.append(("completed", fields))

    def failed(self, _kind: str, **fields: Any) -> None:
        self.heard.append(("failed", fields))


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    pairs = [
        (consolidation_started, listener.started),
        (consolidation_completed, listener.completed),
        (consolidation_failed, listener.failed),
    ]
    for signal, receiver in pairs:
        signal.connect(receiver)
    yield listener
    for signal, receiver in pairs:
        signal.disconnect(receiver)


def test_a_dry_run_says_what_would_be_done_and_changes_nothing(desk: Desk, listener: Listener) -> None:
    desk.note("Maya lives in Lisbon.", "Maya lives in Lisbon.")
    before = desk.state()
    report = desk.cycle(dry_run=True)
    assert (report.state, report.run, report.persisted, report.duplicates) == ("completed", None, 1, 1)
    assert [one.outcome for one in report.outcomes] == ["consolidated", "duplicate"]
    assert desk.state() == before
    assert listener.heard == []


def test_signals_tell_of_the_start_the_end_and_the_numbers(desk: Desk, listener: Listener) -> None:
    desk.note("Maya planted rose bushes in the back garden.", "Maya planted rose bushes in the back garden with Ines.")
    report = desk.cycle()
    where = {"run": report.run, "scope": desk.scope_id()}
    numbers = {name: getattr(report, name) for name in ("duration_ms", "persisted", "links", "triples")}
    assert listener.heard == [("started", where), ("completed", where | numbers)]
    assert numbers["persisted"] == 2


def test_a_receiver_that_raises_stops_no_cycle(desk: Desk) -> None:
    def broken(_kind: str, **_: Any) -> None:
        raise RuntimeError("no metrics server")

    with consolidation_started.connected_to(broken), consolidation_completed.connected_to(broken):
        desk.note("Maya lives in Lisbon.")
        assert desk.cycle().persisted == 1


def test_mistake_25_a_cycle_that_breaks_in_the_middle_leaves_nothing_half_done(
    desk: Desk, listener: Listener, database_url: str
) -> None:
    desk.note("Maya lives in Lisbon.", "Jonas works at Initech.")
    with desk.engine.begin() as connection:  # the last thing that a cycle writes waits for this
        connection.execute(text("LOCK TABLE slowwave.memory_blocks IN ACCESS EXCLUSIVE MODE"))
        with ThreadPoolExecutor(1) as threads:
            cycle = threads.submit(desk.cycle)
            _cut_who_waits(database_url)
            with pytest.raises(DBAPIError):
                cycle.result(20)
    assert desk.memories() == []
    assert set(desk.outcomes().values()) == {None}
    (run,) = desk.rows("SELECT status, error FROM slowwave.maintenance_runs")
    assert run.status == "failed"
    assert "terminating connection" in run.error
    assert [name for name, _ in listener.heard] == ["started", "failed"]
    assert "terminating connection" in listener.heard[1][1]["error"]
    assert desk.memory.stats("atlas").failed_runs == 1
    assert desk.cycle().persisted == 2, "the next cycle does all of it"


def _cut_who_waits(database_url: str) -> None:
    """End the connection that waits for a table, as soon as there is one."""
    waiting = "SELECT l.pid FROM pg_locks l WHERE NOT l.granted AND l.relation = 'slowwave.memory_blocks'::regclass"
    never = threading.Event()
    with psycopg.connect(database_url, autocommit=True) as connection:
        for _ in range(1000):
            if found := connection.execute(waiting).fetchone():
                connection.execute("SELECT pg_terminate_backend(%s, 10000)", found)
                return
            never.wait(0.02)
    raise AssertionError("no cycle ever came to that table")


def test_a_run_whose_process_died_is_ended_by_the_next_cycle(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.")
    with desk.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO slowwave.maintenance_runs (kind, scope_id, lease, started_at)"
                " VALUES ('working', :scope, gen_random_uuid(), now())"
            ),
            {"scope": desk.scope_id()},
        )
    assert desk.cycle().persisted == 1
    runs = desk.rows("SELECT status, error FROM slowwave.maintenance_runs ORDER BY id")
    assert [(run.status, run.error) for run in runs] == [("failed", DEAD_RUN), ("completed", None)]


def test_invariant_i4_cycles_of_one_scope_wait_for_each_other_and_those_of_others_do_not(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.")
    desk.note("The printer is on floor 2.", scope="room:office")
    with desk.engine.connect() as connection, cycle_lock(connection, desk.scope_id(), wait_seconds=1) as ours:
        assert ours
        assert desk.cycle(lock_wait_seconds=0.05).state == "busy"
        assert desk.cycle(scope_id=desk.scope_id("office", "room"), lock_wait_seconds=0.05).persisted == 1
    assert desk.cycle().persisted == 1


def test_remember_never_waits_for_a_cycle(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.")
    with (
        desk.engine.connect() as connection,
        cycle_lock(connection, desk.scope_id(), wait_seconds=1) as ours,
        connection.begin(),
    ):  # all that a cycle holds, held for as long as this block lasts
        assert ours
        connection.execute(text("UPDATE slowwave.working_memory SET outcome = 'expired', settled_at = now()"))
        connection.execute(text("SELECT id FROM slowwave.memories FOR UPDATE"))
        assert desk.memory.remember("atlas", "Jonas works at Initech.").added


def test_mistake_27_cycles_and_flushes_at_once_end_in_one_memory_of_each_statement(desk: Desk) -> None:
    """Each statement is noted twice and flushed twice, all at once: the unique key decides, and nothing is lost."""
    lines = [f"Priya read book number {number} of the series." for number in range(12)]
    for line in lines:
        desk.note(line, line)
    desk.memory.turn_completed("atlas", "monday", [{"role": "user", "content": "Hello!"}])
    ready = threading.Barrier(5)

    def cycle(_: int) -> Any:
        ready.wait(10)
        return consolidate_working(
            desk.engine, desk.scope_id(), settings=Consolidation(batch_size=6), clock=desk.clock, lock_wait_seconds=20
        )

    def flush(order: int) -> None:
        ready.wait(10)
        for line in lines[::order]:
            with desk.engine.begin() as connection:
                connection.execute(_STORE, {"scope": desk.scope_id(), "content": line, "hash": content_hash(line)})

    with ThreadPoolExecutor(5) as threads:
        work = [*(threads.submit(cycle, n) for n in range(3)), threads.submit(flush, 1), threads.submit(flush, -1)]
        for one in work:
            one.result(30)
    while desk.cycle().state != "nothing":
        pass
    assert desk.memories() == sorted(lines)
    counts = desk.rows(
        "SELECT (SELECT count(*) FROM slowwave.memory_notes n WHERE n.memory_id = m.id) AS notes,"
        " (SELECT count(*) FROM slowwave.memory_sources x WHERE x.memory_id = m.id) AS sources FROM slowwave.memories m"
    )
    assert {(row.notes, row.sources) for row in counts} == {(2, 1)}
    assert set(desk.outcomes().values()) <= {"consolidated", "duplicate"}


def test_what_was_merged_or_rejected_hears_a_note_and_stays_what_it_is(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.", "Jonas rows on Sundays.", "Ines has a cat.")
    desk.cycle()
    with desk.engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE slowwave.memories SET status = 'archived', archive_reason = 'merged', merged_into ="
                " (SELECT id FROM slowwave.memories WHERE content LIKE 'Ines%') WHERE content LIKE 'Maya%'"
            )
        )
        connection.execute(
            text(
                "UPDATE slowwave.memories SET status = 'archived', archive_reason = 'rejected'"
                " WHERE content LIKE 'Jonas%'"
            )
        )
    desk.note("Maya lives in Lisbon.", "Jonas rows on Sundays.", session="tuesday")
    report = desk.cycle()
    assert (report.persisted, report.duplicates) == (0, 2)
    states = {row.content: row for row in desk.rows("SELECT content, status, confidence FROM slowwave.memories")}
    assert [states[name].status for name in sorted(states)] == ["inbox", "archived", "archived"]
    assert states["Ines has a cat."].confidence > 0.6, "the survivor hears what its part is told"


def test_undoing_a_cycle_puts_its_notes_back_and_the_next_one_does_it_again(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.", "Maya lives in Lisbon.", "Jonas works at Initech.")
    first = desk.cycle()
    assert first.run is not None
    undo(desk.engine, "default", first.run, by="test", now=desk.clock())
    assert desk.memories() == []
    assert set(desk.outcomes().values()) == {None}
    assert desk.memory.stats("atlas").persisted == 0
    again = desk.cycle()
    assert (again.persisted, again.duplicates) == (first.persisted, first.duplicates)


def test_invariant_i8_a_cycle_sees_its_own_scope_alone(desk: Desk) -> None:
    desk.note("Maya lives in Lisbon.")
    desk.note("Maya lives in Lisbon.", scope="room:office")
    desk.memory.for_tenant("acme").remember("atlas", "Maya lives in Lisbon.", 0.9)
    assert desk.cycle().persisted == 1
    assert desk.cycle(scope_id=desk.scope_id("office", "room")).persisted == 1
    assert desk.rows("SELECT count(*) AS n FROM slowwave.working_memory WHERE outcome IS NULL")[0].n == 1
    assert desk.rows("SELECT count(*) AS n FROM slowwave.memory_links")[0].n == 0
