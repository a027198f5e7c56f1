"""Read and replace files so that a reader never sees half a file, and an edit is never lost.

A file is replaced in one step. If the file changed after it was read, because an editor saved it in between, the step
is reverted and `FileChanged` is raised: the caller reads and decides again.
"""

import contextlib
import ctypes
import errno
import hashlib
import os
import re
import stat
import tempfile
import time
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import blake2b
from pathlib import Path

from slowwave.messages import YEARS
from slowwave.spool import sync_folder

TEMPORARY_PREFIX = ".slowwave-"
"""Files of this name in a folder of memory files are left-overs of a write that was cut off."""

MAX_FILE_BYTES = 32_000_000
"""Files of memories are read up to this size: about 200,000 lines."""

CURATED = "MEMORY.md"
DAILY = "daily"

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_THERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
_SETTLED_NS = 2_000_000_000
_DAY_FILE = re.compile(r"(\d{4}-\d\d-\d\d)\.md")
_NEW_MODE = 0o600
_NEW_FOLDER_MODE = 0o700


class FileChanged(Exception):
    """A file changed after it was read. Nothing was written."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file in the state in which it was read. digest: a digest of 16 bytes."""

    data: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class Stamp:
    """Metadata that shows whether a file has changed, without reading the file.

    modified_ns: 0 for a file that was changed just now, because a second change could have the same time.
    """

    size: int
    modified_ns: int


def digest_of(data: bytes) -> bytes:
    """Return a digest of 16 bytes."""
    return blake2b(data, digest_size=16).digest()


def day_of(name: str) -> date | None:
    """Return the local day in the name of a day's file, or None for any other file."""
    found = _DAY_FILE.fullmatch(name)
    try:
        day = None if found is None else date.fromisoformat(found[1])
    except ValueError:
        return None
    # No event has a date outside these years, and the last possible day is only for files without an end.
    return day if day is not None and YEARS[0] <= day.year <= YEARS[1] else None


def day_of_path(path: str) -> date | None:
    """Return the local day in a path below the scope's folder; None for `MEMORY.md`."""
    return day_of(path.removeprefix(f"{DAILY}/"))


def leads_out(root: Path, path: Path) -> bool:
    """Return True if a symbolic link in a path below `root` leads out of `root`."""
    try:
        return not path.resolve().is_relative_to(root.resolve())
    except RuntimeError:  # a loop of links
        return True


class Disk:
    """The file system. most_bytes: the size up to which files are read."""

    most_bytes = MAX_FILE_BYTES

    def stamp(self, path: Path) -> Stamp | None:
        """Return the stamp of a file, or None if it is missing."""
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        is_settled = time.time_ns() - found.st_mtime_ns > _SETTLED_NS
        return Stamp(found.st_size, found.st_mtime_ns if is_settled else 0)

    def modified_before(self, path: Path, moment: datetime) -> bool:
        """Return True if the last change of a file was before this time."""
        return path.stat().st_mtime < moment.timestamp()

    def paths(self, folder: Path) -> list[str]:
        """Return the memory files below a scope's folder: MEMORY.md, and the days' files."""
        found = [CURATED] if (folder / CURATED).is_file() else []
        daily = folder / DAILY
        names = (entry.name for entry in daily.iterdir()) if daily.is_dir() else ()
        return found + sorted(f"{DAILY}/{name}" for name in names if day_of(name) is not None)

    def read(self, path: Path) -> FileContent | None:
        """Read a file; None if it is missing. Raises OSError, also for a folder and for more than `most_bytes`."""
        try:
            data = _bytes_of(path, self.most_bytes)
        except FileNotFoundError:
            return None
        return FileContent(data, digest_of(data))

    def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        """Replace a file whose digest was `expected`, or create it (None). It keeps its mode.

        Raises FileChanged, and OSError (no space, no permission); the file is then unchanged.
        """
        path = path.resolve() if path.is_symlink() else path
        path.parent.mkdir(mode=_NEW_FOLDER_MODE, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
        new = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), _mode_of(path))
                os.fsync(file.fileno())
            if expected is None:
                _make(new, path)
            else:
                _replace(new, path, expected)
        finally:
            with contextlib.suppress(FileNotFoundError):
                new.unlink()
        sync_folder(path.parent)

    def sweep(self, folder: Path) -> None:
        """Delete temporary files of interrupted writes. The caller is the only writer of the folder."""
        for written_to in (folder, folder / DAILY):
            if written_to.is_dir():
                for left in written_to.glob(f"{TEMPORARY_PREFIX}*"):
                    left.unlink(missing_ok=True)


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)


def too_large(size: int, most: int) -> str:
    """Return the reason why a file is not read."""
    return f"it has {size:,} bytes, and memory files are read up to {most:,}"


def _bytes_of(path: Path, most: int) -> bytes:
    # Opening a named pipe would wait for ever for its other end.
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "this is not a file", str(path))
        data = file.read(most + 1)
        if len(data) > most:
            raise OSError(errno.EFBIG, too_large(os.fstat(file.fileno()).st_size, most), str(path))
        return data


def _digest_at(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: blake2b(digest_size=16)).digest()


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return _NEW_MODE


def _make(new: Path, path: Path) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        raise FileChanged(path.name) from None


def _replace(new: Path, path: Path, expected: bytes) -> None:
    """Swap the two files, then check the old one, because an editor could save between a check and a rename."""
    if not path.exists() or _digest_at(path) != expected:
        raise FileChanged(path.name)
    if not _exchange(new, path):
        new.replace(path)
        return
    if _digest_at(new) != expected:
        ours = _digest_at(path)
        _exchange(new, path)
        if _digest_at(new) != ours:
            # The file was saved again between these two steps: keep both.
            new.rename(path.with_name(f"{path.name}.saved-{new.name.removeprefix(TEMPORARY_PREFIX)}"))
        raise FileChanged(path.name)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two files in one step. Return False if this system can't."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_THERE:
        return False
    if number == errno.ENOENT:
        raise FileChanged(other.name)
    raise OSError(number, os.strerror(number), str(other))
