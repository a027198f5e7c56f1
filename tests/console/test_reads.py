"""No page reads all memories of an agent, and none asks the database once for each row that it lists.

Statements are counted, and the rows that Postgres reads for them; never time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
import redis
from sqlalchemy import Connection, Engine, event

from slowwave.settings import Settings
from slowwave_server.services.access.console_users import add_user
from slowwave_server.services.reports.agents import read_agent
from slowwave_server.services.review.conflict_sides import read_sides
from slowwave_server.services.search.statistics import refresh_statistics
from tests.console.conftest import CHEAP, PASSWORD, Console, open_console

pytestmark = [pytest.mark.servers]

SIZE = 4_000
MOST_STATEMENTS = 40
"""A list needs at most 18, an item of the inbox 35; one more for each of 25 rows would be too many."""
MOST_ROWS = 3_000
"""Fewer than the agent's memories."""
READ_MORE = {
    "/graph": "reads 2,000 memories, and all relations among 100 entities",
    "/memories?known_at=": "reads all changes since a time, up to a limit",
    "/agent?agent=": "counts up to 10,000 memories",
}
SO_FAR = "SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_xact_user_tables"


@dataclass
class Cost:
    statements: int = 0
    rows: int = 0


@contextmanager
def counted(engine: Engine) -> Iterator[Cost]:
    """Count what the threads of requests read. The doctor's thread works for all viewers, whenever it likes."""
    cost = Cost()

    def of_a_request() -> bool:
        return threading.current_thread().name != "console-watch"

    def rows(connection: Connection) -> int:
        cursor = connection.connection.cursor()
        cursor.execute(SO_FAR)
        return int((cursor.fetchone() or (0,))[0])

    def begins(connection: Connection) -> None:
        if of_a_request():
            cost.rows -= rows(connection)

    def ends(connection: Connection) -> None:
        if of_a_request():
            cost.rows += rows(connection)

    def asked(*_: Any) -> None:
        cost.statements += of_a_request()

    listeners = {"begin": begins, "commit": ends, "rollback": ends, "before_cursor_execute": asked}
    for name, listener in listeners.items():
        event.listen(engine, name, listener)
    try:
        yield cost
    finally:
        for name, listener in listeners.items():
            event.remove(engine, name, listener)


@pytest.fixture
def filled(
    engine: Engine, database_url: str, valkey_url: str, redis_client: redis.Redis
) -> Iterator[tuple[Console, list[str]]]:
    """A console over the memories of `python -m bench.console`, but fewer, and the addresses that it measures."""
    from bench.console import addresses, populate  # noqa: PLC0415 (Postgres, which it imports, warns at first)

    now = datetime.now(UTC)
    with psycopg.connect(database_url, autocommit=True) as connection:
        populate(connection, SIZE, now)
        with engine.begin() as counting:
            refresh_statistics(counting, 1, now)
            add_user(counting, "reader", "operator", ["*"], PASSWORD, passwords=CHEAP)
        # Postgres reads small tables in full even if there is an index.
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET enable_seqscan = off")
        paths = [path for path in addresses(connection, now) if path]
    engine.dispose()
    with open_console(engine, redis_client, Settings(database_url=database_url, broker_url=valkey_url)) as console:
        yield console, paths


@pytest.mark.long  # 4,000 memories, and all pages twice
def test_pages_read_few_rows_by_few_statements(filled: tuple[Console, list[str]]) -> None:
    console, paths = filled
    dear = {}
    for path in paths:
        assert console.get(path, who="reader").status_code in {200, 400}, path
        with counted(console.engine) as cost:
            console.get(path, who="reader")
        reads_more = any(path == known or (known.endswith("=") and path.startswith(known)) for known in READ_MORE)
        if cost.statements > MOST_STATEMENTS or (cost.rows > MOST_ROWS and not reads_more):
            dear[path] = cost
    assert len(paths) > 40
    assert dear == {}
    with counted(console.engine) as cost, console.engine.connect() as connection:
        read_agent(connection, "default", "bench", most=500)
    assert cost.rows < MOST_ROWS


def test_sides_of_no_memories_need_no_statement(engine: Engine) -> None:
    with counted(engine) as cost, engine.connect() as connection:
        assert read_sides(connection, "default", []) == {}
    assert cost.statements == 0
