"""Undo of edits of aliases: restore each pair as before the run, or change nothing (I6)."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, exists, insert, select, update

from slowwave_server.models import AliasChange, AliasPair, AliasSource, MaintenanceRun
from slowwave_server.services.memories.changes import Author
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.saved import delete_rows


def restore_aliases(connection: Connection, run_id: int, author: Author, now: datetime) -> int:
    """Revert a run's changes of aliases, the last change first. Return the number of restored pairs.

    A pair that the run added and that an event has said since then stays as a learned one. Raises CannotUndo if a later
    run changed one of the pairs.
    """
    query = select(AliasChange.__table__).where(AliasChange.run_id == run_id).order_by(AliasChange.id.desc())
    changes = connection.execute(query).all()
    for change in changes:
        _refuse_if_built_on(connection, run_id, change)
        _restore(connection, change, author.run_id)
        connection.execute(
            insert(AliasChange).values(
                alias_id=change.alias_id,
                scope_id=change.scope_id,
                run_id=author.run_id,
                action="undone",
                before=change.after,
                after=change.before,
                made_by=author.by,
                made_at=now,
            )
        )
    return len(changes)


def _refuse_if_built_on(connection: Connection, run_id: int, change: Row[Any]) -> None:
    later = connection.execute(
        select(AliasChange.run_id, AliasPair.name, AliasPair.alias)
        .join(MaintenanceRun, MaintenanceRun.id == AliasChange.run_id)
        .join(AliasPair, AliasPair.id == AliasChange.alias_id)
        .where(
            AliasChange.alias_id == change.alias_id,
            AliasChange.id > change.id,
            AliasChange.run_id != run_id,
            MaintenanceRun.kind != "undo",
            MaintenanceRun.status != "undone",
        )
        .order_by(AliasChange.id)
    ).first()
    if later is not None:
        raise CannotUndo(
            f"run {run_id} can't be undone: run {later.run_id} later changed the alias {later.alias!r} of"
            f" {later.name!r}; undo run {later.run_id} first"
        )


def _restore(connection: Connection, change: Row[Any], undo: int) -> None:
    if change.before is not None:
        moment = change.before["decided_at"]
        values = {**change.before, "decided_at": None if moment is None else datetime.fromisoformat(moment)}
        connection.execute(update(AliasPair).where(AliasPair.id == change.alias_id).values(**values))
        return
    said = exists().where(AliasSource.alias_id == AliasPair.id)
    made = AliasPair.id == change.alias_id
    learned = {"status": "learned", "decided_by": None, "decided_at": None}
    connection.execute(update(AliasPair).where(made, said).values(**learned))
    unsaid = "x.id = :pair AND NOT EXISTS (SELECT FROM slowwave.alias_sources s WHERE s.alias_id = x.id)"
    delete_rows(connection, undo, "aliases", unsaid, pair=change.alias_id)
