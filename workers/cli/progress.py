"""Progress of long commands: a line on stderr after two seconds, then every five seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from slowwave_server.domain.spoken_time import duration_words
from slowwave_server.workers.cli.output import safe

FIRST_SECONDS = 2.0
EVERY_SECONDS = 5.0


@contextmanager
def progress(
    doing: str,
    how_far: Callable[[], str] = str,
    *,
    first: float = FIRST_SECONDS,
    every: float = EVERY_SECONDS,
    out: TextIO | None = None,
) -> Iterator[None]:
    """While the block runs, a thread prints lines such as "making vectors, 12 s: 3,200 memories have one".

    how_far: returns a count as text, read on its own connection; "" prints only the elapsed time.
    """
    over = threading.Event()
    stream = sys.stderr if out is None else out
    began = time.monotonic()

    def tell() -> None:
        from sqlalchemy.exc import DBAPIError

        wait = first
        while not over.wait(wait):
            wait, told = every, ""
            with suppress(DBAPIError):  # the command itself reports errors of Postgres
                told = how_far()
            line = f"{doing}, {duration_words(time.monotonic() - began)}" + (f": {told}" if told else "")
            if not over.is_set():
                stream.write(f"{safe(line)}\n")
                stream.flush()

    thread = threading.Thread(target=tell, name=f"progress of {doing}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
