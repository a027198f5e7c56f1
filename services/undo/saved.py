"""Save the rows that an undo deletes or overwrites, so that an undo of the undo restores them exactly."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from slowwave_server.services.undo.checks import CannotUndo

_OF_MEMORY = "(SELECT m.scope_id FROM slowwave.memories m WHERE m.id = x.{})"
_SCOPE = {
    "memory_links": _OF_MEMORY.format("source_id"),
    "memory_notes": _OF_MEMORY.format("memory_id"),
    "memory_imports": _OF_MEMORY.format("memory_id"),
    "memory_sources": _OF_MEMORY.format("memory_id"),
    "memories": "x.scope_id",
    "memory_blocks": "x.scope_id",
    "memory_conflicts": "x.scope_id",
    "review_items": "x.scope_id",
    "triples": "x.scope_id",
    "working_memory": "x.scope_id",
    "aliases": "x.scope_id",
    "days": "x.scope_id",
    "day_summaries": "x.scope_id",
}
"""The scope of a row `x` of each table, in SQL."""
_CHANGED = {
    "memory_links": (("ended_by",), "x.ended_by IS NULL"),
    "working_memory": (("outcome", "settled_at", "error", "run_id"), "x.outcome IS NULL"),
    "memories": (("superseded_by",), "x.superseded_by IS NULL"),
}
"""For each table the columns that an undo overwrites, and the value that it writes, in SQL."""
_INSERTED = (
    "memories", "aliases", "days", "day_summaries", "memory_conflicts", "review_items", "memory_links", "triples",
    "memory_blocks", "memory_sources", "memory_notes", "memory_imports",
)  # fmt: skip
"""The order of the foreign keys."""
_COUNT = text("SELECT count(*) FROM slowwave.undone_rows WHERE run_id = :undo")
_OF_TABLE = text(
    "SELECT count(*) FROM slowwave.undone_rows WHERE run_id = :undo AND table_name = :table AND changed = :changed"
)
_RESTED = text(
    "SELECT DISTINCT CAST(row ->> 'memory_id' AS uuid) FROM slowwave.undone_rows"
    " WHERE run_id = :undo AND table_name IN ('memory_notes', 'memory_imports')"
)


def delete_rows(connection: Connection, undo: int, table: str, where: str, **values: Any) -> Sequence[dict[str, Any]]:
    """Delete the rows `x` of a table and save them for run `undo`. Return them."""
    statement = text(
        f"WITH x AS (DELETE FROM slowwave.{table} AS x WHERE {where} RETURNING x.*)"
        " INSERT INTO slowwave.undone_rows (run_id, scope_id, table_name, changed, row)"
        f" SELECT :undo, {_SCOPE[table]}, '{table}', false, to_jsonb(x) FROM x RETURNING row"
    )
    return connection.execute(statement, {"undo": undo, **values}).scalars().all()


def clear_columns(connection: Connection, undo: int, table: str, where: str, **values: Any) -> int:
    """Set the columns that an undo overwrites to NULL and save their former values. Return the number of rows."""
    columns = _CHANGED[table][0]
    saved = ", ".join(f"'{name}', x.{name}" for name in ("id", *columns))
    statement = text(
        "INSERT INTO slowwave.undone_rows (run_id, scope_id, table_name, changed, row)"
        f" SELECT :undo, {_SCOPE[table]}, '{table}', true, jsonb_build_object({saved})"
        f" FROM slowwave.{table} AS x WHERE {where}"
    )
    connection.execute(statement, {"undo": undo, **values})
    cleared = ", ".join(f"{name} = NULL" for name in columns)
    return connection.execute(text(f"UPDATE slowwave.{table} AS x SET {cleared} WHERE {where}"), values).rowcount


def count_saved(connection: Connection, undo: int) -> int:
    """Count the rows that an undo saved."""
    return int(connection.execute(_COUNT, {"undo": undo}).scalar_one())


def rested_on(connection: Connection, undo: int) -> set[Any]:
    """Return the memories whose notes and imported lines an undo deleted."""
    return set(connection.execute(_RESTED, {"undo": undo}).scalars())


def restore_rows(connection: Connection, undo: int) -> Mapping[str, int]:
    """Write back all rows that an undo saved. Return their number for each table. Raises CannotUndo."""
    restored = {}
    # Delete the links that the undone run had ended, before those that it had made are restored.
    _overwrite(connection, undo, "memory_links")
    for table in _INSERTED:
        restored[table] = _insert(connection, undo, table)
    restored["working_memory"] = _overwrite(connection, undo, "working_memory")
    _overwrite(connection, undo, "memories")
    return restored


def _insert(connection: Connection, undo: int, table: str) -> int:
    values = {"undo": undo, "table": table}
    if not connection.execute(_OF_TABLE, {**values, "changed": False}).scalar_one():
        return 0
    statement = text(
        f"INSERT INTO slowwave.{table} OVERRIDING SYSTEM VALUE SELECT r.* FROM slowwave.undone_rows u"
        f" CROSS JOIN LATERAL jsonb_populate_record(CAST(NULL AS slowwave.{table}), u.row) AS r"
        " WHERE u.run_id = :undo AND u.table_name = :table AND NOT u.changed"
    )
    try:
        return connection.execute(statement, values).rowcount
    except IntegrityError as error:
        if getattr(getattr(error.orig, "diag", None), "constraint_name", None) == "memories_live_content_idx":
            raise CannotUndo(
                f"run {undo} can't be undone: a memory that it removed was said again since, and is a memory of its own"
            ) from None
        raise


def _overwrite(connection: Connection, undo: int, table: str) -> int:
    columns, left = _CHANGED[table]
    values = {"undo": undo, "table": table}
    expected = connection.execute(_OF_TABLE, {**values, "changed": True}).scalar_one()
    if not expected:
        return 0
    assigned = ", ".join(f"{name} = r.{name}" for name in columns)
    statement = text(
        f"UPDATE slowwave.{table} AS x SET {assigned} FROM slowwave.undone_rows u CROSS JOIN LATERAL"
        f" jsonb_populate_record(CAST(NULL AS slowwave.{table}), u.row) AS r"
        f" WHERE u.run_id = :undo AND u.table_name = :table AND u.changed AND x.id = r.id AND {left}"
    )
    found = connection.execute(statement, values).rowcount
    if found != expected:
        raise CannotUndo(
            f"run {undo} can't be undone: {expected - found} of {expected} rows of {table} that it changed were changed"
            " again or deleted since"
        )
    return found
