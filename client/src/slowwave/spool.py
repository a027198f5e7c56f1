"""The spool: entries on the local disk while Postgres can't be reached. They are appended, synced, delivered in order,
removed.

A segment is a file of JSON lines, one entry for each line, which one process locks. A process that can lock a segment
knows that its owner has ended, and delivers it. Entries carry idempotency keys, so a second delivery is harmless.

    DATABASE-ORDER-PID-RANDOM-LOGIN.jsonl            a segment
    DATABASE-ORDER-PID-RANDOM-LOGIN.jsonl.rejected   its entries that Postgres rejects permanently, with the reasons

DATABASE and LOGIN are digests that separate databases and logins. A process delivers only entries of its own login,
because another login may have other rights. Segments of versions without LOGIN are delivered by any process.
"""

import contextlib
import fcntl
import json
import os
import stat
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from psycopg.conninfo import conninfo_to_dict

from slowwave.capture import Entry, encode
from slowwave.errors import SpoolFull

MAX_SEGMENT_BYTES = 8_000_000
_PARTS_BEFORE_LOGINS = 4


class Spooled(NamedTuple):
    """The content of a spool folder: segments with entries, their size in bytes, and rejected files."""

    files: int
    size_bytes: int
    rejected_files: int


class Segment:
    """One file, locked by this process. Only one thread may use it at a time."""

    def __init__(self, path: Path, descriptor: int, order: int) -> None:
        self.path = path
        self.order = order
        self.size = os.fstat(descriptor).st_size
        self._descriptor = descriptor

    def append(self, data: bytes) -> None:
        """Write and sync an entry; a failed write leaves the file unchanged. Raises OSError."""
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self.size)
            raise
        self.size += len(data)

    def read(self) -> tuple[list[Entry], list[dict[str, str]]]:
        """Return the entries in order, and unreadable lines in the form of rejected entries.

        If the last line has no line end, the process died while writing it, and its caller got no confirmation.
        """
        entries, unreadable = [], []
        # Write through the descriptor: if another process removes the file now, no entry is lost.
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            lines = file.read().split(b"\n")[:-1]
        for line in lines:
            try:
                entries.append(self._dated(_entry_of(line)))
            except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
                unreadable.append({"error": f"can't be read: {error}", "line": line.decode(errors="replace")})
        return entries, unreadable

    def _dated(self, entry: Entry) -> Entry:
        """Set the time of acceptance of entries from an older version: the time of speech, or the segment's start."""
        # An invented file name may contain any year.
        begun = datetime.fromtimestamp(min(self.order, time.time_ns()) / 1e9, UTC)
        for event in entry.events:
            if "taken" not in event:
                said = datetime.fromisoformat(event.get("at", begun.isoformat()))
                event["taken"] = max(begun, said).isoformat()
        return entry

    def finish(self, rejected: Sequence[dict[str, Any]]) -> None:
        """Remove the file. First write the rejected entries to the file beside it, atomically. Raises OSError."""
        if rejected:
            replace_file(self.path.with_name(f"{self.path.name}.rejected"), b"".join(map(_line, rejected)))
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file and release its lock. In a forked child the lock stays with the parent."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


