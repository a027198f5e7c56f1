"""Check that Postgres and the broker answer, persist their data, and agree on the time."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from redis import Redis
from redis.exceptions import NoPermissionError, RedisError
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError, ProgrammingError

from slowwave.coordination.wrong_types import SetAside, known_aside
from slowwave_server.domain.health_limits import BROKER_FULL_SHARE, CLOCKS_APART_SECONDS
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models.driver import WrongSchema, head_revision
from slowwave_server.models.errors import first_line
from slowwave_server.models.schema import OldServer, require_current, require_server
from slowwave_server.services.reports.check import Check, fine, problem, unknown
from slowwave_server.services.reports.refusals import cure_of_refusal

KEYS_NAMED = 3
Clock = Callable[[], datetime]


def check_postgres(engine: Engine) -> Iterator[Check]:
    """Check that Postgres can be reached, and has the schema revision that this version needs."""
    where = engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            version = connection.exec_driver_sql("SHOW server_version").scalar_one()
            old = check_version(connection)
            yield old or fine("postgres", f"version {version} answers at {where}")
            if old is None:
                yield _check_schema(connection)
    except DBAPIError as error:
        said = first_line(error)
        here = cure_of_refusal("postgres", said)
        if here is None:
            yield problem("postgres", "postgres-away", f"no answer at {where}: {said}")
        else:
            yield problem("postgres", "postgres-refuses", f"refused at {where}: {said}", here)


def check_version(connection: Connection, number: int | None = None) -> Check | None:
    """Return a problem if the server is too old. number: its server_version_num; None asks the server."""
    try:
        require_server(connection, number)
    except OldServer as error:
        return problem("postgres", "postgres-old", str(error))
    return None


def _check_schema(connection: Connection) -> Check:
    try:
        revision = require_current(connection)
    except WrongSchema as error:
        return problem("schema", "schema-behind", str(error))
    except ProgrammingError as error:  # a login without any grant
        said = first_line(error)
        finding = f"this login can't see it: {said}"
        return problem("schema", "postgres-refuses", finding, cure_of_refusal("postgres", said))
    if revision != head_revision():
        return fine("schema", f"at revision {revision} of a newer version, on which this one works: replace it soon")
    return fine("schema", "at the revision that this version needs")


def check_broker(redis: Redis) -> Iterator[Check]:
    """Check that the broker answers and persists its data; the latter only if this user may read its configuration."""
    try:
        redis.ping()
        server = redis.info("server")
        memory, persistence = redis.info("memory"), redis.info("persistence")
    except NoPermissionError:
        yield fine("broker", "answers; this user may not read its configuration")
        return
    except RedisError as error:
        said = first_line(error)
        here = cure_of_refusal("broker", said)
        if here is None:
            yield problem("broker", "broker-away", f"no answer: {said}")
        else:
            yield problem("broker", "broker-refuses", f"refused: {said}", here)
        return
    version = server.get("valkey_version") or server.get("redis_version", "of an unknown version")
    yield fine("broker", f"{server.get('server_name', 'redis')} {version} answers")
    policy = memory.get("maxmemory_policy", "unknown")
    if policy == "noeviction":
        yield fine("broker memory", "evicts nothing (maxmemory-policy noeviction)")
    else:
        yield problem("broker memory", "broker-evicts", f"maxmemory-policy is {policy}")
    yield _check_room(memory.get("used_memory", 0), memory.get("maxmemory", 0))
    if persistence.get("aof_enabled"):
        yield fine("broker disk", "keeps an append-only file")
    else:
        finding = "appendonly is off: when it is killed, all messages go with it and wait for the sweep"
        yield problem("broker disk", "broker-forgets", finding)


def _check_room(used: int, limit: int) -> Check:
    """Check the broker's memory. limit: its memory limit in bytes; 0 means none."""
    if not limit:
        return fine("broker room", f"uses {_mebibytes(used)}; no limit is set (maxmemory 0)")
    finding = f"uses {_mebibytes(used)} of {_mebibytes(limit)} ({used / limit:.0%})"
    if used < BROKER_FULL_SHARE * limit:
        return fine("broker room", finding)
    return problem("broker room", "broker-full", finding)


def check_keys(redis: Redis) -> Check:
    """Check whether keys of a wrong type were renamed, and list them."""
    try:
        renamed = known_aside(redis)
    except RedisError as error:
        return unknown("broker keys", f"this user may not read the list: {first_line(error)}")
    if not renamed:
        return fine("broker keys", "every key that was used is of its type")
    newest = "; ".join(_renamed(one) for one in renamed[:KEYS_NAMED])
    return problem("broker keys", "broker-keys", f"{pluralize(len(renamed), 'key')} renamed within a week: {newest}")


def _renamed(one: SetAside) -> str:
    at = f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M} UTC"
    what = "had no lifetime" if one.found == one.wanted else f"was of type {one.found}, not {one.wanted}"
    return f"{one.key[:100]!r} {what} ({at})"


def check_clocks(engine: Engine, redis: Redis, clock: Clock) -> Check:
    """Check that the clocks of this host, Postgres and the broker agree."""
    try:
        with engine.connect() as connection:
            postgres = postgres_ahead(connection, clock)
        broker = broker_ahead(redis, clock)
    except (DBAPIError, RedisError):
        return unknown("clocks", "not all servers can be reached")
    finding = f"against this host: Postgres {_signed(postgres)}, the broker {_signed(broker)}"
    if max(abs(postgres), abs(broker), abs(postgres - broker)) <= CLOCKS_APART_SECONDS:
        return fine("clocks", finding)
    return problem("clocks", "clocks-apart", finding)


def postgres_ahead(connection: Connection, clock: Clock) -> float:
    """Return the seconds by which the clock of Postgres is ahead of `clock`."""
    return _ahead(lambda: connection.execute(select(func.clock_timestamp())).scalar_one(), clock)


def broker_ahead(redis: Redis, clock: Clock) -> float:
    """Return the seconds by which the broker's clock is ahead of `clock`. Raises RedisError."""
    return _ahead(lambda: _broker_time(redis), clock)


def _ahead(ask: Callable[[], datetime], clock: Clock) -> float:
    """Return the difference of two clocks. Its error is half of the round trip at most."""
    before = clock()
    there = ask()
    after = clock()
    return (there - (before + (after - before) / 2)).total_seconds()


def _broker_time(redis: Redis) -> datetime:
    seconds, microseconds = redis.time()
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"


def _signed(seconds: float) -> str:
    return f"{seconds:+.3f} s"
