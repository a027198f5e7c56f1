"""Finding and awaiting processes in tests: by a variable that all of them carry, and by conditions with a deadline."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Return when `condition` holds; fail after `seconds` with `what` was awaited."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def marked(mark: str) -> set[int]:
    """The living processes whose environment holds `mark` (NAME=value)."""
    found = set()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            # A zombie's environment reads as empty: it runs no more.
            if mark.encode() in environ.read_bytes().split(b"\0"):
                found.add(int(environ.parent.name))
    return found