class Spool:
    """The segments of this process for one database. Threads may share one object.

    names: digests of a gateway's URL and key, if entries go to a gateway; None: digests of a database's address and
    user.
    """

    def __init__(self, folder: Path, database_url: str, *, names: tuple[str, str] | None = None) -> None:
        self.folder = folder.expanduser()
        self._database, self._login = names or (database_digest(database_url), login_digest(database_url))
        self._lock = threading.Lock()
        self._segments: list[Segment] = []
        self._active: Segment | None = None

    @property
    def pending(self) -> bool:
        """Return True if entries of this process or adopted ones wait; later entries must go behind them."""
        return bool(self._segments)

    def append(self, entries: Sequence[Entry], *, front: bool = False) -> None:
        """Store entries behind or in front of all others, on the disk at the return. SpoolFull: none was stored."""
        data = b"".join(_line(entry.to_json()) for entry in entries)
        with self._lock:
            try:
                if front and self._segments:
                    segment = self._create(self._segments[0].order - 1)
                    self._segments.insert(0, segment)
                else:
                    segment = self._active = self._active or self._started()
                segment.append(data)
            except OSError as error:
                self._forget_empty()
                raise SpoolFull(f"the spool in {self.folder} can't be written: {error}") from error
            if self._active is not None and self._active.size > MAX_SEGMENT_BYTES:
                self._active = None

    def reject(self, rejected: Sequence[dict[str, Any]]) -> None:
        """Store entries that Postgres rejects permanently and that were never in a segment. Raises SpoolFull."""
        name = f"{self._name(time.time_ns())}.rejected"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self.folder / name, b"".join(map(_line, rejected)))
        except OSError as error:
            raise SpoolFull(f"the spool in {self.folder} can't be written: {error}") from error

    def oldest(self) -> Segment | None:
        """Return the segment to deliver next, to which no further entry is appended; None if no entry waits."""
        with self._lock:
            if not self._segments:
                return None
            if self._segments[0] is self._active:
                self._active = None
            return self._segments[0]

    def finish(self, segment: Segment, rejected: Sequence[dict[str, Any]]) -> None:
        """Remove a delivered segment. Raises OSError."""
        segment.finish(rejected)
        with self._lock:
            self._segments.remove(segment)

    def adopt(self) -> bool:
        """Take over the segments of ended processes with the same login. Return False if there were none."""
        found = False
        with self._lock:
            ours = {segment.path for segment in self._segments}
            for path in sorted(self.folder.glob(f"{self._database}-*.jsonl")):
                if path not in ours and self._is_ours(path) and (segment := hold_segment(path)) is not None:
                    self._segments.append(segment)
                    found = True
            # Oldest first; the segment that is still being written keeps its position.
            self._segments.sort(key=lambda segment: segment.order)
        return found

    def close(self) -> None:
        """Release all segments; the next process delivers them."""
        with self._lock:
            segments, self._segments, self._active = self._segments, [], None
        for segment in segments:
            segment.close()

    def abandon(self) -> None:
        """In a forked child: close the files. Locks and entries stay with the parent."""
        for segment in self._segments:
            segment.close()

    def _started(self) -> Segment:
        newest = self._segments[-1].order if self._segments else 0
        segment = self._create(max(time.time_ns(), newest + 1))
        self._segments.append(segment)
        return segment

    def _create(self, order: int) -> Segment:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = self._name(order)
        path, hidden = self.folder / name, self.folder / f".{name}"
        descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        # Lock the file before it gets its name, so that no other process takes it for an abandoned one.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        hidden.rename(path)
        sync_folder(self.folder)
        return Segment(path, descriptor, order)

    def _name(self, order: int) -> str:
        return f"{self._database}-{order:020d}-{os.getpid()}-{os.urandom(4).hex()}-{self._login}.jsonl"

    def _is_ours(self, path: Path) -> bool:
        parts = path.stem.split("-")
        return len(parts) == _PARTS_BEFORE_LOGINS or parts[-1] == self._login

    def _forget_empty(self) -> None:
        for segment in [segment for segment in self._segments if segment.size == 0]:
            self._segments.remove(segment)
            self._active = None if segment is self._active else self._active
            with contextlib.suppress(OSError):
                segment.finish(())


def spooled(folder: Path) -> Spooled:
    """Measure a spool folder, including the files of other processes."""
    folder = folder.expanduser()
    sizes = []
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    sizes = [size for size in sizes if size]
    return Spooled(len(sizes), sum(sizes), len(list(folder.glob("*.jsonl.rejected"))))


def hold_segment(path: Path) -> Segment | None:
    """Lock a segment. Return None if another process holds it or has delivered it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    except OSError:
        return None  # deleted, a folder, or a file without permission
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have delivered and removed it between opening and locking.
        found = os.fstat(descriptor)
        if found.st_nlink and stat.S_ISREG(found.st_mode):
            return Segment(path, descriptor, int(path.name.split("-")[1]))
    except (BlockingIOError, ValueError, IndexError):
        pass
    os.close(descriptor)
    return None


def database_digest(database_url: str) -> str:
    """Return a digest of a database's address, without the password, which may change while entries wait."""
    parts = conninfo_to_dict(database_url)
    place = [str(parts.get(key) or "") for key in ("host", "hostaddr", "port", "dbname")]
    return blake2b("\0".join(place).encode(), digest_size=6).hexdigest()


def login_digest(database_url: str) -> str:
    """Return a digest of the login in a database URL."""
    return blake2b(str(conninfo_to_dict(database_url).get("user") or "").encode(), digest_size=4).hexdigest()


def _entry_of(line: bytes) -> Entry:
    """Parse a line written by this version. Raises ValueError and similar errors for any other line."""
    entry = Entry(**json.loads(line))
    texts = [entry.tenant, entry.agent, entry.session, entry.trigger or "", *(entry.about or {}).values()]
    texts += [event[name] for event in entry.events for name in ("key", "kind", "content")]
    if not all(isinstance(text, str) for text in texts) or not all(type(e["step"]) is int for e in entry.events):
        raise ValueError("a field is of another type")
    encode(entry.to_json())  # an entry that can't be written as JSON again can't be rejected either
    return entry


def _line(value: Any) -> bytes:
    return encode(value) + b"\n"


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically: a reader sees the whole new file or the previous state. Raises OSError."""
    hidden = path.with_name(f".{path.name}")
    with os.fdopen(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    hidden.rename(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are synced to the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
