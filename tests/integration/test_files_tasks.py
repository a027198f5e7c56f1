"""The tasks of files in this process: a flush asks for a delivery of what it changed, once, and nobody else does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from slowwave import Memory, Settings
from slowwave.coordination.keys import CONSOLIDATE_QUEUE
from slowwave.identity import SessionRef
from slowwave.messages import DELIVER_OUTBOX
from slowwave_server.services.flush.flusher import FlushResult
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.tasks.base import MAX_ASKED
from slowwave_server.tasks.files import ask_after_flush
from slowwave_server.workers.app import SlowwaveApp, make_app
from tests.support.consolidating import NOW

pytestmark = pytest.mark.servers

REF = SessionRef("default", "atlas", "monday")
STORED = FlushResult("stored", window=(1, 2), stored=1)


def _app(database_url: str, valkey_url: str, folder: Path, backend: str = "file") -> SlowwaveApp:
    memory: Any = {"backend": backend, "files": {"root": str(folder / "memory")}}
    return make_app(Settings(database_url=database_url, broker_url=valkey_url, spool=folder / "spool", memory=memory))


@pytest.fixture
def app(database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[SlowwaveApp]:
    app = _app(database_url, valkey_url, tmp_path)
    app.loader.import_default_modules()
    choose_backend(app.runtime().engine, "file", NOW)
    memory: Memory = app.runtime().memory
    memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Turin."}], scope="room:kitchen")
    memory.session_idle("atlas", "monday")
    yield app
    app.close_runtime()


def _flush(app: SlowwaveApp) -> None:
    runtime = app.runtime()
    runtime.queue.offer(REF, "normal")
    assert runtime.flusher.flush(REF).outcome == "stored"


def test_a_flush_asks_once_for_a_delivery_to_the_files_of_its_scope(
    app: SlowwaveApp, redis_client: redis.Redis, tmp_path: Path
) -> None:
    ask_after_flush(app.runtime(), REF, STORED)
    assert redis_client.llen(CONSOLIDATE_QUEUE) == 0, "nothing waits"
    _flush(app)
    ask_after_flush(app.runtime(), REF, FlushResult("lost"))
    assert redis_client.llen(CONSOLIDATE_QUEUE) == 0, "nothing was committed"
    for _ in range(3):
        ask_after_flush(app.runtime(), REF, STORED)
    assert redis_client.llen(CONSOLIDATE_QUEUE) == 1
    assert app.tasks[DELIVER_OUTBOX].apply(kwargs={"scope": "room:kitchen"}).get() == "current"
    assert "Turin" in next((tmp_path / "memory/default/room/kitchen/daily").iterdir()).read_text(encoding="utf-8")


def test_with_another_backend_or_a_full_queue_a_flush_asks_for_nothing(
    app: SlowwaveApp, redis_client: redis.Redis, database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    _flush(app)
    other = _app(database_url, valkey_url, tmp_path, backend="postgres")
    ask_after_flush(other.runtime(), REF, STORED)
    other.close_runtime()
    assert redis_client.llen(CONSOLIDATE_QUEUE) == 0
    redis_client.lpush(CONSOLIDATE_QUEUE, *["{}"] * MAX_ASKED)
    ask_after_flush(app.runtime(), REF, STORED)
    assert redis_client.llen(CONSOLIDATE_QUEUE) == MAX_ASKED


def test_what_fails_after_a_flush_is_no_failure_of_the_flush(
    app: SlowwaveApp, database_url: str, valkey_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _flush(app)
    for urls in ((database_url, "redis://127.0.0.1:1/0"), ("postgresql://slowwave@127.0.0.1:1/slowwave", valkey_url)):
        cut = _app(*urls, tmp_path)
        caplog.clear()
        ask_after_flush(cut.runtime(), REF, STORED)
        assert "no delivery to a backend was asked for" in caplog.text, urls
        cut.close_runtime()
