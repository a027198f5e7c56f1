"""Memories by list and by id, their explanations, and the note that a reply used them: over a connection to Postgres.

Must not know: who asks; HTTP.
"""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from typing import Any, TypeVar
from uuid import UUID

from psycopg import Connection

from slowwave.errors import InvalidMessage, InvalidQuery, NotFound, shown
from slowwave.identity import check_name
from slowwave.memory_records import (
    MEMORY_STATUSES,
    MemoryChange,
    MemoryEvent,
    MemoryExplanation,
    MemoryPage,
    MemoryRecord,
    MemoryStatus,
    explanation_of,
    memory_id,
    record_of,
)
from slowwave.memory_types import MEMORY_TYPES, MemoryType
from slowwave.recall.masking import mask
from slowwave.working import scope_of

T = TypeVar("T")

MAX_PAGE = 200
MAX_USED = 100
"""So many memories one call may name as used: more than any context shows."""

_READ = "SELECT record FROM slowwave.read_memories(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_EXPLAIN = "SELECT slowwave.explain_memory(%s, %s)"
_USE = "SELECT slowwave.use_memories(%s, %s, %s, %s)"


def used_ids(values: Iterable[str | UUID]) -> list[UUID]:
    """The UUIDs of memories that a reply used. Raises InvalidMessage."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidMessage(f"ids must be a list of UUIDs, got {shown(values)}")
    try:
        ids = list(dict.fromkeys(memory_id(value) for value in values))
    except InvalidQuery as error:
        raise InvalidMessage(str(error)) from None
    if len(ids) > MAX_USED:
        raise InvalidMessage(f"ids: at most {MAX_USED} memories in one call, got {len(ids)}")
    return ids


def check_list(status: MemoryStatus | None, kind: MemoryType | None, as_of: datetime | date | None, limit: int) -> None:
    """Raise InvalidQuery unless memories can be listed so."""
    if status is not None and status not in MEMORY_STATUSES:
        raise InvalidQuery(f"status must be one of {', '.join(MEMORY_STATUSES)}, got {shown(status)}")
    if kind is not None and kind not in MEMORY_TYPES:
        raise InvalidQuery(f"type must be one of {', '.join(MEMORY_TYPES)}, got {shown(kind)}")
    if as_of is not None and (not isinstance(as_of, date) or (isinstance(as_of, datetime) and as_of.tzinfo is None)):
        raise InvalidQuery(f"as_of must be a date, or a datetime with a time zone, got {shown(as_of)}")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:
        raise InvalidQuery(f"limit must be an integer from 1 to {MAX_PAGE}, got {shown(limit)}")


def list_records(
    connection: Connection[Any],
    tenant: str,
    agent: str,
    *,
    scope: str | None,
    status: MemoryStatus | None,
    kind: MemoryType | None,
    as_of: datetime | date | None,
    limit: int,
    after: str | None,
) -> MemoryPage:
    """One page of a scope's memories, the newest first. Raises InvalidName and InvalidQuery."""
    check_name("agent", agent)
    check_list(status, kind, as_of, limit)
    moment, day = (as_of, None) if isinstance(as_of, datetime) else (None, as_of)
    values = (tenant, agent, *scope_of(agent, scope), None, status, kind, moment, day, *_place_of(after), limit + 1)
    records = [record_of(row[0]) for row in connection.execute(_READ, values)]
    more = len(records) > limit
    return MemoryPage(tuple(records[:limit]), _after(records[limit - 1]) if more else None)


def existing_record(connection: Connection[Any], tenant: str, memory: UUID) -> MemoryRecord:
    """One memory of the tenant. Raises NotFound."""
    return found(read_record(connection, tenant, memory), memory)


def found(value: T | None, memory: UUID) -> T:
    """The value. Raises NotFound if there is none."""
    if value is None:
        raise NotFound(f"there is no memory {memory}")
    return value


def read_record(connection: Connection[Any], tenant: str, memory: UUID) -> MemoryRecord | None:
    """One memory of the tenant; None if there is none."""
    row = connection.execute(_READ, (tenant, None, None, None, memory, *[None] * 6, 1)).fetchone()
    return None if row is None else record_of(row[0])


def read_explanation(connection: Connection[Any], tenant: str, memory: UUID) -> MemoryExplanation | None:
    """Why a memory is there, without the secrets that were said; None if there is no such memory."""
    row = connection.execute(_EXPLAIN, (tenant, memory)).fetchone()
    if row is None or row[0] is None:
        return None
    told = explanation_of(row[0])
    return replace(
        told, sources=tuple(map(_masked_event, told.sources)), changes=tuple(map(_masked_change, told.changes))
    )


def note_use(connection: Connection[Any], tenant: str, agent: str, ids: list[UUID], session: str | None) -> int:
    """Note that a reply used memories; answer how many of them the agent may read."""
    row = connection.execute(_USE, (tenant, agent, ids, session)).fetchone()
    return 0 if row is None else int(row[0])


def _after(last: MemoryRecord) -> str:
    return base64.urlsafe_b64encode(f"{last.valid_from.isoformat()} {last.id}".encode()).decode().rstrip("=")


def _place_of(after: str | None) -> tuple[datetime | None, UUID | None]:
    if after is None:
        return None, None
    try:
        moment, _, last = base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)).decode().partition(" ")
        return datetime.fromisoformat(moment), UUID(last)
    except (ValueError, TypeError, binascii.Error):
        raise InvalidQuery(f"after must be the `next` of an earlier page, got {shown(after)}") from None


def _masked_event(event: MemoryEvent) -> MemoryEvent:
    return replace(event, content=mask(event.content))


def _masked_change(change: MemoryChange) -> MemoryChange:
    return replace(
        change, reason=mask(change.reason), before=_masked_values(change.before), after=_masked_values(change.after)
    )


def _masked_values(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {key: _masked_values(item) for key, item in value.items()}
    return [_masked_values(item) for item in value] if isinstance(value, list) else value
