"""The outbox of a backend: waiting, delivered and failed rows.

A delivery skips rows that another transaction has locked. If it waited, a flush that changes many memories and a
delivery that marks many rows could deadlock. A skipped row is delivered by the next delivery.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, bindparam, func, or_, select, text

from slowwave_server.models import OutboxItem
from slowwave_server.services.flush.rows import clean_error

BATCH = 5000
"""The largest number of memories in one delivery. Each file is read and replaced once for all of its memories."""
HELD = "its file is held back"
"""Why a memory waits though nothing failed."""
FIRST_WAIT_SECONDS = 10.0
LONGEST_WAIT_SECONDS = 900.0

_MARK = text(
    "UPDATE slowwave.outbox o SET delivered = greatest(o.delivered, x.changes), attempts = 0, last_error = NULL,"
    " not_before = NULL, delivered_at = :now, forgotten = o.forgotten AND x.changes < o.changes"
    " FROM (SELECT q.memory_id, r.changes FROM slowwave.outbox q"
    "       JOIN unnest(CAST(:memories AS uuid[]), CAST(:changes AS integer[])) AS r (memory_id, changes)"
    "         ON r.memory_id = q.memory_id"
    # One subquery per memory: the sum keeps the planner from reading all delivered rows of the scope.
    "       WHERE q.backend = :backend AND q.scope_id + 0 = :scope FOR UPDATE OF q SKIP LOCKED) AS x"
    " WHERE o.memory_id = x.memory_id AND o.backend = :backend"
)
_WAITS = "o.backend = :backend AND o.delivered < o.changes"
# Go from scope to scope by index, and read the first row of each: the cost does not depend on the number of rows.
_WAITING_SCOPES = text(
    "WITH RECURSIVE waiting AS ("
    f" (SELECT o.scope_id FROM slowwave.outbox o WHERE {_WAITS}"
    "   AND (CAST(:scope AS bigint) IS NULL OR o.scope_id = :scope) ORDER BY o.scope_id LIMIT 1)"
    f" UNION ALL SELECT (SELECT o.scope_id FROM slowwave.outbox o WHERE {_WAITS} AND o.scope_id > w.scope_id"
    "   AND (CAST(:scope AS bigint) IS NULL OR o.scope_id = :scope) ORDER BY o.scope_id LIMIT 1)"
    "  FROM waiting w WHERE w.scope_id IS NOT NULL)"
    " SELECT k.id, k.tenant, k.kind, k.name FROM waiting w CROSS JOIN LATERAL ("
    f"  SELECT o.queued_at, o.not_before FROM slowwave.outbox o WHERE {_WAITS} AND o.scope_id = w.scope_id"
    "   ORDER BY o.not_before NULLS FIRST, o.queued_at, o.memory_id LIMIT 1) AS first"
    " JOIN slowwave.scopes k ON k.id = w.scope_id WHERE first.not_before IS NULL OR first.not_before <= :now"
    " ORDER BY first.queued_at, k.id LIMIT :limit"
)
# As a literal, not a parameter: a generic plan would read all delivered rows of a scope with a million of them.
_SCOPE = bindparam("scope", type_=BigInteger, literal_execute=True)
_FAIL = text(
    "UPDATE slowwave.outbox o SET attempts = least(o.attempts + 1, 1000), last_error = :error,"
    " not_before = CAST(:now AS timestamptz)"
    "   + make_interval(secs => least(:longest, :first * power(2.0, least(o.attempts, 20))))"
    " FROM (SELECT q.memory_id FROM slowwave.outbox q"
    "       WHERE q.backend = :backend AND q.scope_id = :scope AND q.delivered < q.changes"
    "         AND (CAST(:memories AS uuid[]) IS NULL OR q.memory_id = ANY(CAST(:memories AS uuid[])))"
    "       FOR UPDATE SKIP LOCKED) AS x"
    " WHERE o.memory_id = x.memory_id AND o.backend = :backend"
).bindparams(_SCOPE)


@dataclass(frozen=True, slots=True)
class WaitingScope:
    """A scope, by its names, with waiting rows."""

    id: int
    tenant: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting rows of a backend in one scope. oldest: the first enqueue time; last_error: of a failed delivery."""

    waiting: int
    oldest: datetime | None
    attempts: int
    not_before: datetime | None
    last_error: str | None


def take_waiting(connection: Connection, backend: str, scope_id: int, *, limit: int = BATCH) -> dict[UUID, int]:
    """Return the memories of the scope that wait for the backend, each with the number of changes that this read saw.

    Memories whose delivery failed lately come last, so that they do not delay others. Read this before the memories, so
    that a change in between is delivered again.
    """
    query = (
        select(OutboxItem.memory_id, OutboxItem.changes)
        .where(undelivered(backend), OutboxItem.scope_id == _SCOPE)
        .order_by(OutboxItem.not_before.nulls_first(), OutboxItem.queued_at, OutboxItem.memory_id)
        .limit(limit)
    )
    return {row.memory_id: row.changes for row in connection.execute(query, {"scope": scope_id})}


def mark_delivered(
    connection: Connection, backend: str, scope_id: int, taken: Mapping[UUID, int], now: datetime
) -> None:
    """Mark these changes as delivered. Later changes stay in the outbox."""
    if taken:
        values = {"memories": list(taken), "changes": list(taken.values())}
        connection.execute(_MARK, values | {"backend": backend, "scope": scope_id, "now": now})


def mark_failed(
    connection: Connection,
    backend: str,
    scope_id: int,
    error: str,
    now: datetime,
    *,
    memories: Collection[UUID] | None = None,
) -> None:
    """Delay the waiting rows (of these memories; None: all), longer each time, from 10 seconds to 15 minutes."""
    values = {"first": FIRST_WAIT_SECONDS, "longest": LONGEST_WAIT_SECONDS, "now": now}
    which = {"backend": backend, "scope": scope_id, "memories": None if memories is None else list(memories)}
    connection.execute(_FAIL, values | which | {"error": clean_error(error)})


def undelivered(backend: str) -> ColumnElement[bool]:
    """Return the SQL condition that an item is not delivered yet."""
    return and_(OutboxItem.backend == backend, OutboxItem.delivered < OutboxItem.changes)


def waits(backend: str, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition that an item is not delivered yet and may be delivered now."""
    return and_(
        undelivered(backend),
        or_(OutboxItem.not_before.is_(None), OutboxItem.not_before <= now),
    )


def waiting_scopes(
    connection: Connection, backend: str, *, limit: int, now: datetime, scope_id: int | None = None
) -> list[WaitingScope]:
    """Return scopes of all tenants (or this one) with rows whose next attempt is due, the longest waiting first. Within
    a scope, rows without a failure come first.
    """
    values = {"backend": backend, "scope": scope_id, "limit": limit, "now": now}
    return [WaitingScope(**row) for row in connection.execute(_WAITING_SCOPES, values).mappings()]


def backlog(connection: Connection, backend: str, scope_id: int) -> Backlog:
    """Return the backlog of one scope."""
    row = connection.execute(
        select(
            func.count().label("waiting"),
            func.min(OutboxItem.queued_at).label("oldest"),
            func.coalesce(func.max(OutboxItem.attempts), 0).label("attempts"),
            func.max(OutboxItem.not_before).label("not_before"),
            func.max(OutboxItem.last_error).label("last_error"),
        ).where(undelivered(backend), OutboxItem.scope_id == scope_id)
    )
    return Backlog(**row.mappings().one())
