"""Requests of HTTP callers and clients for a worker, as rows that survive a lost message.

A row has the owner and the content of a request; the message that wakes a worker has only the row's id. A worker holds
a lock while it answers a request; Postgres releases it if the worker dies, so a sweep can enqueue the request again.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Engine, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from slowwave_server.services.lookup import UnknownName

log = logging.getLogger(__name__)

Kind = Literal["correct", "archive", "forget_preview", "forget", "undo"]
State = Literal["waiting", "running", "done", "failed"]
Failure = Literal["not-found", "not-allowed", "conflict", "invalid", "unavailable", "internal"]

KEPT_DAYS = 7
OFFERED_AFTER_SECONDS = 10.0
"""A request that waits longer than this has lost its message, or the worker that took it."""
ATTEMPTS = 3
"""A request that ended this many workers, or met an outage as often, fails."""

_ADD = text(
    "INSERT INTO slowwave.requests (tenant, key_id, kind, arguments) VALUES (:tenant, :key, :kind, :arguments)"
    " RETURNING id"
).bindparams(bindparam("arguments", type_=JSONB))
_COLUMNS = (
    "r.id, r.tenant, r.key_id, r.kind, r.arguments, r.state, r.result, r.error, r.created_at, r.finished_at,"
    " CASE WHEN r.key_id IS NULL THEN r.asked_by ELSE 'key:' || (SELECT k.name FROM slowwave.api_keys k"
    " WHERE k.id = r.key_id) END AS by"
)
_READ = text(f"SELECT {_COLUMNS} FROM slowwave.requests r WHERE r.id = :id AND r.tenant = :tenant")
_TAKE = text(
    "UPDATE slowwave.requests r SET state = 'running', started_at = :now, attempts = r.attempts + 1"
    f" WHERE r.id = :id AND r.state IN ('waiting', 'running') RETURNING {_COLUMNS}, r.attempts,"
    " EXISTS (SELECT FROM slowwave.api_keys k WHERE k.id = r.key_id AND k.revoked_at <= :now) AS revoked"
)
_FINISH = text(
    "UPDATE slowwave.requests SET state = :state, result = :result, error = :error, finished_at = :now,"
    # The memory stores the text; an answered request does not need it any more.
    " arguments = arguments - 'content' - 'reason' WHERE id = :id"
).bindparams(bindparam("result", type_=JSONB))
_LATER = text("UPDATE slowwave.requests SET state = 'waiting' WHERE id = :id")
_OVERDUE = text(
    "SELECT r.id FROM slowwave.requests r WHERE r.state IN ('waiting', 'running') AND r.created_at < :before"
    " AND (r.started_at IS NULL OR r.started_at < :before) ORDER BY r.created_at LIMIT :limit"
)
_REMOVE = text("DELETE FROM slowwave.requests r WHERE r.created_at < :before AND r.state IN ('done', 'failed')")
_LOCK = text("SELECT pg_try_advisory_lock(hashtextextended('slowwave.request ' || :id, 0))")
_LET_GO = text("SELECT pg_advisory_unlock(hashtextextended('slowwave.request ' || :id, 0))")


class Unavailable(Exception):
    """A server that the request needs is unavailable: the request is retried later."""


class Refused(Exception):
    """The request can't be carried out; the message gives the reason."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Request:
    """One request. by: the requester, as runs and receipts name it: "key:NAME", or a login of Postgres.

    result: the result of a completed request; for a failed one {"problem": …}, which `error` explains.
    """

    id: UUID
    tenant: str
    key_id: UUID | None
    kind: Kind
    arguments: Mapping[str, Any]
    state: State
    result: Mapping[str, Any] | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None
    by: str


class _Taken(NamedTuple):
    """A request in progress. attempt: from 1; revoked: its key was revoked meanwhile."""

    request: Request
    attempt: int
    revoked: bool


Work = Callable[[Request], dict[str, Any]]
"""Carries a request out and answers its result as JSON. Raises Refused and Unavailable."""


