"""A time limit for a whole answer, because the client's time-outs limit each read of a connection, not their sum.

after(seconds) ──▶ the request ──▶ headers arrive: watch ──▶ the answer, or its connection is closed at the time limit
"""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer, local

import httpx2


class _Call(local):
    """For each thread, the deadline of its running call, and the timer thread that ends the call at the deadline."""

    ends: float | None = None
    timers: tuple[Timer, ...] = ()


class HangUp:
    """Closes connections of calls that exceed their time limit. Threads may share one object."""

    def __init__(self) -> None:
        self._call = _Call()

    @contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        """End all reads of this thread within the block `seconds` from now."""
        self._call.ends = time.monotonic() + seconds
        try:
            yield
        finally:
            for timer in self._call.timers:
                timer.cancel()
            self._call.ends, self._call.timers = None, ()

    def watch(self, response: httpx2.Response) -> None:
        """A hook of the client, called when an answer begins."""
        stream = response.extensions.get("network_stream")
        connection = None if stream is None else stream.get_extra_info("socket")
        if self._call.ends is None or connection is None:
            return
        timer = Timer(max(self._call.ends - time.monotonic(), 0), _shut, (connection,))
        timer.daemon = True
        self._call.timers += (timer,)
        timer.start()


def _shut(connection: socket.socket) -> None:
    # Shut down, not closed: close would wake no reader, and another file could get the same descriptor.
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
