"""Count failed work that is retried: notes that no cycle could store as memories, and days whose summary failed."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models.driver import Reads, read_rows

if TYPE_CHECKING:
    from slowwave_server.services.reports.check import Check

COUNTED = 1_000
"""The largest number of each kind that is counted."""

_NOTES = "SELECT FROM slowwave.working_memory w WHERE w.outcome = 'failed' AND w.expires_at > %(now)s"
# A final day is summarised again if a late event is not in its summary yet.
_DAYS = (
    "SELECT FROM slowwave.days w WHERE w.last_error IS NOT NULL AND (w.status <> 'final' OR EXISTS"
    " (SELECT FROM slowwave.session_days l WHERE l.pending AND l.agent_id = w.agent_id AND l.day = w.day"
    " AND l.scope_id = w.scope_id))"
)
_OF_TENANT = " AND w.scope_id IN (SELECT k.id FROM slowwave.scopes k WHERE k.tenant = %(tenant)s)"


@dataclass(frozen=True, slots=True)
class Unkept:
    """Failed notes of working memory that have not expired, and days whose last summary failed."""

    notes: int
    days: int


def read_unkept(connection: Reads, now: datetime, tenant: str | None = None) -> Unkept:
    """Read the counts of one tenant or of all, up to COUNTED each."""
    notes, days = (_count(connection, query, now, tenant) for query in (_NOTES, _DAYS))
    return Unkept(notes, days)


def check_unkept(connection: Reads, *, now: datetime) -> "Check":
    """Check that all notes and summaries of days could be made. Counts all tenants together, without contents."""
    from slowwave_server.services.reports.check import fine, problem  # noqa: PLC0415 (loads all issues; a count needs none)

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


def _count(connection: Reads, query: str, now: datetime, tenant: str | None) -> int:
    some = query + (_OF_TENANT if tenant is not None else "")
    values = {"now": now, "tenant": tenant, "most": COUNTED}
    (row,) = read_rows(connection, f"SELECT count(*) AS number FROM ({some} LIMIT %(most)s) AS failed", values)
    return int(row["number"])
