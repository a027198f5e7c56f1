"""Forget files: folders of memory files of deleted scopes.

The functions hold the lock that every writer of these files takes, so a writer never writes data that it read before
the forget.
"""

import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine, text

from slowwave.settings import MemorySettings
from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.services.memory_files.delivery import FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.memory_files.locks import FilesBusy, file_lock

# A delivery that was running during the forget may have stored its state afterwards.
_NOTES = tuple(
    text(f"DELETE FROM slowwave.{table} WHERE scope_id = :scope") for table in ("memory_file_lines", "memory_files")
)


_SHOWN = text(
    "SELECT k.id FROM slowwave.scopes k WHERE k.id = ANY(:scopes) AND ("
    " EXISTS (SELECT FROM slowwave.memory_files f WHERE f.scope_id = k.id)"
    " OR EXISTS (SELECT FROM slowwave.outbox o WHERE o.scope_id = k.id AND o.backend = 'file'"
    "  AND o.delivered < o.changes))"
    # For these scopes, an interrupted forget is not complete yet. Look them up one by one: the planner can't know how
    # few they are, and would read all memories.
    " UNION SELECT o.scope_id FROM slowwave.outbox o WHERE o.backend = 'file' AND o.delivered < o.changes"
    " AND (SELECT m.id FROM slowwave.memories m WHERE m.id = o.memory_id) IS NULL"
    " AND (SELECT k.tenant FROM slowwave.scopes k WHERE k.id = o.scope_id) = :tenant ORDER BY 1"
)
# Include files that a delivery, which was running during the forget, has noted afterwards.
_LOOK_AGAIN = text("UPDATE slowwave.memory_files SET modified_ns = 0 WHERE scope_id = :scope AND path LIKE 'daily/%'")
MAX_DELIVERIES = 100
"""Each is bounded; so many are enough for any scope."""


def count_files(root: Path, tenant: str, scopes: Iterable[tuple[int, str, str]]) -> int:
    """Count the memory files, with those that people wrote, that a forget of these scopes deletes."""
    return sum(len(_files(_folder(root, tenant, kind, name))) for _, kind, name in scopes)


def remove_scope_files(engine: Engine, root: Path, tenant: str, scopes: Iterable[tuple[int, str, str]]) -> int:
    """Delete the folders of these scopes and return the number of files. Raises FilesBusy and OSError."""
    removed = 0
    for scope_id, kind, name in scopes:
        with file_lock(engine, scope_id):
            folder = _folder(root, tenant, kind, name)
            removed += len(_files(folder))
            if folder.is_dir():
                shutil.rmtree(folder)
            _remove_empty(folder.parent, root.expanduser())
            with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
                for statement in _NOTES:
                    connection.execute(statement, {"scope": scope_id})
    return removed


def scopes_with_files(engine: Engine, tenant: str, scopes: Iterable[tuple[int, str, str]]) -> list[int]:
    """Return the scopes (id, kind, name) with files, present or due, and others whose files show forgotten data."""
    with engine.connect() as connection:
        values = {"tenant": tenant, "scopes": [scope_id for scope_id, _, _ in scopes]}
        found = connection.execute(_SHOWN, values)
        return list(found.scalars())


def write_anew(engine: Engine, settings: MemorySettings, scopes: Iterable[int], now: datetime) -> list[str]:
    """Remove forgotten lines from files, but no edited ones. Return a sentence for each failure."""
    rules = FileRules(settings.files.root.expanduser(), settings.auto_flush.curation.append_only)
    problems = []
    for scope_id in scopes:
        try:
            with file_lock(engine, scope_id), engine.connect() as connection, connection.begin():
                connection.execute(_LOOK_AGAIN, {"scope": scope_id})
        except FilesBusy as busy:
            problems.append(f"memory files of scope {scope_id} still show it: {busy}")
            continue
        for _ in range(MAX_DELIVERIES):
            report = deliver(engine, scope_id, rules=rules, disk=Disk(), now=now)
            if not report.more:
                break
        if report.state in {"busy", "failed"}:
            problems.append(
                f"memory files of scope {scope_id} still show it: {report.error or 'another process is changing them'}"
            )
        problems.extend(f"{path} still shows it: {why}" for path, why in report.held.items())
    return problems


def _folder(root: Path, tenant: str, kind: str, name: str) -> Path:
    return root.expanduser() / scope_folder(tenant, kind, name)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()] if folder.is_dir() else []


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove empty folders up to the root."""
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
