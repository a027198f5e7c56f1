"""What stands behind every transport of the suite: servers, a worker that is told to work, and one that answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psycopg
from redis import Redis
from sqlalchemy import Engine

from slowwave import Settings
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.requests.store import answer_request
from slowwave_server.services.requests.work import RequestWork
from slowwave_server.workers.leases import LeaseThread
from tests.support.flushing import EveryUserLine

TENANT = "acme"


@dataclass
class Backing:
    """One database and one Valkey. Whatever is asked of workers is done by a thread, with the services of a worker."""

    settings: Settings
    engine: Engine
    redis: Redis
    extractor: EveryUserLine = field(default_factory=EveryUserLine)

    def flush(self, agent: str, session: str) -> None:
        """Be a worker: make memories of what a conversation has said, one of each line of a user."""
        idle = "SELECT slowwave.capture_session(%s, %s, %s, '[]', NULL, 'idle', 1, 1, 1, 'UTC', 0)"
        self.sql(idle, TENANT, agent, session)
        queue, flushing = FlushQueue(self.redis), self.settings.memory.auto_flush
        flusher = Flusher(
            engine=self.engine.execution_options(isolation_level="AUTOCOMMIT"),
            queue=queue,
            keeper=LeaseThread(queue, lease_seconds=flushing.lease_seconds),
            extractor=self.extractor,
            settings=flushing,
            clock=lambda: datetime.now(UTC),
            jitter=lambda: 0.5,
            pause=lambda _seconds: None,
        )
        ref = SessionRef(TENANT, agent, session)
        queue.offer(ref, "normal")
        outcome = flusher.flush(ref).outcome
        assert outcome == "stored", outcome

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            result = connection.exec_driver_sql(statement, values or None)
            return [tuple(row) for row in result] if result.returns_rows else []

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Requests are answered inside the block."""
        over = threading.Event()
        thread = threading.Thread(target=self._answer, args=(over,))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _answer(self, over: threading.Event) -> None:
        def clock() -> datetime:
            return datetime.now(UTC)

        work = RequestWork(self.engine, self.redis, self.settings, clock)
        waiting = "SELECT id FROM slowwave.requests WHERE state = 'waiting' ORDER BY created_at"
        with psycopg.connect(self.settings.database_url, autocommit=True) as connection:
            while not over.wait(0.02):
                for (request,) in connection.execute(waiting).fetchall():
                    with suppress(Exception):  # the row says what failed
                        answer_request(self.engine, request, work, clock)
