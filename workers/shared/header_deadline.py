"""HTTP for uvicorn with a deadline for a request's headers: uvicorn waits for them without limit.

A client that sends its headers byte by byte would hold a connection, and with many of them a whole server, for good.

Must not know: routes, whose server it is.
"""

import asyncio
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    # uvicorn chooses its protocol at run time; both have the members that are used here.
    from uvicorn.protocols.http.h11_impl import H11Protocol as AutoHTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class DeadlineProtocol(AutoHTTPProtocol):
    """uvicorn's protocol, which closes a connection whose headers are not complete in time.

    The time begins when the connection opens, and for a later request on the same connection with its first byte. No
    byte extends it. uvicorn itself closes a connection that stays silent between two requests.
    """

    header_seconds = HEADER_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Stop the time if a request began with these bytes; else it goes on, or starts."""
        super().data_received(data)
        if self._answers():
            self._stop()
        else:
            self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop()
        super().connection_lost(exc)

    def _answers(self) -> bool:
        """Whether a request has begun that is not answered yet."""
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
            self.transport.abort()  # the client does not read either
            return
        self.transport.write(_TIMED_OUT)
        self.transport.close()


def protocol_within(seconds: float) -> type[DeadlineProtocol]:
    """The protocol with another deadline."""
    return type("DeadlineProtocol", (DeadlineProtocol,), {"header_seconds": seconds})
