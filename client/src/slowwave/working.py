"""Working memory: an agent's own notes, which a consolidation cycle keeps or drops."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self
from uuid import UUID

from pydantic import model_validator

from slowwave.errors import InvalidMessage, StoreUnavailable, TooLarge, WasForgotten, shown
from slowwave.identity import check_name, scope_of
from slowwave.memory_types import MEMORY_TYPES, MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS, NamedPayload, PassMode, check_key, moment_of
from slowwave.postgres import Postgres, PreparedStatement
from slowwave.postgres_text import clean_text
from slowwave.settings import MemorySettings

MAX_TTL_SECONDS = 31_536_000
"""A year: whatever is worth more belongs into long-term memory."""

# An empty text stands for NULL, because parameters of a prepared statement are sent unchanged.
_REMEMBER = PreparedStatement(
    b"slowwave_remember",
    b"SELECT id, is_new, extract(epoch FROM expires_at) FROM slowwave.remember($1, $2, $3, $4, nullif($5, ''), $6, $7,"
    b" $8, $9, $10, $11, nullif($12, '')::timestamptz, $13, $14)",
)
_REMEMBER_WAITED = PreparedStatement(
    b"slowwave_remember_waited",
    b"SELECT id, is_new, extract(epoch FROM expires_at) FROM slowwave.remember_delayed($1, $2, $3, $4, nullif($5, ''),"
    b" $6, $7, $8, $9, $10, $11, nullif($12, '')::timestamptz, $13, $14, $15::timestamptz)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRequest:
    """The arguments of `Memory.remember`. key: the idempotency key; with None the backend makes one."""

    agent: str
    content: str
    importance: float = 0.5
    session: str | None = None
    type: MemoryType = "fact"
    marked: bool = False
    scope: str | None = None
    ttl_seconds: float | None = None
    key: str | None = None
    at: datetime | str | None = None


class Noted(NamedTuple):
    """The result of `Memory.remember`.

    Attributes:
        id: the id of the note.
        added: False if the agent had already used the key; `id` is then the id of the earlier note.
        expires_at: the time (aware) at which the note expires.
    """

    id: UUID
    added: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class WorkingStats:
    """Numbers of a scope's notes by outcome, and of its cycles. noted = open + consolidated + duplicates + expired +
    failed.

    Attributes:
        noted: all notes so far.
        open: notes that no cycle has processed.
        marked: open notes that are marked.
        consolidated: notes that became memories.
        duplicates: notes that repeated a memory.
        expired: notes that expired.
        failed: notes that could not be processed.
        running: True if a cycle runs now.
        runs: completed cycles that were not undone.
        failed_runs: failed cycles.
        last_run_at: the end of the last cycle.
        last_error: the error of the last cycle.
        persisted: memories that the cycles made; equals `consolidated`.
        links: links that the cycles made.
        triples: triples that the cycles made.
        duration_ms: the total duration of the cycles, in milliseconds.
        last_duration_ms: the duration of the last cycle, in milliseconds.
    """

    noted: int
    open: int
    marked: int
    consolidated: int
    duplicates: int
    expired: int
    failed: int
    running: bool
    runs: int
    failed_runs: int
    last_run_at: datetime | None
    last_error: str | None
    persisted: int
    links: int
    triples: int
    duration_ms: int
    last_duration_ms: int | None


def check_note(request: "NoteRequest | Remember") -> tuple[str, str]:
    """Return the content as Postgres can store it, and `at` as ISO text or "".

    Raises InvalidMessage, TooLarge, InvalidName.
    """
    check_name("agent", request.agent)
    scope_of(request.agent, request.scope)
    content: Any = request.content
    importance: Any = request.importance
    marked: Any = request.marked
    ttl_seconds: Any = request.ttl_seconds
    if not isinstance(content, str) or not content or content.isspace():
        raise InvalidMessage("content must be text that is not empty")
    if len(content) > MAX_CONTENT_CHARACTERS:
        raise TooLarge(f"content has at most {MAX_CONTENT_CHARACTERS:,} characters, this one has {len(content):,}")
    if not _number(importance) or not 0 <= importance <= 1:
        raise InvalidMessage(f"importance must be a number from 0 to 1, got {shown(importance)}")
    if not isinstance(marked, bool):
        raise InvalidMessage(f"marked must be true or false, got {shown(marked)}")
    if request.type not in MEMORY_TYPES:
        raise InvalidMessage(f"type must be one of {', '.join(MEMORY_TYPES)}, got {shown(request.type)}")
    if ttl_seconds is not None and (not _number(ttl_seconds) or not 0 < ttl_seconds <= MAX_TTL_SECONDS):
        raise InvalidMessage(
            f"ttl_seconds must be more than 0 and at most {MAX_TTL_SECONDS:,}, got {shown(ttl_seconds)}"
        )
    if request.session is not None:
        check_name("session", request.session)
    return clean_text(content), "" if request.at is None else moment_of(request.at)


def note(
    postgres: Postgres,
    settings: MemorySettings,
    tenant: str,
    request: "NoteRequest | Remember",
    *,
    key: str,
    taken: str | None = None,
) -> Noted:
    """Write one note in one round trip; a repeated call with the same key changes nothing.

    key: replaces the key of the request. taken: the time (ISO 8601) at which the note was queued. Raises WasForgotten
    if the scope was forgotten since then, and InvalidMessage, TooLarge, InvalidName, Refused and StoreUnavailable.
    """
    text, said_at = check_note(request)
    kind, name = scope_of(request.agent, request.scope)
    ttl = settings.consolidation.working_ttl_seconds if request.ttl_seconds is None else request.ttl_seconds
    days = settings.days
    values: tuple[Any, ...] = (
        tenant,
        request.agent,
        kind,
        name,
        request.session or "",
        request.type,
        text,
        request.importance,
    )
    values += (request.marked, check_key(key), ttl, said_at, days.timezone, days.cutoff_hour)
    values += () if taken is None else (taken,)
    item, added, expires = _written(postgres, tuple(str(value).encode() for value in values), waited=taken is not None)
    if item is None:
        raise WasForgotten(f"{request.agent}: what was to be noted was forgotten meanwhile")
    return Noted(UUID(item.decode()), added == b"t", datetime.fromtimestamp(float(expires or 0), UTC))


def _written(postgres: Postgres, values: tuple[bytes, ...], *, waited: bool) -> tuple[Any, ...]:
    """Return the one row of the statement's result. Raises StoreUnavailable."""
    if waited:
        # the note waits in the spool, and nobody has to repeat the call
        return tuple(postgres.call(_REMEMBER_WAITED, values)[0])
    try:
        return tuple(postgres.call(_REMEMBER, values)[0])
    except StoreUnavailable as error:
        raise StoreUnavailable(f"nothing was noted; call again: {error}") from error


