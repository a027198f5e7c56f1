"""Events lie in partitions by session: none is lost or doubled, keys stay unique, room is made and given back."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import psycopg
import pytest
from sqlalchemy import Engine, Row, text

from slowwave import Memory, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.retention.job import PartitionCounts, keep_partitions
from tests.support.processes import wait_until

pytestmark = pytest.mark.servers
TURN = ({"role": "user", "content": "Priya moved to Bergen."}, {"role": "assistant", "content": "How is it there?"})
_EVENTS = text("SELECT e.*, e.tableoid::regclass::text AS lies_in FROM slowwave.events e ORDER BY e.session_id, e.seq")
_BOUNDS = text("SELECT p.name, p.bound FROM slowwave.event_partitions() AS p")


def events(engine: Engine) -> Sequence[Row[tuple[object, ...]]]:
    with engine.connect() as connection:
        return connection.execute(_EVENTS).all()


def rows(engine: Engine) -> list[tuple[object, ...]]:
    """All columns of all events, without where they lie."""
    return [tuple(row)[:-1] for row in events(engine)]


def bounds(engine: Engine) -> list[int]:
    with engine.connect() as connection:
        return [row.bound for row in connection.execute(_BOUNDS)]


def say(database_url: str, sessions: Sequence[str], turns: int = 1) -> None:
    with Memory(Settings(database_url=database_url)) as memory:
        for session in sessions:
            for turn in range(turns):
                memory.turn_completed("maya", session, TURN, key=f"{session}-{turn}")


def narrow(engine: Engine) -> None:
    """Begin again with a first partition of two sessions, so that a few sessions need several."""
    with engine.begin() as connection:
        for statement in (
            "DROP TABLE slowwave.events_1000000, slowwave.events_rest",
            "CREATE TABLE slowwave.events_2 PARTITION OF slowwave.events FOR VALUES FROM (MINVALUE) TO (2)",
            "CREATE TABLE slowwave.events_rest PARTITION OF slowwave.events FOR VALUES FROM (2) TO (MAXVALUE)",
        ):
            connection.execute(text(statement))


def test_i1_i2_partitions_come_and_go_with_every_row_byte_for_byte(database_url: str, engine: Engine) -> None:
    migrate(engine, "0100")
    say(database_url, [f"s{number}" for number in range(9)], turns=3)
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE slowwave.events SET metadata = '{\"a\": 1}', quarantined_at = now() WHERE seq = 2")
        )
    before = rows(engine)
    migrate(engine)
    assert rows(engine) == before
    narrow_down(engine)
    assert rows(engine) == before
    assert len({row.lies_in for row in events(engine)}) > 3
    places = [row.lies_in for row in events(engine)]
    migrate(engine, "0100")
    assert rows(engine) == before
    migrate(engine)
    assert rows(engine) == before
    assert [row.lies_in for row in events(engine)] == places


def narrow_down(engine: Engine) -> None:
    """Put what is there into partitions of two sessions."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM slowwave.events"))
        connection.execute(text("TRUNCATE slowwave.events"))
        for name in ("events_1000000", "events_rest"):
            connection.execute(text(f"DROP TABLE slowwave.{name}"))
        connection.execute(
            text("CREATE TABLE slowwave.events_2 PARTITION OF slowwave.events FOR VALUES FROM (0) TO (2)")
        )
        rest = "CREATE TABLE slowwave.events_rest PARTITION OF slowwave.events FOR VALUES FROM (2) TO (MAXVALUE)"
        connection.execute(text(rest))
        connection.execute(text("SELECT slowwave.add_event_partitions(2)"))
        connection.execute(text("INSERT INTO slowwave.events SELECT * FROM kept"))


def test_room_is_made_before_it_is_needed_and_once(database_url: str, engine: Engine) -> None:
    assert (bounds(engine), keep_partitions(engine)) == ([1_000_000], PartitionCounts())
    narrow(engine)
    assert keep_partitions(engine, width=2) == PartitionCounts()
    say(database_url, ["a", "b", "c"])
    before = rows(engine)
    # The second and third lie in the partition without an end, which becomes one that has an end.
    assert keep_partitions(engine, width=2) == PartitionCounts(made=2)
    assert (bounds(engine), keep_partitions(engine, width=2)) == ([2, 4, 6], PartitionCounts())
    assert rows(engine) == before
    say(database_url, ["d", "e", "f", "g"])
    assert {row.session_id: row.lies_in for row in events(engine)} == {
        1: "slowwave.events_2",
        2: "slowwave.events_4",
        3: "slowwave.events_4",
        4: "slowwave.events_6",
        5: "slowwave.events_6",
        6: "slowwave.events_rest",
        7: "slowwave.events_rest",
    }


def test_i1_a_repeated_key_is_a_repetition_in_every_partition(database_url: str, engine: Engine) -> None:
    narrow(engine)
    for _ in range(2):
        say(database_url, ["a", "b", "c"], turns=2)
        before = rows(engine)
        keep_partitions(engine, width=2)
        say(database_url, ["a", "b", "c"], turns=2)
        assert rows(engine) == before
        assert len(before) == 3 * 2 * 2
    with engine.begin() as connection, pytest.raises(Exception, match="duplicate key"):
        connection.execute(text("INSERT INTO slowwave.events SELECT * FROM slowwave.events WHERE session_id = 3"))


def test_i1_captures_that_run_while_partitions_are_made_lose_nothing(database_url: str, engine: Engine) -> None:
    narrow(engine)
    with ThreadPoolExecutor(3) as pool:
        talking = [pool.submit(say, database_url, [f"{who}-{n}" for n in range(15)], 2) for who in "abc"]
        made = 0
        while not all(talk.done() for talk in talking):
            made += keep_partitions(engine, width=2).made
        for talk in talking:
            talk.result()
    assert made > 1
    assert len(rows(engine)) == 3 * 15 * 2 * 2


def test_what_is_in_use_is_left_to_the_next_call(database_url: str, engine: Engine) -> None:
    narrow(engine)
    say(database_url, ["a", "b", "c"])
    with psycopg.connect(database_url) as reader:
        reader.execute("SELECT count(*) FROM slowwave.events")
        assert keep_partitions(engine, width=2) == PartitionCounts(busy=True)
    assert keep_partitions(engine, width=2) == PartitionCounts(made=2)


def test_i10_an_emptied_partition_gives_its_room_back_and_takes_new_events(database_url: str, engine: Engine) -> None:
    narrow(engine)
    say(database_url, ["a", "b", "c"], turns=3)
    keep_partitions(engine, width=2)
    for session in ("b", "c"):
        erase(engine, Target.of_session("default", "maya", session), clock=_now, by="test", dry_run=False)
    engine.dispose()  # an idle connection tells the statistics after ten seconds what it did, one that ends at once
    sizes = text("SELECT pg_relation_size('slowwave.events_4'), pg_relation_size('slowwave.events_2')")
    quiet = make_engine(database_url)

    def emptied() -> bool:
        return keep_partitions(quiet, width=2).emptied == 1

    wait_until(emptied, 20, "the statistics to know that the partition is empty")
    with quiet.connect() as connection:
        gone, kept = connection.execute(sizes).one()
    assert (gone, kept > 0) == (0, True)
    assert {row.session_id for row in events(quiet)} == {1}
    quiet.dispose()


def _now() -> datetime:
    return datetime.now(UTC)
