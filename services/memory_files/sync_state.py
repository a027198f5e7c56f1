"""The stored state of a scope's memory files: each file at its last write or read, and its lines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from slowwave_server.domain.hand_edits import KnownLine
from slowwave_server.models import FileLine, FileState
from slowwave_server.services.memory_files.disk import Stamp


@dataclass(frozen=True, slots=True)
class KnownFile:
    """The stored state of a file (models.files.FileState). path: its path below the scope's folder."""

    path: str
    digest: bytes
    size: int
    modified_ns: int
    writing: bytes | None
    held: str | None


def known_files(connection: Connection, scope_id: int) -> dict[str, KnownFile]:
    """Return all files of a scope that were ever written or read, by path."""
    query = select(
        FileState.path, FileState.digest, FileState.size, FileState.modified_ns, FileState.writing, FileState.held
    ).where(FileState.scope_id == scope_id)
    return {row["path"]: KnownFile(**row) for row in connection.execute(query).mappings()}


def known_lines(connection: Connection, scope_id: int, path: str) -> dict[UUID, KnownLine]:
    """Return the memories' lines in one file."""
    query = select(FileLine.memory_id, FileLine.digest, FileLine.revision)
    rows = connection.execute(query.where(FileLine.scope_id == scope_id, FileLine.path == path))
    return {row.memory_id: KnownLine(row.digest, row.revision) for row in rows}


def paths_of(connection: Connection, scope_id: int, memories: Iterable[UUID]) -> dict[UUID, set[str]]:
    """Return the files in which these memories have a line."""
    query = select(FileLine.memory_id, FileLine.path)
    found: dict[UUID, set[str]] = {}
    for row in connection.execute(query.where(FileLine.scope_id == scope_id, FileLine.memory_id.in_(list(memories)))):
        found.setdefault(row.memory_id, set()).add(row.path)
    return found


def note_writing(connection: Connection, scope_id: int, path: str, digest: bytes, now: datetime) -> None:
    """Store the digest of a file before the file is written."""
    new = {"digest": b"", "size": 0, "modified_ns": 0, "checked_at": now}
    _upsert(connection, scope_id, path, new, {"writing": digest})


def note_file(connection: Connection, scope_id: int, path: str, digest: bytes, stamp: Stamp, now: datetime) -> None:
    """Store the state of a complete file whose whole content is known."""
    seen = {"digest": digest, "size": stamp.size, "modified_ns": stamp.modified_ns, "checked_at": now}
    _upsert(connection, scope_id, path, {}, seen | {"writing": None, "held": None})


def note_lines(
    connection: Connection,
    scope_id: int,
    path: str,
    lines: Mapping[UUID, KnownLine],
    before: Mapping[UUID, KnownLine],
) -> None:
    """Store a file's lines; `before` are the lines stored until now."""
    mine = (FileLine.scope_id == scope_id, FileLine.path == path)
    gone = [memory for memory in before if memory not in lines]
    if gone:
        connection.execute(delete(FileLine).where(*mine, FileLine.memory_id.in_(gone)))
    changed = [
        {"scope_id": scope_id, "path": path, "memory_id": memory, "digest": line.digest, "revision": line.revision}
        for memory, line in lines.items()
        if before.get(memory) != line
    ]
    if changed:
        statement = insert(FileLine)
        columns = {"digest": statement.excluded.digest, "revision": statement.excluded.revision}
        keys = ["scope_id", "path", "memory_id"]
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=columns), changed)


def drop_file(connection: Connection, scope_id: int, path: str) -> None:
    """Delete the stored state of a missing file that needs no content."""
    connection.execute(delete(FileState).where(FileState.scope_id == scope_id, FileState.path == path))


def hold(connection: Connection, scope_id: int, path: str, why: str, stamp: Stamp, now: datetime) -> None:
    """Skip a file until it changes again or a person decides."""
    seen = {"size": stamp.size, "modified_ns": stamp.modified_ns, "checked_at": now, "held": why}
    _upsert(connection, scope_id, path, {"digest": b""}, seen)


def let_go(connection: Connection, scope_id: int) -> int:
    """Release the held files of a scope, so that they are checked again. Return their number."""
    held = (FileState.scope_id == scope_id, FileState.held.is_not(None))
    return connection.execute(update(FileState).where(*held).values(held=None, modified_ns=0)).rowcount


def _upsert(
    connection: Connection, scope_id: int, path: str, new: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    statement = insert(FileState).values(scope_id=scope_id, path=path, **new, **values)
    keys = ["scope_id", "path"]
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=dict(values)))
