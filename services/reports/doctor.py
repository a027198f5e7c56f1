"""Whether this installation is well: one check a thing that can go wrong, each with what was found and what cures it.

A doctor looks at the whole installation: of sessions, events and letters it counts those of every tenant, by tenant,
and reads no text of any.

Must not know: how findings are shown; Celery (who listens to which queue is an argument).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from redis import Redis
from redis.exceptions import NoPermissionError, RedisError
from sqlalchemy import ColumnElement, Connection, Engine, ScalarSelect, Select, func, select
from sqlalchemy.exc import DBAPIError, ProgrammingError

from domain.spoken_time import count_words, duration_words
from domain.waiting import SILENT_SWEEPS
from models import Agent, DeadLetter, Event, Flush, MaintenanceJob, MaintenanceRun, Session
from models.schema import WrongSchema, require_current
from services.reports.refusals import cure_of_refusal
from slowwave.coordination.heartbeat import swept_ago
from slowwave.coordination.keys import QUEUES
from slowwave.settings import AutoFlush, Maintenance
from slowwave.spool import Spooled

SKEW_SECONDS = 2.0
"""Clocks that differ by more than this make waiting times wrong by as much."""
TENANTS_NAMED = 10
LATE_TICKS = 2
FAILED_RUNS = 3

Verdict = Literal["ok", "problem", "unknown"]
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. verdict: unknown where the check could not be made. cure: what to run or change, for a problem."""

    name: str
    verdict: Verdict
    finding: str
    cure: str | None = None


def check_postgres(engine: Engine) -> Iterator[Check]:
    """Whether it can be reached, and is at the revision that this version needs."""
    where = engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            version = connection.exec_driver_sql("SHOW server_version").scalar_one()
            yield Check("postgres", "ok", f"version {version} answers at {where}")
            yield _check_schema(connection)
    except DBAPIError as error:
        said, away = first_line(error), "start Postgres, or set SLOWWAVE_DATABASE_URL to where it is"
        cure = cure_of_refusal("postgres", said)
        state = "no answer" if cure is None else "refused"
        yield Check("postgres", "problem", f"{state} at {where}: {said}", cure or away)


def _check_schema(connection: Connection) -> Check:
    try:
        require_current(connection)
    except WrongSchema as error:
        return Check("schema", "problem", str(error), "run `slowwave migrate` with this version")
    except ProgrammingError as error:  # a login that nobody gave anything
        said = first_line(error)
        return Check("schema", "problem", f"this login can't see it: {said}", cure_of_refusal("postgres", said))
    return Check("schema", "ok", "at the revision that this version needs")


def check_broker(redis: Redis) -> Iterator[Check]:
    """Whether it can be reached, and keeps what it is given: the latter as far as this user may ask."""
    try:
        redis.ping()
        server = redis.info("server")
        memory, persistence = redis.info("memory"), redis.info("persistence")
    except NoPermissionError:
        yield Check("broker", "ok", "answers; what it keeps, this user may not ask")
        return
    except RedisError as error:
        said = first_line(error)
        away = "start it, or set SLOWWAVE_BROKER_URL to where it is; until then Postgres keeps what is due"
        cure = cure_of_refusal("broker", said)
        yield Check("broker", "problem", f"{'no answer' if cure is None else 'refused'}: {said}", cure or away)
        return
    version = server.get("valkey_version") or server.get("redis_version", "of an unknown version")
    yield Check("broker", "ok", f"{server.get('server_name', 'redis')} {version} answers")
    policy = memory.get("maxmemory_policy", "unknown")
    if policy == "noeviction":
        yield Check("broker memory", "ok", "evicts nothing (maxmemory-policy noeviction)")
    else:
        finding = f"maxmemory-policy is {policy}: under pressure it throws messages away"
        yield Check("broker memory", "problem", finding, "CONFIG SET maxmemory-policy noeviction, and in its file")
    if persistence.get("aof_enabled"):
        yield Check("broker disk", "ok", "keeps an append-only file")
    else:
        finding = "appendonly is off: when it is killed, all messages go with it and wait for the sweep"
        yield Check("broker disk", "problem", finding, "CONFIG SET appendonly yes, and in its file")


