"""Captures and summaries of one day at the same time: nobody waits crosswise, and all adds up."""

import json
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text

from slowwave_server.models.engine import make_engine
from tests.support.summarizing import NOON, Diary

pytestmark = pytest.mark.servers

SESSIONS = ("s1", "s2", "s3", "s4")
ROUNDS = 25
_CAPTURE = text(
    "SELECT count(*) FROM slowwave.capture_batch('default', CAST(:batch AS jsonb), 120, 600, 5, 'UTC', 0, :now)"
)


def capture_all(engine: Engine, number: int) -> None:
    """One event of each session in one statement, which holds all their rows at once."""
    batch = [
        {"agent": "maya", "session": session, "events": [{"kind": "user", "step": 1, "content": f"Line {number}."}]}
        for session in SESSIONS
    ]
    with engine.begin() as connection:
        connection.execute(_CAPTURE, {"batch": json.dumps(batch), "now": NOON})


def at_once(*works: Callable[[], None]) -> list[BaseException]:
    """Run them in threads of their own; answer what they raised."""
    raised: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    return raised


def test_i5_captures_and_summaries_at_once_neither_deadlock_nor_miscount(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=6)
    diary = Diary(engine)
    capture_all(engine, 0)

    def capture() -> None:
        for number in range(ROUNDS):
            capture_all(engine, number)

    def summarize() -> None:
        for _ in range(ROUNDS):
            assert diary.summarize(NOON.date()).outcome in {"summarized", "unchanged", "lost"}
            diary.check()

    assert at_once(capture, capture, summarize, summarize) == []
    diary.check()
    total = len(SESSIONS) * (2 * ROUNDS + 1)
    assert diary.entry(NOON.date()).total_messages == total
    assert diary.summarize(NOON.date()).messages == total
    versions = [row.version for row in diary.summaries(NOON.date())]
    assert versions == list(range(1, len(versions) + 1))
    engine.dispose()


def test_a_commit_of_an_engine_of_single_statements_is_one_too(database_url: str) -> None:
    """Workers' engines commit each statement; what must be a transaction is one all the same."""
    engine = make_engine(database_url, autocommit=True)
    diary = Diary(engine)
    capture_all(engine, 0)
    assert diary.summarize(NOON.date()).version == 1
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO slowwave.agents (tenant, name) VALUES ('default', 'jonas')"))
        connection.rollback()
    assert len(diary.sql("SELECT FROM slowwave.agents")) == 2, "the pool's connections are as they were"
    engine.dispose()