def read_stats(connection: Any, tenant: str, kind: str, name: str) -> WorkingStats:
    """Return the statistics of one scope, over a psycopg connection; all zero without notes."""
    cursor = connection.execute("SELECT * FROM slowwave.working_memory_stats(%s, %s, %s)", (tenant, kind, name))
    columns = [column.name for column in cursor.description]
    return WorkingStats(**dict(zip(columns, cursor.fetchone(), strict=True)))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Remember(NamedPayload):
    """The payload of `slowwave.remember`, by name or in this order; the arguments of `Memory.remember`."""

    agent: str
    content: str
    importance: float = 0.5
    session: str | None = None
    type: MemoryType = "fact"
    marked: bool = False
    scope: str | None = None
    ttl_seconds: float | None = None
    key: str | None = None
    at: datetime | str | None = None
    tenant: str | None = None

    @model_validator(mode="after")
    def _keeps_the_limits(self) -> "Remember":
        check_note(self)
        return self


class OfScope(NamedPayload):
    """The first fields of the payload of a task over one scope: an agent (its own scope), or room:NAME or team:NAME."""

    agent: str | None = None
    scope: str | None = None

    @model_validator(mode="after")
    def _names_a_scope(self) -> Self:
        if self.agent is None and self.scope is None:
            raise InvalidMessage("name an agent or a scope (room:NAME, team:NAME)")
        scope_of(self.agent, self.scope)
        return self


class OfTenantScope(OfScope):
    """The same fields, with the tenant directly after them."""

    tenant: str | None = None


class ConsolidateScope(OfScope):
    """The payload of `slowwave.consolidate_scope`: a scope, and the mode of the pass."""

    mode: PassMode = "working"
    tenant: str | None = None
    ticket: str | None = None
