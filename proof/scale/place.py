"""One loaded database with the arguments of the product's parts, and names in the data."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow
from redis import Redis
from sqlalchemy import Engine

from proof.scale.world import RARE, TEAM_SCOPE, TENANT, Sizes
from slowwave import Memory, Settings
from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.identity import SessionRef
from slowwave.postgres import PreparedStatement
from slowwave.settings import MemorySettings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.workers.leases import LeaseThread

SAMPLE = 1500
POOLED = 2
"""Connections of each engine."""
_LONG_MS = 600_000
_PIDS = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"
_HAND_IN = "SELECT pg_stat_force_next_flush()"
_SESSIONS = (
    "SELECT a.name, s.name FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE s.id = ANY (%s) AND a.tenant = %s AND (s.scope_id = %s) = %s AND s.dirty_since IS NULL"
)
_WORDS = (
    "SELECT array_agg(substring(e.content FROM %s)) FROM slowwave.events e"
    " JOIN slowwave.sessions s ON s.id = e.session_id"
    " WHERE e.session_id = ANY (%s) AND s.scope_id = %s AND e.seq <= s.processed_until AND e.content ~ %s"
)
_STATEMENTS = "SELECT m.content FROM slowwave.memories m WHERE m.scope_id = %s ORDER BY m.id LIMIT 400"


@dataclass(frozen=True)
class Place:
    """One loaded database.

    name: its name in the report. Samples of its data: own, team: sessions outside and inside the team's scope; rare:
    rare words in events of the team's scope; statements: the texts of memories of the team's scope.
    """

    name: str
    sizes: Sizes
    settings: Settings
    engine: Engine
    connection: psycopg.Connection[TupleRow]
    watcher: psycopg.Connection[TupleRow]
    redis: Redis
    queue: FlushQueue
    flusher: Flusher
    memory: Memory
    own: tuple[SessionRef, ...]
    team: tuple[SessionRef, ...]
    rare: tuple[str, ...]
    statements: tuple[str, ...]

    def now(self) -> datetime:
        """Return the real time, because hooks take it from the database."""
        return datetime.now(UTC)

    def run(self, statement: str, *values: object) -> list[TupleRow]:
        """Return the rows of a committed statement."""
        found = self.connection.execute(statement.encode(), values or None)
        return found.fetchall() if found.description else []

    def settle(self) -> None:
        """Let every backend of this database report its buffer figures."""
        for engine in (self.engine, self.flusher.engine):
            idle = [engine.connect() for _ in range(POOLED)]
            for connection in idle:
                connection.exec_driver_sql(_HAND_IN)
                connection.rollback()
                connection.close()
        self.memory.store.postgres.call(PreparedStatement(b"hand_in", _HAND_IN.encode()), ())
        self.memory.store.postgres.read(lambda connection: connection.execute(_HAND_IN))
        self.run(_HAND_IN)

    def cpu_ms(self) -> float:
        """Return the CPU milliseconds of this database's backends and this process so far."""
        pids = self.watcher.execute(_PIDS, (self.connection.info.dbname,)).fetchall()
        spent = sum(int((Path("/proc") / str(pid) / "schedstat").read_text("ascii").split()[0]) for (pid,) in pids)
        return spent / 1e6 + time.process_time() * 1000

    def team_member(self, number: int) -> SessionRef:
        """Return a conversation in the team's scope, another one for each number."""
        return self.team[number % len(self.team)]


@contextmanager
def open_place(name: str, url: str, broker_url: str, spool: Path, sizes: Sizes) -> Iterator[Place]:
    """Connect to a loaded database. Its broker is emptied."""
    settings = Settings(database_url=url, broker_url=broker_url, spool=spool / name, memory=MemorySettings())
    flushing = settings.memory.auto_flush
    engine = make_engine(url, pool_size=POOLED, statement_timeout_ms=_LONG_MS)
    single = make_engine(url, pool_size=POOLED, statement_timeout_ms=_LONG_MS, autocommit=True, pre_ping=False)
    redis = redis_from_url(broker_url)
    redis.flushdb()
    queue = FlushQueue(redis)
    flusher = Flusher(
        engine=single,
        queue=queue,
        keeper=LeaseThread(queue, lease_seconds=flushing.lease_seconds),
        extractor=build_extractor(settings, single, redis, lambda: datetime.now(UTC)),
        settings=flushing,
        clock=lambda: datetime.now(UTC),
        jitter=lambda: 0.5,
        pause=lambda _seconds: None,
    )
    memory = Memory(settings)
    try:
        # The watcher connects to another database, so that its own work is not counted.
        watching = psycopg.connect(url, dbname="postgres", autocommit=True)
        with psycopg.connect(url, autocommit=True) as connection, watching as watcher:
            names = _samples(connection, sizes)
            yield Place(name, sizes, settings, engine, connection, watcher, redis, queue, flusher, memory, *names)
    finally:
        memory.close()
        engine.dispose()
        single.dispose()
        redis.close()


def _samples(
    connection: psycopg.Connection[TupleRow], sizes: Sizes
) -> tuple[tuple[SessionRef, ...], tuple[SessionRef, ...], tuple[str, ...], tuple[str, ...]]:
    draw = random.Random(11)
    ids = [draw.randint(1, sizes.sessions) for _ in range(min(SAMPLE * 4, sizes.sessions))]
    own, team = (
        tuple(
            SessionRef(TENANT, agent, session)
            for agent, session in connection.execute(_SESSIONS, (ids, TENANT, TEAM_SCOPE, is_team)).fetchall()
        )
        for is_team in (False, True)
    )
    rare = f"[{RARE}]{{8}}"
    words = connection.execute(_WORDS, (rare, ids, TEAM_SCOPE, rare)).fetchone()
    texts = connection.execute(_STATEMENTS, (TEAM_SCOPE,)).fetchall()
    return own, team, tuple(words[0] if words else ()), tuple(text for (text,) in texts)