def check_sweeps(redis: Redis, rules: AutoFlush) -> Check:
    """Whether beat is alive: every sweep leaves a trace."""
    if not rules.enabled:
        return Check("sweeps", "ok", "automatic flushing is switched off (memory.auto_flush.enabled)")
    try:
        ago = swept_ago(redis)
    except RedisError:
        return Check("sweeps", "unknown", "the broker holds their trace, and can't be reached")
    interval = duration_words(rules.flush_interval_seconds)
    if ago is not None and ago <= SILENT_SWEEPS * rules.flush_interval_seconds:
        return Check("sweeps", "ok", f"the last was {duration_words(ago)} ago; one comes every {interval}")
    last = "there is no trace of any" if ago is None else f"the last was {duration_words(ago)} ago"
    return Check(
        "sweeps",
        "problem",
        f"{last}, though one should come every {interval}",
        "start beat (`celery -A workers beat`) and a worker on the queue 'flush.high', or run `slowwave up`",
    )


def check_workers(listening: Mapping[str, frozenset[str]] | None) -> Check:
    """Whether every queue has a worker. listening: the queues of each; None when nobody could be asked."""
    if listening is None:
        return Check("workers", "unknown", "they answer through the broker, and it can't be reached")
    missing = [queue for queue in QUEUES if not any(queue in queues for queues in listening.values())]
    names = ", ".join(sorted(listening))
    if not missing:
        return Check("workers", "ok", f"every queue has a listener: {names}")
    who = f"of {names}, none" if names else "no worker answers, so none"
    return Check(
        "workers",
        "problem",
        f"{who} listens to {', '.join(missing)}",
        f"`celery -A workers worker -Q {','.join(missing)}`, or `slowwave up`",
    )


def check_clocks(engine: Engine, redis: Redis, clock: Clock) -> Check:
    """Whether this host, Postgres and the broker agree on the time."""
    try:
        with engine.connect() as connection:
            postgres = _skew(lambda: connection.execute(select(func.clock_timestamp())).scalar_one(), clock)
        broker = _skew(lambda: _broker_time(redis), clock)
    except (DBAPIError, RedisError):
        return Check("clocks", "unknown", "not all servers can be reached")
    finding = f"against this host: Postgres {_signed(postgres)}, the broker {_signed(broker)}"
    if max(abs(postgres), abs(broker), abs(postgres - broker)) <= SKEW_SECONDS:
        return Check("clocks", "ok", finding)
    return Check("clocks", "problem", finding, "let all hosts keep time by NTP: due times are off by as much")


def check_stranded(connection: Connection, rules: AutoFlush, *, now: datetime) -> Check:
    """Whether anything waits that should have been offered long ago.

    Many overdue sessions are a backlog and no fault while flushes are committed: sweeps take what is due in its order.
    """
    if not rules.enabled:
        return Check("stranded", "ok", "automatic flushing is switched off, so nothing is due by itself")
    longest = timedelta(seconds=SILENT_SWEEPS * rules.flush_interval_seconds)
    timeless = _counts(connection, _dirty(Session.flush_due_at.is_(None)))
    overdue = _counts(connection, _dirty(Session.flush_due_at <= now - longest))
    if timeless:
        finding = f"dirty and never due: {_told(timeless, 'session')}"
        return Check("stranded", "problem", finding, "`slowwave flush AGENT` asks for them; then report this")
    if not overdue:
        return Check("stranded", "ok", f"no session has been due for more than {duration_words(longest.seconds)}")
    finding = f"due for more than {duration_words(longest.seconds)}: {_told(overdue, 'session')}"
    if connection.execute(select(Flush.id).where(Flush.committed_at > now - longest).limit(1)).first() is not None:
        return Check("stranded", "ok", f"a backlog that is being worked off; {finding}")
    return Check(
        "stranded", "problem", finding, "`slowwave why AGENT SESSION` says for what; see `sweeps` and `workers`"
    )


def check_maintenance(connection: Connection, rules: Maintenance, *, now: datetime) -> Check:
    """Whether jobs are late by more than two ticks while nobody runs them, or fail again and again."""
    longest = timedelta(seconds=LATE_TICKS * rules.tick_seconds)
    is_alive = (
        select(MaintenanceRun.id)
        .where(MaintenanceRun.job_id == MaintenanceJob.id, MaintenanceRun.status == "running")
        .where(MaintenanceRun.lease_until > now)
        .exists()
    )
    # One that was never planned is late since it came.
    due = func.coalesce(MaintenanceJob.next_due_at, MaintenanceJob.created_at)
    jobs = connection.execute(
        select(MaintenanceJob.id, due.label("due"), MaintenanceJob.last_summary, _failures().label("failures"))
        .where(MaintenanceJob.enabled, ~is_alive)
        .order_by(MaintenanceJob.id)
    ).all()
    late = [
        f"{job.id} for {duration_words((now - job.due).total_seconds())}" for job in jobs if job.due < now - longest
    ]
    if late:
        cure = "start beat and a worker on the queue 'maintenance', or run `slowwave maintenance daemon`"
        return Check("maintenance", "problem", f"due and not run: {', '.join(late)}", cure)
    failing = [f"{job.id} ({job.last_summary})" for job in jobs if job.failures == FAILED_RUNS]
    if failing:
        cure = "mend what is named, then `slowwave maintenance run JOB`; see `slowwave maintenance status`"
        return Check("maintenance", "problem", f"failed {FAILED_RUNS} times in a row: {', '.join(failing)}", cure)
    return Check("maintenance", "ok", f"{count_words(len(jobs), 'job')}; none is late or keeps failing")


