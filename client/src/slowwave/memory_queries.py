"""List memories, read one by id, read its provenance, and note the use of memories, over psycopg."""

import base64
import binascii
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from psycopg import Connection

from slowwave.errors import InvalidQuery, NotFound, shown
from slowwave.identity import scope_of
from slowwave.memory_records import (
    MemoryChange,
    MemoryEvent,
    MemoryExplanation,
    MemoryPage,
    MemoryRecord,
    parsed,
)
from slowwave.memory_requests import MemoriesRequest
from slowwave.recall.masking import mask

T = TypeVar("T")


_READ = "SELECT record FROM slowwave.read_memories(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_EXPLAIN = "SELECT slowwave.explain_memory(%s, %s)"
_USE = "SELECT slowwave.use_memories(%s, %s, %s, %s)"


def list_records(connection: Connection[Any], tenant: str, request: MemoriesRequest) -> MemoryPage:
    """Return one page of a scope's memories, newest first. Raises InvalidQuery."""
    moment, day = (request.as_of, None) if isinstance(request.as_of, datetime) else (None, request.as_of)
    scope = scope_of(request.agent, request.scope)
    chosen = (request.status, request.type, moment, day, *_place_of(request.after), request.limit + 1)
    rows = connection.execute(_READ, (tenant, request.agent, *scope, None, *chosen))
    records = [parsed(MemoryRecord, row[0]) for row in rows]
    page = tuple(records[: request.limit])
    return MemoryPage(page, _after(page[-1]) if len(records) > request.limit else None)


def existing_record(connection: Connection[Any], tenant: str, memory: UUID) -> MemoryRecord:
    """Return one memory of the tenant. Raises NotFound."""
    return found(read_record(connection, tenant, memory), memory)


def found(value: T | None, memory: UUID) -> T:
    """Return the value. Raises NotFound if it is None."""
    if value is None:
        raise NotFound(f"there is no memory {memory}")
    return value


def read_record(connection: Connection[Any], tenant: str, memory: UUID) -> MemoryRecord | None:
    """Return one memory of the tenant, or None if it does not exist."""
    row = connection.execute(_READ, (tenant, None, None, None, memory, *[None] * 6, 1)).fetchone()
    return None if row is None else parsed(MemoryRecord, row[0])


def read_explanation(connection: Connection[Any], tenant: str, memory: UUID) -> MemoryExplanation | None:
    """Return the provenance of a memory, with secrets masked; None for an unknown memory."""
    row = connection.execute(_EXPLAIN, (tenant, memory)).fetchone()
    if row is None or row[0] is None:
        return None
    told = parsed(MemoryExplanation, row[0])
    return replace(
        told, sources=tuple(map(_masked_event, told.sources)), changes=tuple(map(_masked_change, told.changes))
    )


def note_use(connection: Connection[Any], tenant: str, agent: str, ids: list[UUID], session: str | None) -> int:
    """Note that a reply used memories. Return how many of them the agent may read."""
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
