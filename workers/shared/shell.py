"""Settings and connections shared by command line, console and gateway; each is opened at first use."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

# Imported inside the functions that need them, so that `slowwave --help` is fast.
if TYPE_CHECKING:
    from uuid import UUID

    import psycopg
    from redis import Redis
    from sqlalchemy import Connection, Engine

    from slowwave.coordination.flush_queue import FlushQueue
    from slowwave.settings import Settings
    from slowwave.spool import Spooled
    from slowwave_server.domain.model_calls import AskModel


@dataclass
class Shell:
    """The shared state of one CLI call, console or gateway process. tenant_option: the value of `--tenant`."""

    tenant_option: str | None = None

    @classmethod
    def over(cls, settings: "Settings", engine: "Engine", redis: "Redis") -> "Shell":
        """Use open connections of the caller; `close` closes a connection only if this object holds it."""
        shell = cls()
        shell.settings, shell.engine, shell.redis = settings, engine, redis
        return shell

    @cached_property
    def settings(self) -> "Settings":
        """The settings. Raises InvalidSettings."""
        from slowwave_server.workers.shared.light_imports import without_plugins

        with without_plugins():
            from slowwave.settings import load_settings

        return load_settings() if self.tenant_option is None else load_settings(tenant=self.tenant_option)

    @property
    def tenant(self) -> str:
        return self.settings.tenant

    @cached_property
    def engine(self) -> "Engine":
        from slowwave_server.models.engine import make_engine

        return make_engine(self.settings.database_url)

    @cached_property
    def writer(self) -> "Engine":
        """The same engine in autocommit mode, for services that write by single statements."""
        return self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @cached_property
    def redis(self) -> "Redis":
        from slowwave_server.workers.shared.light_imports import import_redis

        import_redis()
        from slowwave.coordination.broker import connect_broker

        return connect_broker(self.settings)

    @cached_property
    def queue(self) -> "FlushQueue":
        from slowwave.coordination.flush_queue import FlushQueue

        rules = self.settings.memory.auto_flush
        return FlushQueue(
            self.redis,
            ticket_seconds=rules.ticket_seconds,
            lease_seconds=rules.lease_seconds,
            per_agent_concurrency=rules.per_agent_concurrency,
        )

    def build_model(self, settings: "Settings") -> "AskModel | None":
        """Return the model of `settings` within its budgets; None if none is configured. Raises InvalidSettings."""
        from slowwave_server.services.llm.build import build_model

        return build_model(settings, self.engine, self.redis, self.now)

    @contextmanager
    def connection(self) -> "Iterator[Connection]":
        """Open a connection to a database at the right revision. Raises WrongSchema, OperationalError."""
        from slowwave_server.models.schema import require_current

        with self.engine.connect() as connection:
            require_current(connection)
            yield connection

    @contextmanager
    def driver(self) -> "Iterator[psycopg.Connection]":
        """Open a connection as `connection` does, without SQLAlchemy. Raises WrongSchema, psycopg.OperationalError."""
        import psycopg

        from slowwave_server.models.driver import connect_arguments, head_revision

        with psycopg.connect(self.settings.database_url, **connect_arguments()) as driver:
            try:
                current = driver.execute("SELECT version_num FROM slowwave.alembic_version").fetchone()
            except psycopg.ProgrammingError:
                driver.rollback()
                current = None
            if current != (head_revision(),):
                self.check_database()  # another revision may serve this code, too
            yield driver

    def memory_id(self, name: str) -> "UUID":
        """Return a memory's id from the full id or its end. Raises InvalidQuery, UnknownName."""
        from slowwave_server.services.reports.memory_ids import check_memory_name, memory_called

        check_memory_name(name)  # before any connection is opened
        with self.connection() as connection:
            return memory_called(connection, self.tenant, name)

    def check_database(self) -> None:
        """Refuse a database at another revision before a command changes anything. Raises as `connection` does."""
        with self.connection():
            pass

    def listening(self) -> Mapping[str, frozenset[str]] | None:
        """Return the queues of each worker that answers within a second; None if the broker is unreachable."""
        from slowwave_server.workers.shared.listening import listening

        return listening(self.redis, self.settings)

    def queues_with_listener(self) -> frozenset[str] | None:
        """Return the queues that at least one worker takes from; None if the broker is unreachable."""
        workers = self.listening()
        return None if workers is None else frozenset[str]().union(*workers.values())

    def spooled(self) -> "Spooled":
        """Return the records that wait in this host's spool."""
        from slowwave.spool import spooled

        return spooled(self.settings.spool)

    def swept_ago(self) -> float | None:
        """Return the seconds since the last sweep; None without a trace of one, or without a broker."""
        from redis.exceptions import RedisError

        from slowwave_server.services.maintenance.heartbeat import swept_ago

        try:
            return swept_ago(self.redis)
        except RedisError:
            return None

    def close(self) -> None:
        """Close the connections that are open."""
        if "engine" in self.__dict__:
            self.engine.dispose()
        if "redis" in self.__dict__:
            self.redis.close()

    @staticmethod
    def now() -> datetime:
        return datetime.now(UTC)
