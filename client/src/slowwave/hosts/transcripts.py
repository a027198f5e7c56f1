"""The file of a conversation, read from the last mark on, in bounded memory whatever the file holds.

Hosts append JSON, one object a line. A line that is longer than MAX_LINE_BYTES is left out; a last line without an end
is still being written, and is read the next time.
"""

import json
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

MAX_LINE_BYTES = 4_000_000
_CHUNK = 1 << 20


class Line(NamedTuple):
    """One line: its offset and the next line's. content: None if the line is too long or not an object."""

    begin: int
    end: int
    content: dict[str, Any] | None


class Mark(NamedTuple):
    """How far a file was read; number: what the system calls the file, to notice another one of the same name."""

    number: int
    offset: int


def new_lines(path: str, mark: Mark | None) -> Iterator[tuple[Line, Mark]]:
    """The lines behind the mark, each with the mark behind it. A new file of the same name is read from its beginning.

    Raises OSError, also if it is not a plain file.
    """
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
    # A pipe of that name would keep this process waiting for its other end.
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
