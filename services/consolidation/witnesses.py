"""Count the witnesses of a memory: independent sources such as conversations, notes of agents, or files."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, text

WITNESSES = """
    SELECT count(*) FROM (
      SELECT x.session_id::text FROM slowwave.memory_sources x WHERE x.memory_id = m.id
      UNION SELECT coalesce(s.id::text, 'noted ' || coalesce(w.session, ''))
      FROM slowwave.memory_notes n JOIN slowwave.working_memory w ON w.id = n.working_id
      LEFT JOIN slowwave.sessions s ON s.agent_id = w.agent_id AND s.name = w.session WHERE n.memory_id = m.id
      UNION SELECT 'file ' || i.file FROM slowwave.memory_imports i WHERE i.memory_id = m.id) AS said
"""
"""The number of witnesses of a memory `m`, in SQL."""
_COUNT = text(f"SELECT m.id, ({WITNESSES}) AS witnesses FROM slowwave.memories m WHERE m.id = ANY(:ids)")


def count_witnesses(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, int]:
    """Count the witnesses of each of these memories."""
    return {row.id: row.witnesses for row in connection.execute(_COUNT, {"ids": list(ids)})} if ids else {}
