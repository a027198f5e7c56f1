"""Undo a rebuild: restore the sources and the ledger of flushes to the state before a switch."""

from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.services.rebuild.evidence import put_back

_FAMILY = text("SELECT m.id FROM slowwave.memories m WHERE m.merged_into = ANY(:ids)")
# A window that was rebuilt again later keeps the later result.
_LEDGER = text(
    "UPDATE slowwave.flushes f SET extractor = w.was ->> 'extractor', extractor_version = w.was ->> 'version',"
    " fallback = w.was ->> 'fallback', fallback_why = w.was ->> 'why', dropped = nullif(w.was -> 'dropped', 'null')"
    " FROM slowwave.rebuild_windows w JOIN slowwave.rebuilds r ON r.id = w.rebuild_id"
    " WHERE r.run_id = :run AND f.session_id = w.session_id AND f.from_seq = w.from_seq AND w.was IS NOT NULL"
    " AND (f.extractor, f.extractor_version) = (w.extractor, w.extractor_version)"
)
_DROP = text("DELETE FROM slowwave.rebuilds WHERE run_id = :run")


def unswitch(connection: Connection, run: int) -> set[UUID]:
    """Restore sources and ledger. Return the memories to score again, and the memories merged into them."""
    memories = put_back(connection, run)
    connection.execute(_LEDGER, {"run": run})
    connection.execute(_DROP, {"run": run})
    return memories | set(connection.execute(_FAMILY, {"ids": list(memories)}).scalars())
