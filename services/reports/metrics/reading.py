"""Read all figures with a limited number of queries to Postgres and calls to the broker, each server separately.

If a server does not answer, its metrics are missing and it counts as down; the metrics of the other server are still
read.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings
from slowwave_server.models.driver import WrongSchema, head_revision
from slowwave_server.models.errors import first_line
from slowwave_server.models.schema import current_revision, require_current
from slowwave_server.services.reports.metrics import By
from slowwave_server.services.reports.metrics.broker import FirstSeen, read_broker, read_leases
from slowwave_server.services.reports.metrics.budgets import read_budgets
from slowwave_server.services.reports.metrics.deliveries import read_deliveries
from slowwave_server.services.reports.metrics.flushes import read_flushes
from slowwave_server.services.reports.metrics.runs import read_runs
from slowwave_server.services.reports.metrics.sessions import read_sessions
from slowwave_server.services.reports.metrics.waiting_for_people import read_waiting_for_people
from slowwave_server.services.reports.model_check import ISSUES_OF, model_state
from slowwave_server.services.reports.servers import broker_ahead, postgres_ahead

log = logging.getLogger(__name__)

Listening = Mapping[str, frozenset[str]]
Figures = Any
"""A dataclass whose fields are metrics."""


@dataclass(frozen=True, slots=True)
class Up:
    """True for each server that answered."""

    up: By


@dataclass(frozen=True, slots=True)
class Database:
    """The database as a whole."""

    schema_info: By
    schema_current: int
    clock_offset_seconds: By
    database_bytes: int


@dataclass(frozen=True, slots=True)
class Workers:
    """Consumers of the queues, None without the broker; the interval of sweeps, None without automatic flushing."""

    workers: By | None
    sweep_interval_seconds: float | None


@dataclass(frozen=True, slots=True)
class BrokerClock:
    """The difference of the broker's clock from this host's."""

    clock_offset_seconds: By


@dataclass(frozen=True, slots=True)
class Model:
    """The model. model_state: 1 for the current state; None without a model, or if the state is unknown."""

    model_state: By | None


@dataclass(slots=True)
class Sources:
    """The collaborators. listening: the queues of each worker; tenants: whose figures carry their name."""

    settings: Settings
    engine: Engine
    redis: Redis
    listening: Callable[[], Listening | None]
    clock: Callable[[], datetime]
    tenants: Collection[str] = ()
    first_seen: FirstSeen = field(default_factory=FirstSeen)


def from_postgres(sources: Sources) -> list[Figures]:
    """Read the metrics of Postgres, without another revision's tables. An unavailable server raises nothing."""
    try:
        with sources.engine.connect() as connection:
            found = [group for read in _GROUPS for group in _read(connection, sources, read)]
    except SQLAlchemyError as error:
        log.warning("Postgres: %s", first_line(error))
        return [Up({("postgres",): 0})]
    return [Up({("postgres",): 1}), *found]


def _read(connection: Connection, sources: Sources, read: Callable[[Connection, Sources], Figures]) -> list[Figures]:
    """Read one group. Return nothing if this login may not read it, the schema lacks it, or it takes too long."""
    try:
        return [read(connection, sources)]
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        connection.rollback()
        log.warning("Postgres: %s", first_line(error))
        return []


def _database(connection: Connection, sources: Sources) -> Database:
    revision, needed = current_revision(connection), _needed()
    size: int = connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
    ahead = postgres_ahead(connection, sources.clock)
    return Database(
        {(revision or "none", needed): 1}, int(revision == needed or _fits(connection)), {("postgres",): ahead}, size
    )


@cache
def _needed() -> str:
    """Return the revision that this version needs, read once, because it takes longer than a scrape."""
    return head_revision()


def _fits(connection: Connection) -> bool:
    """Return True if this version works on another revision."""
    try:
        require_current(connection)
    except WrongSchema:
        return False
    return True


def _waiting(connection: Connection, sources: Sources) -> Figures:
    return read_sessions(connection, sources.settings.memory.auto_flush, now=sources.clock())


def _runs(connection: Connection, sources: Sources) -> Figures:
    return read_runs(connection, sources.settings.memory.maintenance, now=sources.clock())


def _budgets(connection: Connection, sources: Sources) -> Figures:
    return read_budgets(connection, sources.settings.memory.llm, tenants=sources.tenants, now=sources.clock())


_GROUPS: Sequence[Callable[[Connection, Sources], Figures]] = (
    _database,
    _waiting,
    lambda connection, sources: read_flushes(connection, now=sources.clock()),
    lambda connection, sources: read_waiting_for_people(connection, now=sources.clock()),
    _budgets,
    _runs,
    lambda connection, sources: read_deliveries(connection, now=sources.clock()),
)


def from_broker(sources: Sources) -> list[Figures]:
    """Read the metrics of the broker and those stored in it. An unavailable server raises nothing."""
    try:
        found = list(_of_broker(sources))
    except RedisError as error:
        log.warning("the broker: %s", first_line(error))
        return [Up({("broker",): 0})]
    return [Up({("broker",): 1}), *found]


def _of_broker(sources: Sources) -> Iterator[Figures]:
    redis, memory = sources.redis, sources.settings.memory
    yield read_broker(redis, sources.first_seen)
    yield read_leases(redis)
    yield BrokerClock({("broker",): broker_ahead(redis, sources.clock)})
    flushing = memory.auto_flush
    yield Workers(_workers(sources.listening()), flushing.flush_interval_seconds if flushing.enabled else None)
    state = model_state(memory.llm, redis, sources.clock).state
    yield Model({(known,): int(known == state) for known in ISSUES_OF} if state in ISSUES_OF else None)


def _workers(listening: Listening | None) -> By | None:
    if listening is None:
        return None
    return {(queue,): sum(queue in queues for queues in listening.values()) for queue in QUEUES}
