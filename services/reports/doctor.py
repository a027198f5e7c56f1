"""Check the health of this installation: one check per possible issue, each with its finding and its fix.

The checks cover the whole installation: they count sessions, events and letters by tenant, and read no text. The shell
and the console show the same findings.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from redis import Redis
from sqlalchemy import Connection, Engine, text

from slowwave.settings import Maintenance, Settings
from slowwave.spool import spooled
from slowwave_server.domain.health_limits import FAILED_RUNS, LATE_TICKS, ROLLED_BACK_SHOWN
from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.services.access.bounds import lacking_bounds
from slowwave_server.services.access.grants import in_use, lacking
from slowwave_server.services.reports.check import Check, fine, problem
from slowwave_server.services.reports.copies import check_copies
from slowwave_server.services.reports.files import check_files
from slowwave_server.services.reports.metrics.deliveries import read_sources
from slowwave_server.services.reports.metrics.runs import read_jobs
from slowwave_server.services.reports.metrics.sessions import age
from slowwave_server.services.reports.model_check import check_model
from slowwave_server.services.reports.servers import check_broker, check_clocks, check_keys, check_postgres
from slowwave_server.services.reports.spool_check import check_spool, measure_spool
from slowwave_server.services.reports.sweeping import check_backlog, check_stranded, check_sweeps, check_workers
from slowwave_server.services.reports.unkept import check_unkept
from slowwave_server.services.reports.waiting_for_people import (
    check_budget,
    check_decisions,
    check_letters,
    check_quarantine,
)

NAMED = 5
RUNS_NAMED = 5
# A deep pass decides again about everything that was rolled back before it.
_ROLLED_BACK = text(
    "SELECT r.id FROM slowwave.maintenance_runs r WHERE r.status = 'rolled_back' AND r.started_at > :since"
    " AND NOT EXISTS (SELECT FROM slowwave.maintenance_runs d WHERE d.scope_id = r.scope_id AND d.id > r.id"
    "  AND d.kind = 'deep' AND d.status = 'completed')"
    " ORDER BY r.id DESC LIMIT :most"
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


def check_roles(connection: Connection) -> Iterator[Check]:
    """Check that the roles' grants are as new as the schema (`slowwave admin migrate` renews them, a restored dump or
    SQL does not), and that each login of an agent's host is limited.
    """
    if not in_use(connection):
        yield fine("roles", "everybody logs in as the owner")
        return
    found = lacking(connection)
    if found:
        finding = f"{pluralize(len(found), 'thing')} that only the owner can access: {_named(found, ', ')}"
        yield problem("roles", "roles-outdated", finding)
    else:
        yield fine("roles", "each may do its part with this schema")
    unbounded = lacking_bounds(connection)
    if unbounded:
        yield problem("logins", "producers-unbounded", _named(unbounded, "; "))
    else:
        yield fine("logins", "no login of an agent's host can take all connections or hold our locks")


def _named(found: list[str], separator: str) -> str:
    return separator.join(found[:NAMED]) + (" …" if len(found) > NAMED else "")


def check_source(connection: Connection, source: str, *, now: datetime) -> Check:
    """Check for runs of all tenants that wait without a reader, or could not be read. No text is read."""
    if source == "events":
        return fine("source", "hooks record what is said (memory.source is events)")
    found = read_sources(connection, now=now)
    if found.failing:
        since = duration_words(age(found.failing_since, now))
        finding = f"{pluralize(found.failing, 'run')} could not be read, the first for {since}: {found.error}"
        return problem("source", "source-unreadable", finding)
    if found.late:
        since = duration_words(age(found.late_since, now))
        finding = f"{pluralize(found.late, 'run')} should have been looked at, the first for {since}"
        return problem("source", "source-late", finding, f"SLOWWAVE_MEMORY__SOURCE={source} for both")
    return fine("source", f"no run of {source} waits longer than it should")


def check_passes(connection: Connection, *, now: datetime) -> Check:
    """Check for passes of the last days that would have made search worse. Counts all tenants together."""
    values = {"since": now - ROLLED_BACK_SHOWN, "most": RUNS_NAMED + 1}
    runs = list(connection.execute(_ROLLED_BACK, values).scalars())
    if not runs:
        return fine("passes", "search finds the evidence of the memories after every pass")
    more = len(runs) > RUNS_NAMED
    named = ", ".join(f"run {run}" for run in runs[:RUNS_NAMED])
    counted = f"more than {RUNS_NAMED} passes" if more else pluralize(len(runs), "pass", "passes")
    return problem("passes", "passes-rolled-back", f"{counted}: {named}{', …' if more else ''}")


def check_maintenance(connection: Connection, rules: Maintenance, *, now: datetime) -> Check:
    """Check for jobs that are late by more than two ticks without a run, or that fail repeatedly."""
    longest = timedelta(seconds=LATE_TICKS * rules.tick_seconds)
    jobs = read_jobs(connection)
    idle = [job for job in jobs if not job.is_alive(now)]
    late = [f"{job.id} for {duration_words(age(job.due, now))}" for job in idle if job.due < now - longest]
    if late:
        return problem("maintenance", "jobs-late", f"due and not run: {', '.join(late)}")
    failing = [f"{job.id} ({job.last_summary})" for job in idle if job.failures == FAILED_RUNS]
    if failing:
        return problem("maintenance", "jobs-fail", f"failed {FAILED_RUNS} times in a row: {', '.join(failing)}")
    return fine("maintenance", f"{pluralize(len(idle), 'job')}; none is late or keeps failing")
