"""Read the file of a conversation from the last mark on, in bounded memory.

Hosts append JSON, one object per line. Lines longer than MAX_LINE_BYTES are skipped. A last line without a line end is
still being written, and is read the next time.
"""

import json
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

MAX_LINE_BYTES = 4_000_000
_CHUNK = 1 << 20


class Line(NamedTuple):
    """A line: its offset and the next line's. content: None if the line is too long or not a JSON object."""

    begin: int
    end: int
    content: dict[str, Any] | None


class Mark(NamedTuple):
    """The position up to which a file was read. number: the file's inode, to detect another file of the same name."""

    number: int
    offset: int


def new_lines(path: str, mark: Mark | None) -> Iterator[tuple[Line, Mark]]:
    """Yield the lines behind the mark, each with its next mark; a new file from its start. Raises OSError."""
    with _opened(path) as file:
        found = os.fstat(file.fileno())
        known = mark is not None and mark.number == found.st_ino and mark.offset <= found.st_size
        at = mark.offset if mark is not None and known else 0
        file.seek(at)
        while raw := file.readline(MAX_LINE_BYTES + 1):
            begin, at = at, at + len(raw)
            whole = raw.endswith(b"\n")
            while not raw.endswith(b"\n"):
                if not (raw := file.readline(_CHUNK)):
                    return
                at += len(raw)
            yield Line(begin, at, _object(raw) if whole else None), Mark(found.st_ino, at)


def _opened(path: str) -> BinaryIO:
    # A named pipe would block this process until another process opened it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a plain file")
    return os.fdopen(descriptor, "rb", buffering=_CHUNK)


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
