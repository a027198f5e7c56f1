"""An HTTP protocol for uvicorn with a deadline for a request's headers; uvicorn itself has no such deadline.

A client that sends its headers byte by byte would keep a connection open without limit. Many such clients would block a
whole server.
"""

import asyncio
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    # uvicorn chooses its protocol at run time; both classes have the members that this module uses.
    from uvicorn.protocols.http.h11_impl import H11Protocol as AutoHTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class DeadlineProtocol(AutoHTTPProtocol):
    """uvicorn's protocol, which closes a connection if its headers are not complete in time.

    The timer starts when the connection opens; for a later request on the same connection, it starts with the first
    byte. Further bytes do not extend the deadline. uvicorn itself closes a connection that is idle between two
    requests.
    """

    header_seconds = HEADER_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Stop the timer if these bytes completed a request's headers; otherwise let the timer run, or start it."""
        super().data_received(data)
        if self._answers():
            self._stop()
        else:
            self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def _answers(self) -> bool:
        """Return whether a request has begun and its response is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def _await_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._expire)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if self._answers() or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # the client does not read responses either
            return
        self.transport.write(_TIMED_OUT)
        self.transport.close()