def _failures() -> ScalarSelect[int]:
    """How many of a job's latest FAILED_RUNS runs failed."""
    latest = (
        select(MaintenanceRun.status)
        .where(MaintenanceRun.job_id == MaintenanceJob.id, MaintenanceRun.status != "running")
        .order_by(MaintenanceRun.id.desc())
        .limit(FAILED_RUNS)
        .correlate(MaintenanceJob)
        .subquery()
    )
    return select(func.count()).select_from(latest).where(latest.c.status == "failed").scalar_subquery()


def check_quarantine(connection: Connection) -> Check:
    """Whether events were set aside."""
    by_tenant = (
        select(Agent.tenant, func.count())
        .join(Session, Session.agent_id == Agent.id)
        .join(Flush, Flush.session_id == Session.id)
        .join(Event, (Event.session_id == Flush.session_id) & Event.seq.between(Flush.from_seq, Flush.to_seq))
        .where(Flush.outcome == "quarantined", Event.quarantined_at.is_not(None))
    )
    found = _counts(connection, by_tenant)
    if not found:
        return Check("quarantine", "ok", "no event was set aside")
    return Check("quarantine", "problem", f"set aside: {_told(found, 'event')}", "see `slowwave quarantine list`")


def check_letters(connection: Connection) -> Check:
    """Whether dead letters wait for a decision."""
    tenant = func.coalesce(DeadLetter.tenant, "(unreadable)").label("tenant")
    found = _counts(connection, select(tenant, func.count()).where(DeadLetter.state == "open"), tenant.name)
    if not found:
        return Check("dead letters", "ok", "none is open")
    cure = "see `slowwave dead-letters list`, then redrive or dismiss them"
    return Check("dead letters", "problem", f"open: {_told(found, 'letter')}", cure)


def check_spool(spooled: Spooled, folder: str) -> Check:
    """Whether events of this host wait on its disk, or were refused for good."""
    if spooled.files:
        finding = f"{count_words(spooled.files, 'file')} with {spooled.size_bytes:,} bytes of events wait in {folder}"
        cure = "bring Postgres back: any producer on this host then delivers them"
        return Check("spool", "problem", finding, cure)
    if spooled.rejected_files:
        finding = (
            f"Postgres refused events for good: {count_words(spooled.rejected_files, 'file')} *.rejected in {folder}"
        )
        return Check("spool", "problem", finding, "read the reasons in these files, then mend or remove them")
    return Check("spool", "ok", f"nothing waits in {folder}")


def first_line(error: Exception) -> str:
    """What an error says, without the statement and the links that libraries add."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return str(cause).strip().split("\n", 1)[0] or type(cause).__name__


def _dirty(condition: ColumnElement[bool]) -> Select[str, int]:
    return (
        select(Agent.tenant, func.count())
        .join(Session, Session.agent_id == Agent.id)
        .where(Session.dirty_since.is_not(None), Agent.deleted_at.is_(None), condition)
    )


def _counts(connection: Connection, query: Select[str, int], by: str = "tenant") -> list[tuple[str, int]]:
    column = query.selected_columns[by]
    rows = connection.execute(query.group_by(column).order_by(column).limit(TENANTS_NAMED + 1))
    return [(tenant, count) for tenant, count in rows]


def _told(counts: list[tuple[str, int]], thing: str) -> str:
    shown = [f"{count_words(count, thing)} of tenant {tenant!r}" for tenant, count in counts[:TENANTS_NAMED]]
    return ", ".join(shown) + (", and more of other tenants" if len(counts) > TENANTS_NAMED else "")


def _skew(ask: Callable[[], datetime], clock: Clock) -> float:
    """Seconds by which a server is ahead of this host; half the round trip is its part of the error."""
    before = clock()
    there = ask()
    after = clock()
    return (there - (before + (after - before) / 2)).total_seconds()


def _broker_time(redis: Redis) -> datetime:
    seconds, microseconds = redis.time()
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)


def _signed(seconds: float) -> str:
    return f"{seconds:+.3f} s"
