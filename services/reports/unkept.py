"""Count failed work that is retried: notes that no cycle could store as memories, and days whose summary failed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, exists, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import Day, Scope, SessionDay, WorkingItem
from slowwave_server.services.reports.check import Check, fine, problem

COUNTED = 1_000
"""The largest number of each kind that is counted."""


@dataclass(frozen=True, slots=True)
class Unkept:
    """The counts. notes: the number of failed notes of working memory that have not expired; days: the number of days
    whose last summary failed.
    """

    notes: int
    days: int


def read_unkept(connection: Connection, now: datetime, tenant: str | None = None) -> Unkept:
    """Read the counts of one tenant or of all, up to COUNTED each."""
    notes = select(WorkingItem.id).where(WorkingItem.outcome == "failed", WorkingItem.expires_at > now)
    # A final day is summarised again if a late event is not in its summary yet.
    late = exists().where(
        SessionDay.pending,
        SessionDay.agent_id == Day.agent_id,
        SessionDay.day == Day.day,
        SessionDay.scope_id == Day.scope_id,
    )
    days = select(Day.day).where(Day.last_error.is_not(None), or_(Day.status != "final", late))
    return Unkept(
        _count(connection, notes, WorkingItem.scope_id, tenant), _count(connection, days, Day.scope_id, tenant)
    )


def check_unkept(connection: Connection, *, now: datetime) -> Check:
    """Check that all notes and summaries of days could be made. Counts all tenants together, without contents."""
    found = read_unkept(connection, now)
    if not found.notes and not found.days:
        return fine("notes", "every note and every summary of a day could be made")
    return problem("notes", "notes-fail", unkept_words(found))


def unkept_words(found: Unkept) -> str:
    """Return the numbers in words: "1 note and 2 summaries of days failed"."""
    told = (
        pluralize(found.notes, "note") if found.notes else "",
        pluralize(found.days, "summary of a day", "summaries of days") if found.days else "",
    )
    return f"{' and '.join(part for part in told if part)} failed"


def _count(
    connection: Connection, query: Select[*tuple[Any, ...]], scope_id: InstrumentedAttribute[int], tenant: str | None
) -> int:
    if tenant is not None:
        query = query.where(scope_id.in_(select(Scope.id).where(Scope.tenant == tenant)))
    some = query.limit(COUNTED).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())
