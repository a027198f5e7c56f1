"""Lines of memory files as evidence of memories, with the runs that read them, within a scope or tenant (I8)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from slowwave_server.models.driver import Reads, read_rows

READ = 200
"""The largest number of lines that are returned for one memory."""

_LINES = (
    "SELECT i.file, i.trust, i.confidence, i.holds_from, i.run_id AS run, r.started_at AS read_at, i.sources, i.via"
    " FROM slowwave.memory_imports i JOIN slowwave.memories m ON m.id = i.memory_id"
    " LEFT JOIN slowwave.maintenance_runs r ON r.id = i.run_id"
    " WHERE m.scope_id = %(scope)s AND i.memory_id = %(memory)s"
    " ORDER BY i.run_id, i.file, i.digest LIMIT %(most)s"
)
_FILES = (
    "SELECT DISTINCT i.memory_id, i.file FROM slowwave.memory_imports i"
    " JOIN slowwave.memories m ON m.id = i.memory_id JOIN slowwave.scopes k ON k.id = m.scope_id"
    " WHERE k.tenant = %(tenant)s AND i.memory_id = ANY(%(memories)s) ORDER BY i.memory_id, i.file"
)


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


def lines_of(connection: Reads, scope_id: int, memory: UUID) -> tuple[ReadLine, ...]:
    """Return the lines that are sources of one memory, in the order in which runs read them."""
    rows = read_rows(connection, _LINES, {"scope": scope_id, "memory": memory, "most": READ})
    return tuple(ReadLine(**row | {"sources": tuple((name, seq) for name, seq in row["sources"])}) for row in rows)


def files_among(connection: Reads, tenant: str, memories: Collection[UUID]) -> Iterator[tuple[UUID, str]]:
    """Return the files whose lines are sources of these memories of a tenant, each file once."""
    for row in read_rows(connection, _FILES, {"tenant": tenant, "memories": list(memories)}):
        yield row["memory_id"], row["file"]
