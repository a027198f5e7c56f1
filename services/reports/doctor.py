"""Check the health of this installation: one check per possible issue, each with its finding and its fix.

The checks cover the whole installation: they count sessions, events and letters by tenant, and read no text. The shell
and the console show the same findings.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from redis import Redis
from sqlalchemy import Connection, Engine

from slowwave.settings import Settings
from slowwave.spool import spooled
from slowwave_server.services.reports.check import Check
from slowwave_server.services.reports.copies import check_copies
from slowwave_server.services.reports.files import check_files
from slowwave_server.services.reports.jobs_check import check_maintenance
from slowwave_server.services.reports.model_check import check_model
from slowwave_server.services.reports.passes_check import check_passes
from slowwave_server.services.reports.roles import check_roles
from slowwave_server.services.reports.servers import check_broker, check_clocks, check_keys, check_postgres
from slowwave_server.services.reports.source import check_source
from slowwave_server.services.reports.spool_check import check_spool, measure_spool
from slowwave_server.services.reports.sweeping import check_backlog, check_stranded, check_sweeps, check_workers
from slowwave_server.services.reports.unkept import check_unkept
from slowwave_server.services.reports.waiting_for_people import (
    check_budget,
    check_decisions,
    check_letters,
    check_quarantine,
)


@dataclass(frozen=True, slots=True)
class HealthProbe:
    """The collaborators of the checks. listening: the queues of each worker; None without the broker."""

    settings: Settings
    engine: Engine
    redis: Redis
    listening: Callable[[], Mapping[str, frozenset[str]] | None]
    clock: Callable[[], datetime]


def examine(patient: HealthProbe, *, quick: bool = False) -> Iterator[Check]:
    """Run all checks in order. quick: only that the servers answer and the schema is right."""
    memory = patient.settings.memory
    postgres = list(check_postgres(patient.engine))
    yield from postgres
    broker = list(check_broker(patient.redis))
    yield from broker
    if quick:
        return
    if broker[0].verdict == "ok":
        yield check_workers(patient.listening())
        yield check_sweeps(patient.redis, memory.auto_flush)
        yield check_keys(patient.redis)
        yield check_clocks(patient.engine, patient.redis, patient.clock)
    if all(check.verdict == "ok" for check in postgres):
        with patient.engine.connect() as connection:
            yield from _in_postgres(connection, patient.settings, patient.clock())
    yield check_model(memory.llm, patient.redis, patient.clock)
    folder = patient.settings.spool.expanduser()
    yield from check_spool(measure_spool(spooled(folder), folder), folder)


def _in_postgres(connection: Connection, settings: Settings, now: datetime) -> Iterator[Check]:
    memory = settings.memory
    yield from check_roles(connection)
    yield check_stranded(connection, memory.auto_flush, now=now)
    yield from check_backlog(connection, memory.auto_flush, now=now)
    yield check_maintenance(connection, memory.maintenance, now=now)
    yield check_unkept(connection, now=now)
    yield check_passes(connection, now=now)
    yield check_files(connection, memory.backend, memory.files.sync_seconds, now=now)
    yield check_copies(connection, memory.backend, memory.files.sync_seconds, now=now)
    yield check_source(connection, memory.source, now=now)
    yield check_quarantine(connection)
    yield check_letters(connection)
    yield from check_decisions(connection, now=now)
    yield check_budget(connection, memory.llm, now=now)
