"""Count the uses of memories: the conversations in which a context showed them, or a reply used them."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from slowwave_server.models.driver import Reads, read_rows

OF_MEMORIES = (
    " FROM (SELECT m.id, m.id AS part FROM unnest(CAST({ids} AS uuid[])) AS m (id)"
    " UNION ALL SELECT p.merged_into, p.id FROM slowwave.memories p WHERE p.merged_into = ANY ({ids})) AS w"
    " JOIN slowwave.memory_uses u ON u.memory_id = w.part"
)
"""The uses `u` of the memories `w`, and of the memories merged into them."""
_COUNTS = (
    "SELECT w.id, count(DISTINCT u.session_id) FILTER (WHERE u.shown_at IS NOT NULL) AS shown,"
    " count(DISTINCT coalesce(u.session_id, 0)) FILTER (WHERE u.last_used_at IS NOT NULL) AS used,"
    f" max(u.last_used_at) AS last_used_at {OF_MEMORIES.format(ids='%(ids)s')} GROUP BY w.id"
)


class UseCounts(NamedTuple):
    """In how many conversations a context showed a memory, and a reply used it; the time of the last use."""

    shown: int = 0
    used: int = 0
    last_used_at: datetime | None = None


def count_uses(connection: Reads, memories: Sequence[UUID]) -> dict[UUID, UseCounts]:
    """Count the uses of these memories and of those merged into them; memories without a use are missing."""
    rows = read_rows(connection, _COUNTS, {"ids": list(memories)}) if memories else []
    return {row.pop("id"): UseCounts(**row) for row in rows}
