"""What tests of flushes share: an extractor that keeps every sentence it is told to, a clock that is moved by hand.

Fakes are classes that do the real thing in a small way; nothing here is patched into anything.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from redis import Redis
from sqlalchemy import Engine, text

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Window
from slowwave_server.services.flush.flusher import Flusher, FlushResult
from slowwave_server.workers.leases import LeaseThread


@dataclass
class Clock:
    """A clock that only moves when told to."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class EveryUserLine:
    """Keeps each user line as a fact, word for word; `interrupt` runs in the middle of each extraction."""

    interrupt: Callable[[Window], None] = lambda _window: None
    name: str = "every-user-line"
    version: str = "1"
    seen: list[tuple[int, int]] = field(default_factory=list)

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:
        self.seen.append((window.from_seq, window.to_seq))
        self.interrupt(window)
        return Extraction(
            tuple(
                Candidate(e.content, "fact", 0.5, 0.6, e.happened_at, (e.seq,), signals=("test",))
                for e in window.events
                if e.kind == "user"
            )
        )


@dataclass
class Scene:
    """One agent on real servers: say things, pass time, flush, look."""

    engine: Engine
    queue: FlushQueue
    settings: AutoFlush
    clock: Clock
    extractor: EveryUserLine

    @property
    def flusher(self) -> Flusher:
        return Flusher(
            engine=self.engine,
            queue=self.queue,
            keeper=LeaseThread(self.queue, lease_seconds=self.settings.lease_seconds),
            extractor=self.extractor,
            settings=self.settings,
            clock=self.clock,
            jitter=lambda: 0.5,
            pause=lambda _seconds: None,
        )

    def say(self, session: str, *lines: str, agent: str = "maya", trigger: str | None = None, **event: Any) -> bool:
        """Capture user lines; answers whether a flush is due."""
        events = [{"kind": "user", "step": n, "content": line, **event} for n, line in enumerate(lines, start=1)]
        item = {"agent": agent, "session": session, "trigger": trigger, "events": events}
        row = self.sql(
            "SELECT due FROM slowwave.capture_batch('default', :batch, :idle, :age, :turns, 'UTC', 0, :now)",
            batch=json.dumps([item]),
            idle=self.settings.idle_seconds,
            age=self.settings.max_dirty_age_seconds,
            turns=self.settings.turn_threshold,
            now=self.clock(),
        )
        return bool(row[0].due)

    def flush(self, session: str, agent: str = "maya") -> FlushResult:
        """Offer and flush one window."""
        ref = SessionRef("default", agent, session)
        self.queue.offer(ref, "normal")
        return self.flusher.flush(ref)

    def sql(self, statement: str, **parameters: Any) -> list[Any]:
        with self.engine.connect() as connection:
            return list(connection.execute(text(statement), parameters))

    def session(self, name: str) -> Any:
        return self.sql("SELECT * FROM slowwave.sessions WHERE name = :name", name=name)[0]

    def memories(self) -> list[str]:
        return [row.content for row in self.sql("SELECT content FROM slowwave.memories ORDER BY content")]

    def windows(self, session: str) -> list[tuple[int, int, str]]:
        rows = self.sql(
            "SELECT from_seq, to_seq, outcome FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
            " WHERE s.name = :name ORDER BY from_seq",
            name=session,
        )
        return [(row.from_seq, row.to_seq, row.outcome) for row in rows]


def make_scene(engine: Engine, redis: Redis, settings: AutoFlush | None = None) -> Scene:
    settings = settings or AutoFlush()
    queue = FlushQueue(
        redis, lease_seconds=settings.lease_seconds, per_agent_concurrency=settings.per_agent_concurrency
    )
    return Scene(engine.execution_options(isolation_level="AUTOCOMMIT"), queue, settings, Clock(), EveryUserLine())
