"""A thread that samples every second: due sessions, queues, Postgres' wait events, CPU use.

A session is due when a flush may begin: because of a request, because it is quiet, or because it has been dirty for
long.
"""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import psycopg
import redis

from proof.load.processes import Cores, Meter, Roots
from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings

_DUE = (
    "SELECT count(*) FILTER (WHERE s.name LIKE %(old)s) AS old, count(*) AS all_due FROM slowwave.sessions s"
    " WHERE s.dirty_since IS NOT NULL AND (s.invalidated_at > s.processed_until"
    " OR s.last_seen_at <= clock_timestamp() - make_interval(secs => %(idle)s)"
    " OR s.dirty_since <= clock_timestamp() - make_interval(secs => %(age)s))"
)
_DIRTY = "SELECT count(*) FROM slowwave.sessions WHERE dirty_since IS NOT NULL"
_WAITS = (
    "SELECT coalesce(wait_event_type || ':' || wait_event, 'running'), count(*) FROM pg_stat_activity"
    " WHERE state = 'active' AND pid <> pg_backend_pid() GROUP BY 1"
)
NOTHING = "-"


@dataclass(slots=True)
class Look:
    """One sample. at: Unix time; due: the number of sessions due and not flushed, `old` of them with the watched name;
    queued: the number of messages in all queues.
    """

    at: float
    due: int
    old: int
    queued: int


@dataclass(slots=True)
class Seen:
    """The samples of a watch."""

    looks: list[Look] = field(default_factory=list)
    waits: Counter[str] = field(default_factory=Counter)
    errors: int = 0

    def series(self, start: float, end: float) -> list[tuple[float, float]]:
        """Return (seconds since `start`, due sessions) between two times."""
        return [(look.at - start, float(look.due)) for look in self.looks if start <= look.at <= end]


class Watch:
    """A context manager that samples while it is open. old: the prefix of names of sessions that are counted
    separately.
    """

    def __init__(self, settings: Settings, roots: Roots, *, old: str = NOTHING, seconds: float = 1.0) -> None:
        self.seen = Seen()
        self._settings = settings
        self._meter = Meter(roots)
        self._old = old
        self._seconds = seconds
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join(20)

    def cores(self) -> Cores:
        """Return the use of the cores since the last call, or since the watch was made."""
        return self._meter.read()

    def _run(self) -> None:
        with (
            psycopg.connect(self._settings.database_url, autocommit=True) as connection,
            redis.Redis.from_url(self._settings.broker_url, socket_timeout=5) as client,
        ):
            while not self._ends.wait(self._seconds):
                try:
                    self._look(connection, client)
                except (psycopg.Error, redis.RedisError):
                    self.seen.errors += 1

    def _look(self, connection: "psycopg.Connection[Any]", client: "redis.Redis") -> None:
        self.seen.waits.update(dict(connection.execute(_WAITS).fetchall()))
        at = time.time()
        old, due = count_due(connection, self._settings, self._old)
        self.seen.looks.append(Look(at, due, old, sum(queues(client).values())))


def count_due(connection: "psycopg.Connection[Any]", settings: Settings, old: str = NOTHING) -> tuple[int, int]:
    """Return (due sessions whose name begins with `old`, all due sessions)."""
    flushing = settings.memory.auto_flush
    parameters = {"idle": flushing.idle_seconds, "age": flushing.max_dirty_age_seconds, "old": f"{old}%"}
    row = connection.execute(_DUE, parameters).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def count_dirty(connection: "psycopg.Connection[Any]") -> int:
    """Count the sessions with turns that no flush has taken, due or not."""
    row = connection.execute(_DIRTY).fetchone()
    return 0 if row is None else int(row[0])


def queues(client: "redis.Redis") -> Mapping[str, int]:
    """Return the number of messages in each queue."""
    with client.pipeline(transaction=False) as pipeline:
        for name in QUEUES:
            pipeline.llen(name)
        return dict(zip(QUEUES, (int(length) for length in pipeline.execute()), strict=True))
