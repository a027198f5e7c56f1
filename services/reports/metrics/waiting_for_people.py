"""Count the work that waits for people: quarantined events, dead letters, conflicts, questions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from slowwave_server.models import DeadLetter, Event, Flush, MemoryConflict, ReviewItem
from slowwave_server.services.reports.metrics import COUNTED, By
from slowwave_server.services.reports.metrics.sessions import age

TIERS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class WaitingForPeople:
    """Figures of all tenants, each counted up to COUNTED."""

    events_quarantined: int
    dead_letters_open: int
    conflicts_open: int
    conflicts_oldest_seconds: float
    review_open: By
    review_oldest_seconds: float


def read_waiting_for_people(connection: Connection, *, now: datetime) -> WaitingForPeople:
    """Read all counts in one query; each part uses the index of open rows."""
    letters = select(DeadLetter.id).where(DeadLetter.state == "open").limit(COUNTED).subquery()
    # The item with the lowest number has been open for the longest time.
    conflicts = (
        select(MemoryConflict.created_at)
        .where(MemoryConflict.status == "open")
        .order_by(MemoryConflict.id)
        .limit(COUNTED)
        .subquery()
    )
    questions = (
        select(ReviewItem.tier, ReviewItem.created_at).where(ReviewItem.state == "open").limit(COUNTED).subquery()
    )
    row = connection.execute(
        select(
            _one(select(func.count()).select_from(_quarantined().subquery())).label("quarantined"),
            _one(select(func.count()).select_from(letters)).label("letters"),
            _one(select(func.count()).select_from(conflicts)).label("conflicts"),
            _one(select(func.min(conflicts.c.created_at))).label("first_conflict"),
            *(_one(select(func.count()).where(questions.c.tier == tier)).label(f"tier_{tier}") for tier in TIERS),
            _one(select(func.min(questions.c.created_at))).label("first_question"),
        )
    ).one()
    return WaitingForPeople(
        events_quarantined=row.quarantined,
        dead_letters_open=row.letters,
        conflicts_open=row.conflicts,
        conflicts_oldest_seconds=age(row.first_conflict, now),
        review_open={(tier,): getattr(row, f"tier_{tier}") for tier in TIERS},
        review_oldest_seconds=age(row.first_question, now),
    )


def _quarantined() -> Select[int]:
    """Return events that are still in quarantine; the ledger names their windows."""
    return (
        select(Event.seq)
        .select_from(Flush)
        .join(Event, (Event.session_id == Flush.session_id) & Event.seq.between(Flush.from_seq, Flush.to_seq))
        .where(Flush.outcome == "quarantined", Event.quarantined_at.is_not(None))
        .limit(COUNTED)
    )


def _one(query: Select[Any]) -> ColumnElement[Any]:
    return query.scalar_subquery()