def add_request(
    connection: Connection, tenant: str, kind: Kind, arguments: Mapping[str, Any], *, key: UUID | None = None
) -> UUID:
    """Store a request of `tenant`. Return its id. key: the API key of the caller."""
    values = {"tenant": tenant, "key": key, "kind": kind, "arguments": dict(arguments)}
    added: UUID = connection.execute(_ADD, values).scalar_one()
    return added


def read_request(connection: Connection, tenant: str, request: UUID) -> Request:
    """Return one request of `tenant`. Raises UnknownName."""
    row = connection.execute(_READ, {"id": request, "tenant": tenant}).mappings().first()
    if row is None:
        raise UnknownName(f"tenant {tenant!r} has no request {request}; requests are kept for {KEPT_DAYS} days")
    return Request(**row)


def answer_request(engine: Engine, request: UUID, work: Work, clock: Callable[[], datetime]) -> State | None:
    """Carry out a request, and store its result. Return None if it is unknown, answered, or running in another process.

    If the work raises Unavailable, the request waits for the next sweep, up to ATTEMPTS times.
    """
    with _lock(engine, request) as ours:
        if not ours:
            return None
        taken = _take(engine, request, clock())
        if taken is None:
            return None
        return _carry_out(engine, taken, work, clock)


def _carry_out(engine: Engine, taken: "_Taken", work: Work, clock: Callable[[], datetime]) -> State:
    asked = taken.request
    if taken.revoked:
        return _fail(engine, asked, "not-allowed", f"{asked.by} was revoked before this request began", clock())
    if taken.attempt > ATTEMPTS:
        told = f"this request was tried {ATTEMPTS} times, and each time its worker ended; ask again"
        return _fail(engine, asked, "internal", told, clock())
    try:
        result = work(asked)
    except Refused as refused:
        return _fail(engine, asked, refused.failure, str(refused), clock())
    except Unavailable as away:
        if taken.attempt == ATTEMPTS:
            return _fail(engine, asked, "unavailable", str(away), clock())
        log.warning("request %s waits: %s", asked.id, away)
        with engine.begin() as connection:
            connection.execute(_LATER, {"id": asked.id})
        return "waiting"
    except Exception:
        _fail(engine, asked, "internal", "the request failed; the log of the worker says why", clock())
        raise
    _finish(engine, asked, "done", result, None, clock())
    return "done"


def overdue_requests(connection: Connection, now: datetime, *, limit: int) -> Sequence[UUID]:
    """Return requests of all tenants that lost their message or their worker, oldest first."""
    values = {"before": now - timedelta(seconds=OFFERED_AFTER_SECONDS), "limit": limit}
    return connection.execute(_OVERDUE, values).scalars().all()


def remove_old_requests(engine: Engine, *, now: datetime) -> int:
    """Remove answered requests of all tenants that are older than KEPT_DAYS. Return their number."""
    with engine.begin() as connection:
        return connection.execute(_REMOVE, {"before": now - timedelta(days=KEPT_DAYS)}).rowcount


@contextmanager
def _lock(engine: Engine, request: UUID) -> Iterator[bool]:
    """Lock the request for the block; yield whether it succeeded. No transaction is open."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        ours: bool = connection.execute(_LOCK, {"id": str(request)}).scalar_one()
        try:
            yield ours
        finally:
            if ours:
                connection.execute(_LET_GO, {"id": str(request)})


def _take(engine: Engine, request: UUID, now: datetime) -> "_Taken | None":
    with engine.begin() as connection:
        row = connection.execute(_TAKE, {"id": request, "now": now}).mappings().first()
    if row is None:
        return None
    columns = dict(row)
    attempt, revoked = columns.pop("attempts"), columns.pop("revoked")
    return _Taken(Request(**columns), attempt, revoked)


def _fail(engine: Engine, request: Request, failure: Failure, error: str, now: datetime) -> State:
    _finish(engine, request, "failed", {"problem": failure}, error, now)
    return "failed"


def _finish(
    engine: Engine, request: Request, state: State, result: Mapping[str, Any], error: str | None, now: datetime
) -> None:
    values = {"id": request.id, "state": state, "result": dict(result), "error": error, "now": now}
    with engine.begin() as connection:
        connection.execute(_FINISH, values)
