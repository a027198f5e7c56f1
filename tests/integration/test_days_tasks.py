"""The tasks of days in this process: what they refuse to do, and what fails without harm."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.coordination.keys import DAYS_QUEUE, FINALIZE_KEY, PREFIX
from slowwave.identity import SessionRef
from slowwave.messages import FINALIZE_DAYS, SUMMARIZE_DAY
from slowwave.settings import Settings
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.tasks.base import MAX_ASKED
from slowwave_server.tasks.days import ask_after_flushes
from slowwave_server.workers.app import SlowwaveApp, make_app

pytestmark = pytest.mark.servers

SUMMARIZE_DUE_DAYS = "slowwave.summarize_due_days"

YESTERDAY = datetime.now(UTC).date() - timedelta(days=1)
REF = SessionRef("default", "atlas", "monday")
ENDED = FlushResult("stored", window=(1, 2), ended_run=True)
NOWHERE = {"database_url": "postgresql://slowwave@127.0.0.1:1/slowwave", "broker_url": "redis://127.0.0.1:1/0"}


def settings_of(database_url: str, valkey_url: str, folder: Path, /, **more: Any) -> Settings:
    memory: Any = {"days": {"realtime_summary_turn_threshold": 2}}
    urls = {"database_url": database_url, "broker_url": valkey_url} | more
    return Settings(spool=folder / "spool", memory=memory, **urls)


@pytest.fixture
def app(database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[SlowwaveApp]:
    app = make_app(settings_of(database_url, valkey_url, tmp_path))
    app.loader.import_default_modules()
    yield app
    app.close_runtime()


def yesterday(app: SlowwaveApp, scope: str | None = None, session: str = "monday") -> None:
    memory: Memory = app.runtime().memory
    at = datetime.combine(YESTERDAY, time(9), UTC)
    said = [{"role": "user", "content": f"I want to see Bergen {n}.", "at": at} for n in range(2)]
    memory.turn_completed("atlas", session, said, scope=scope)


def run(app: SlowwaveApp, task: str, **payload: Any) -> Any:
    return app.tasks[task].apply(kwargs=payload).get()


def summaries(engine: Engine) -> list[Any]:
    query = "SELECT k.kind, z.version FROM slowwave.day_summaries z JOIN slowwave.scopes k ON k.id = z.scope_id"
    with engine.connect() as connection:
        return list(connection.execute(text(f"{query} ORDER BY z.id")))


def test_with_a_full_queue_nothing_is_added_and_what_is_due_waits_in_postgres(
    app: SlowwaveApp, redis_client: redis.Redis
) -> None:
    yesterday(app)
    redis_client.lpush(DAYS_QUEUE, *["{}"] * MAX_ASKED)
    for task in (SUMMARIZE_DUE_DAYS, FINALIZE_DAYS):
        run(app, task)
    ask_after_flushes(app.runtime(), [(REF, ENDED)])
    assert redis_client.llen(DAYS_QUEUE) == MAX_ASKED
    redis_client.delete(DAYS_QUEUE)
    for task in (SUMMARIZE_DUE_DAYS, FINALIZE_DAYS, SUMMARIZE_DUE_DAYS):
        run(app, task)
    assert redis_client.llen(DAYS_QUEUE) == 1, "it is asked for once"


def test_a_flush_asks_for_its_day_once_and_for_a_sweep_where_a_run_ended(
    app: SlowwaveApp, redis_client: redis.Redis
) -> None:
    yesterday(app)
    for result in (FlushResult("lost"), FlushResult("failed"), FlushResult("clean")):
        ask_after_flushes(app.runtime(), [(REF, result)])
    assert redis_client.llen(DAYS_QUEUE) == 0, "nothing was committed"
    for _ in range(3):
        ask_after_flushes(app.runtime(), [(REF, FlushResult("stored", window=(1, 2)))])
    assert redis_client.llen(DAYS_QUEUE) == 1
    assert not redis_client.exists(FINALIZE_KEY)
    for _ in range(3):
        ask_after_flushes(app.runtime(), [(REF, ENDED)])
    assert redis_client.llen(DAYS_QUEUE) == 2
    assert redis_client.exists(FINALIZE_KEY)


def test_what_fails_after_a_flush_is_no_failure_of_the_flush(
    app: SlowwaveApp, database_url: str, valkey_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    yesterday(app)
    for gone in (("broker_url",), ("database_url",), ("broker_url", "database_url")):
        cut = make_app(settings_of(database_url, valkey_url, tmp_path, **{name: NOWHERE[name] for name in gone}))
        caplog.clear()
        ask_after_flushes(cut.runtime(), [(REF, ENDED)])
        assert "no day was asked for after a flush" in caplog.text, gone
        cut.close_runtime()


def test_the_message_of_a_day_that_kills_its_workers_ends_while_the_day_backs_off(
    app: SlowwaveApp, engine: Engine
) -> None:
    """It comes back at once each time, so the message itself must stop; the day is asked for when its wait is over."""
    yesterday(app)
    payload = {"agent": "atlas", "day": str(YESTERDAY), "final": True}
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO slowwave.days (agent_id, scope_id, day, attempts, not_before)"
                " SELECT agent_id, scope_id, day, 2, now() + interval '1 minute' FROM slowwave.session_days"
            )
        )
    assert run(app, SUMMARIZE_DAY, **payload) == "early"
    assert summaries(engine) == []
    with engine.begin() as connection:
        assert connection.execute(text("SELECT attempts FROM slowwave.days")).scalar() == 2
        connection.execute(text("UPDATE slowwave.days SET not_before = now()"))
    assert run(app, SUMMARIZE_DAY, **payload) == "summarized"
    assert run(app, SUMMARIZE_DAY, **payload) == "unchanged"


def test_i8_a_message_for_one_scope_summarises_that_one_alone(app: SlowwaveApp, engine: Engine) -> None:
    yesterday(app)
    yesterday(app, scope="room:office", session="standup")
    assert run(app, SUMMARIZE_DAY, agent="atlas", day=str(YESTERDAY), scope="room:office") == "summarized"
    assert summaries(engine) == [("room", 1)]
    assert run(app, SUMMARIZE_DAY, agent="atlas", day=str(YESTERDAY), scope="room:garden") == "unknown"
    assert run(app, SUMMARIZE_DAY, agent="atlas", day=str(YESTERDAY), tenant="acme") == "unknown"
    assert summaries(engine) == [("room", 1)]


def test_a_begun_summary_gives_its_ticket_back_so_that_what_comes_meanwhile_is_asked_for(
    app: SlowwaveApp, redis_client: redis.Redis
) -> None:
    yesterday(app)
    run(app, FINALIZE_DAYS)
    (key,) = redis_client.scan_iter(f"{PREFIX}day:*")
    ticket = redis_client.get(key)
    assert isinstance(ticket, bytes)
    run(app, SUMMARIZE_DAY, agent="atlas", day=str(YESTERDAY), ticket=ticket.decode(), final=True)
    assert not redis_client.exists(key)
