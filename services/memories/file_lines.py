"""Lines of memory files as evidence: the lines that are sources of a memory, and the run that read each line.

Every query is limited to the scope or the tenant (I8).
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, select

from slowwave_server.models import MaintenanceRun, Memory, MemoryImport, Scope

READ = 200
"""The largest number of lines that are returned for one memory."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line that says a memory.

    file: its path below the scope's folder; trust: the trust of its source; confidence: a number from 0 to 1; read_at:
    the time of the read, None if its run was deleted. sources: (session, seq) as the line names them. via: the id of
    the merged memory that brought it, or None.
    """

    file: str
    trust: str
    confidence: float
    holds_from: datetime
    run: int | None
    read_at: datetime | None
    sources: tuple[tuple[str, int], ...]
    via: UUID | None


def lines_of(connection: Connection, scope_id: int, memory: UUID) -> tuple[ReadLine, ...]:
    """Return the lines that are sources of one memory, in the order in which runs read them."""
    query = (
        select(
            MemoryImport.file,
            MemoryImport.trust,
            MemoryImport.confidence,
            MemoryImport.holds_from,
            MemoryImport.run_id.label("run"),
            MaintenanceRun.started_at.label("read_at"),
            MemoryImport.sources,
            MemoryImport.via,
        )
        .join(Memory, Memory.id == MemoryImport.memory_id)
        .join(MaintenanceRun, MaintenanceRun.id == MemoryImport.run_id, isouter=True)
        .where(Memory.scope_id == scope_id, MemoryImport.memory_id == memory)
        .order_by(MemoryImport.run_id, MemoryImport.file, MemoryImport.digest)
        .limit(READ)
    )
    rows = (dict(row) for row in connection.execute(query).mappings())
    return tuple(ReadLine(**row | {"sources": tuple((name, seq) for name, seq in row["sources"])}) for row in rows)


def files_among(connection: Connection, tenant: str, memories: Collection[UUID]) -> Iterator[tuple[UUID, str]]:
    """Return the files whose lines are sources of these memories of a tenant, each file once."""
    query = (
        select(MemoryImport.memory_id, MemoryImport.file)
        .distinct()
        .join(Memory, Memory.id == MemoryImport.memory_id)
        .join(Scope, Scope.id == Memory.scope_id)
        .where(Scope.tenant == tenant, MemoryImport.memory_id.in_(memories))
        .order_by(MemoryImport.memory_id, MemoryImport.file)
    )
    for row in connection.execute(query):
        yield row.memory_id, row.file
