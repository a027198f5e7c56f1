"""Read one day of an agent: any version of its summary, with the source event of each line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Select, select, tuple_

from slowwave_server.models import Agent, DaySummary, Event, Session
from slowwave_server.services.days.book import DayEntry, DayStatus, day_book
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.masking import masked

SCOPES_READ = 1000


@dataclass(frozen=True, slots=True)
class SummaryVersion:
    """One version of a day's summary. lines: each with `facet`, `text`, `speaker`, `session`, `seq` and `at`."""

    version: int
    final: bool
    messages: int
    segments: int
    made_by: str
    summarizer: str
    made_at: datetime
    text: str
    lines: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class DayStory:
    """A day and one version of its summary; None before the first version. versions: the existing versions."""

    agent: str
    scope: str | None
    day: date
    status: DayStatus
    version: int
    total_messages: int
    last_summarized_total: int
    messages_since_last_summary: int
    finalized_at: datetime | None
    last_error: str | None
    versions: tuple[int, ...]
    summary: SummaryVersion | None


def read_day(
    connection: Connection,
    tenant: str,
    agent: str,
    day: date,
    *,
    scope: str | None = None,
    version: int | None = None,
) -> DayStory:
    """Return one day of an agent in its own scope, or in "room:NAME" or "team:NAME". version: None for the newest.

    Raises UnknownName for an unknown agent, day or version.
    """
    entry = _entry(connection, tenant, agent, day, scope)
    ref = entry.ref
    its = select(DaySummary).where(
        DaySummary.agent_id == ref.agent_id, DaySummary.scope_id == ref.scope_id, DaySummary.day == day
    )
    numbers = its.with_only_columns(DaySummary.version).order_by(DaySummary.version)
    versions = tuple(connection.execute(numbers).scalars())
    wanted = version if version is not None else max(versions, default=None)
    if wanted is not None and wanted not in versions:
        known = f"; there is {', '.join(map(str, versions))}" if versions else "; there is none yet"
        raise UnknownName(f"{ref} has no version {wanted} of its summary{known}")
    told = None if wanted is None else _told(connection, its.where(DaySummary.version == wanted))
    return DayStory(
        agent=ref.agent,
        scope=ref.scope,
        day=day,
        status=entry.status,
        version=entry.version,
        total_messages=entry.total_messages,
        last_summarized_total=entry.last_summarized_total,
        messages_since_last_summary=entry.messages_since_last_summary,
        finalized_at=entry.finalized_at,
        last_error=entry.last_error,
        versions=versions,
        summary=told,
    )


@dataclass(frozen=True, slots=True)
class LineSource:
    """One source event of a summary's line, in full, with secrets masked."""

    session: str
    seq: int
    role: str
    name: str | None
    content: str
    happened_at: datetime


def said_for(
    connection: Connection, tenant: str, agent: str, lines: Iterable[Mapping[str, Any]]
) -> dict[tuple[str, int], LineSource]:
    """Return the remaining source events of lines of the agent's summaries, by session and number."""
    places = {(line["session"], line["seq"]) for line in lines if line.get("session") and line.get("seq")}
    if not places:
        return {}
    query = (
        select(Session.name.label("session"), Event.seq, Event.role, Event.name, Event.content, Event.happened_at)
        .join_from(Agent, Session, Session.agent_id == Agent.id)
        .join(Event, Event.session_id == Session.id)
        .where(Agent.tenant == tenant, Agent.name == agent)
        .where(tuple_(Session.name, Event.seq).in_(sorted(places)))
        # An index can't search pairs: look up sessions by name, and the events of each by number.
        .where(Session.name.in_({session for session, _ in places}), Event.seq.in_({seq for _, seq in places}))
    )
    rows = connection.execute(query).mappings()
    return {
        (row["session"], row["seq"]): LineSource(**(dict(row) | {"content": masked(row["content"])})) for row in rows
    }


def _told(connection: Connection, query: Select[DaySummary]) -> SummaryVersion:
    row = connection.execute(query.with_only_columns(*DaySummary.__table__.columns)).mappings().one()
    plain = {name: row[name] for name in SummaryVersion.__dataclass_fields__ if name != "made_at"}
    return SummaryVersion(**plain, made_at=row["created_at"])


def _entry(connection: Connection, tenant: str, agent: str, day: date, scope: str | None) -> DayEntry:
    found = {entry.ref.scope: entry for entry in day_book(connection, tenant, agent, day=day, limit=SCOPES_READ)}
    if scope in found:
        return found[scope]
    where = "" if scope is None else f" in {scope}"
    others = [name or "its own scope" for name in found]
    hint = f"; there is one in {', '.join(others)}" if others else "; `slowwave day list` lists those there are"
    raise UnknownName(f"{agent!r} has no day {day}{where}{hint}")
