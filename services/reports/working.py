"""What is in a scope's working memory, and how the next cycle will treat it; on demand also what became of the rest.

Must not know: how notes are compared.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, RowMapping, select

from domain.redaction import redact
from models import Agent, MemoryNote, Scope, WorkingItem
from slowwave.settings import Consolidation

Treatment = Literal["keep", "wait", "expire", "settled"]


@dataclass(frozen=True, slots=True)
class ListedNote:
    """One note. content: redacted, for it is shown. memory: the one that it became or repeated, once it is settled.

    treatment: keep (the next cycle makes a memory of it or finds that it is one), wait (until it expires), expire (the
    next cycle drops it), settled; why: in words.
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
    """Open notes of a scope in the order of cycles, oldest first; with `settled` the last settled ones instead."""
    query = (
        select(WorkingItem, Agent.name.label("agent"), MemoryNote.memory_id.label("memory"))
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
    item: WorkingItem = row["WorkingItem"]
    treatment, why = _treatment(item, settings, now)
    return ListedNote(
        id=item.id,
        agent=row["agent"],
        session=item.session,
        type=item.type,
        content=redact(item.content).text,
        importance=item.importance,
        marked=item.marked,
        said_at=item.said_at,
        expires_at=item.expires_at,
        outcome=item.outcome,
        settled_at=item.settled_at,
        memory=row["memory"],
        treatment=treatment,
        why=why,
    )


def _treatment(item: WorkingItem, settings: Consolidation, now: datetime) -> tuple[Treatment, str]:
    least = settings.min_importance
    if item.outcome is not None:
        told = {
            "consolidated": "became a memory",
            "duplicate": "was known already",
            "expired": "its time was over",
            "failed": f"could not be kept: {item.error}",
        }
        return "settled", told[item.outcome]
    if item.expires_at <= now:
        return "expire", "its time is over"
    if item.marked:
        return "keep", "marked"
    if item.importance >= least:
        return "keep", f"important enough, {item.importance:.2f} where {least:.2f} is asked for"
    return "wait", f"not important enough, {item.importance:.2f} where {least:.2f} is asked for, and not marked"
