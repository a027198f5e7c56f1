"""One log: find, lock, repair after a crash, append.

A line is confirmed as soon as the database has stored its number; confirmed lines never change. The file itself is the
source of truth: complete lines count, and an incomplete last line is removed.
"""

import fcntl
import json
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slowwave.spool import sync_folder

_TRIES = 5


class Disk:
    """The single steps on a file, so that a test can make each one fail."""

    def cut(self, descriptor: int, size: int) -> None:
        """Truncate the file after its first `size` bytes."""
        os.ftruncate(descriptor, size)

    def append(self, descriptor: int, data: bytes) -> None:
        """Write all of `data` at the end. Raises OSError, possibly after a part was written."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def sync(self, descriptor: int, folder: Path) -> None:
        """Wait until the file, and its name in the folder, are synced to the disk."""
        os.fsync(descriptor)
        sync_folder(folder)


@contextmanager
def open_log(path: Path) -> Iterator[int]:
    """Open the log for the block, create it if it is missing, and lock it against other writers and removal."""
    descriptor = _open(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_TRIES):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            continue  # its folder was empty, and has just been removed
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was old, and was removed before this process locked it
    raise OSError(f"the log is removed again and again: {path.name}")


def mend(descriptor: int, confirmed: int, disk: Disk) -> int:
    """Remove an incomplete last line. Return the number of the log's last event, at least `confirmed`."""
    size = os.fstat(descriptor).st_size
    if not size:
        return confirmed
    with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ) as lines:
        whole = lines.rfind(b"\n") + 1
        end, seq = _last_readable(lines, whole)
    # Complete but unreadable lines were never confirmed, unless the confirmed lines before them were lost.
    keep = end if seq >= confirmed else whole
    if keep < size:
        disk.cut(descriptor, keep)
    return max(seq, confirmed)


def _last_readable(lines: mmap.mmap, whole: int) -> tuple[int, int]:
    """Return the end of the last readable line, and its number; (0, 0) if no line is readable."""
    end = whole
    while end:
        start = lines.rfind(b"\n", 0, end - 1) + 1
        seq = _number(lines[start : end - 1])
        if seq is not None:
            return end, seq
        end = start
    return 0, 0


def _number(line: bytes) -> int | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    seq = event.get("seq") if isinstance(event, dict) else None
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None
