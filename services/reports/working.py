"""List a scope's working memory: each note, its treatment by the next cycle, and on request settled notes."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, RowMapping, select

from slowwave.settings import Consolidation
from slowwave_server.domain.redaction import redact
from slowwave_server.models import Agent, MemoryNote, Scope, WorkingItem

Treatment = Literal["keep", "wait", "expire", "settled"]


@dataclass(frozen=True, slots=True)
class ListedNote:
    """One note. content: its redacted text. memory: for a settled note, the id of the memory that it became or
    repeated.

    treatment: keep (the next cycle turns it into a memory or finds an equal one), wait (until it expires), expire (the
    next cycle drops it), settled; why: the reason in words.
    """

    id: UUID
    agent: str
    session: str | None
    type: str
    content: str
    importance: float
    marked: bool
    said_at: datetime
    expires_at: datetime
    outcome: str | None
    settled_at: datetime | None
    memory: UUID | None
    treatment: Treatment
    why: str


def list_notes(
    connection: Connection,
    tenant: str,
    kind: str,
    name: str,
    settings: Consolidation,
    now: datetime,
    *,
    settled: bool = False,
    limit: int = 50,
) -> list[ListedNote]:
    """List open notes in the order of cycles, oldest first; with `settled`, the last settled ones."""
    query = (
        select(*WorkingItem.__table__.columns, Agent.name.label("agent"), MemoryNote.memory_id.label("memory"))
        .join(Scope, Scope.id == WorkingItem.scope_id)
        .join(Agent, Agent.id == WorkingItem.agent_id)
        .join(MemoryNote, (MemoryNote.working_id == WorkingItem.id) & MemoryNote.via.is_(None), isouter=True)
        .where(Scope.tenant == tenant, Scope.kind == kind, Scope.name == name)
        .limit(limit)
    )
    if settled:
        query = query.where(WorkingItem.outcome.is_not(None))
        query = query.order_by(WorkingItem.settled_at.desc(), WorkingItem.id.desc())
    else:
        query = query.where(WorkingItem.outcome.is_(None)).order_by(WorkingItem.said_at, WorkingItem.id)
    return [_listed(row, settings, now) for row in connection.execute(query).mappings()]


def _listed(row: RowMapping, settings: Consolidation, now: datetime) -> ListedNote:
    treatment, why = _treatment(row, settings, now)
    plain = {one.name: row[one.name] for one in fields(ListedNote) if one.name in row}
    return ListedNote(**plain | {"content": redact(row["content"]).text, "treatment": treatment, "why": why})


def _treatment(row: RowMapping, settings: Consolidation, now: datetime) -> tuple[Treatment, str]:
    least = settings.min_importance
    if row["outcome"] is not None:
        told = {
            "consolidated": "became a memory",
            "duplicate": "was known already",
            "expired": "its time was over",
            "failed": f"could not be kept: {row['error']}",
        }
        return "settled", told[row["outcome"]]
    if row["expires_at"] <= now:
        return "expire", "its time is over"
    if row["marked"]:
        return "keep", "marked"
    if row["importance"] >= least:
        return "keep", f"important enough: {row['importance']:.2f}, the minimum is {least:.2f}"
    return "wait", f"not important enough: {row['importance']:.2f}, the minimum is {least:.2f}; not marked"
