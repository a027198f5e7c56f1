"""Folders of session logs, and their removal: by a forget, or by age.

    ROOT/session.logs/TENANT/AGENT/SESSION.jsonl        names encoded as for memory files

No tenant's folder can have the name `session.logs`, because an encoded name contains no dot.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from slowwave_server.domain.memory_files import encode_name

log = logging.getLogger(__name__)

FOLDER = "session.logs"
SUFFIX = ".jsonl"
MAX_NAME_BYTES = 255


@dataclass(frozen=True, slots=True)
class CleanUp:
    """The result. files: the number of logs that were (or would be) removed; bytes: their size."""

    files: int
    bytes: int


def log_path(root: Path, tenant: str, agent: str, session: str) -> Path:
    """Return the path of the log of one session."""
    return _agent_folder(root, tenant, agent) / _file_name(session)


def remove_session_logs(root: Path, tenant: str, agent: str, session: str | None = None) -> int:
    """Remove the log of a session, or all of an agent's. Return the number of removed files. A missing log is not an
    error.

    The session's row must be deleted before, because a writer of logs locks that row.
    """
    folder = _agent_folder(root, tenant, agent)
    paths = [log_path(root, tenant, agent, session)] if session is not None else list(_logs_in(folder))
    removed = 0
    for path in paths:
        with suppress(FileNotFoundError):
            path.unlink()
            removed += 1
    _remove_empty(folder)
    return removed


def cleanup_session_logs_older_than(root: Path, days: int, *, now: datetime, dry_run: bool = False) -> CleanUp:
    """Remove the logs of all tenants whose last write was more than `days` days ago. dry_run: True to count
    them only.
    """
    until = (now - timedelta(days=days)).timestamp()
    files = size = 0
    for folder in _agent_folders(root.expanduser() / FOLDER):
        for path in list(_logs_in(folder)):
            gone = _remove_if_old(path, until, dry_run=dry_run)
            files += gone is not None
            size += gone or 0
        if not dry_run:
            _remove_empty(folder)
    return CleanUp(files, size)


def _remove_if_old(path: Path, until: float, *, dry_run: bool) -> int | None:
    """Remove an old file and return its size, or return None. The log is locked during the check, so no new line is
    lost.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("a log of a session can't be looked at: %s", error.strerror)
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = os.fstat(descriptor)
        if found.st_mtime > until:
            return None
        if not dry_run:
            path.unlink()
    except (BlockingIOError, FileNotFoundError):
        return None  # it is being written right now, or another process has removed it
    finally:
        os.close(descriptor)
    return found.st_size


def _agent_folder(root: Path, tenant: str, agent: str) -> Path:
    return root.expanduser() / FOLDER / encode_name(tenant) / encode_name(agent)


def _file_name(session: str) -> str:
    name = encode_name(session)
    if len(name) + len(SUFFIX) > MAX_NAME_BYTES:
        # Names in full contain no tilde, and no two names share a digest.
        digest = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: MAX_NAME_BYTES - len(SUFFIX) - len(digest) - 1]}~{digest}"
    return name + SUFFIX


def _agent_folders(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError):
        for tenant in sorted(folder.iterdir()):
            with suppress(NotADirectoryError):
                yield from sorted(path for path in tenant.iterdir() if path.is_dir())


def _logs_in(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError):
        yield from (path for path in folder.iterdir() if path.suffix == SUFFIX)


def _remove_empty(folder: Path) -> None:
    # Remove the agent's folder, then the tenant's; a foreign file in them prevents this.
    for path in (folder, folder.parent):
        with suppress(OSError):
            path.rmdir()
