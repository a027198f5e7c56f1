"""The stage of this tutorial: a host that records turns, real servers, and a worker that works when it is told to.

Nothing here is a model of the system: `Memory` is what hosts call, `Flusher` is what a worker's task calls, and the
messages between them lie in the real Valkey. Only Celery's process around the worker is left out, so that a test can
stop between two steps and look.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from redis import Redis
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE
from slowwave.identity import SessionRef
from slowwave.settings import Settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.services.flush.flusher import Flusher, FlushResult
from slowwave_server.services.flush.sweep import SweepReport, sweep
from slowwave_server.workers.leases import LeaseThread
from tests.support.flushing import Clock


@dataclass
class Stage:
    """memory: what the agents' host holds. extractor: what the worker reads windows with. clock: the worker's."""

    memory: Memory
    engine: Engine
    redis: Redis
    queue: FlushQueue
    settings: Settings
    extractor: Extractor
    clock: Clock

    def wake(self) -> None:
        """Wait until the host's thread has put its messages into the queues: hooks don't wait for that."""
        assert self.memory.flush(timeout=60)

    def work(self) -> tuple[str, FlushResult] | None:
        """Be a worker for one message: urgent ones first. Answers the session and what came of it; None: no message."""
        self.wake()
        raw: Any = self.redis.rpop(HIGH_QUEUE) or self.redis.rpop(NORMAL_QUEUE)
        if raw is None:
            return None
        (tenant, agent, session, _ticket), _kwargs, _callbacks = json.loads(json.loads(raw)["body"])
        return session, self._flusher().flush(SessionRef(tenant, agent, session))

    def work_until_idle(self) -> list[tuple[str, str]]:
        """Take every message, and what follows from it. Answers (session, outcome), in order."""
        return [(session, result.outcome) for session, result in iter(self.work, None)]

    def sweep(self) -> SweepReport:
        """What beat asks for every few seconds: offer whatever is due by the worker's clock."""
        return sweep(self.engine, self.queue, self.settings.memory.auto_flush, self.clock())

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.connect() as connection:
            return list(connection.execute(text(statement), values))

    def windows(self, session: str) -> list[tuple[int, int, str]]:
        """The ledger of a session: (from_seq, to_seq, outcome) of every committed flush."""
        found = self.rows(
            "SELECT f.from_seq, f.to_seq, f.outcome FROM slowwave.flushes f"
            " JOIN slowwave.sessions s ON s.id = f.session_id WHERE s.name = :session ORDER BY f.from_seq",
            session=session,
        )
        return [tuple(row) for row in found]

    @contextmanager
    def without_postgres(self, server_url: str) -> Iterator[None]:
        """Nobody gets a connection to this test's database inside the block."""
        name = psycopg.conninfo.conninfo_to_dict(self.settings.database_url)["dbname"]
        with psycopg.connect(server_url, autocommit=True) as server:
            server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
            try:
                yield
            finally:
                server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    def _flusher(self) -> Flusher:
        flushing = self.settings.memory.auto_flush
        return Flusher(
            engine=self.engine,
            queue=self.queue,
            keeper=LeaseThread(self.queue, lease_seconds=flushing.lease_seconds),
            extractor=self.extractor,
            settings=flushing,
            clock=self.clock,
            jitter=lambda: 0.5,
            pause=lambda _seconds: None,
        )
