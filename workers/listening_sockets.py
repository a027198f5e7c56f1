"""Shared parts of all HTTP servers: a socket, an address, shutdown by signals, and the check for TLS."""

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from slowwave.errors import InvalidSettings
from slowwave_server.workers.shared.proxies import read_proxies

if TYPE_CHECKING:
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


BACKLOG = 128
LARGEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Serving:
    """Where and how to serve. behind_proxy: addresses of a proxy with https; carries: the data that needs TLS."""

    host: str
    port: int
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: str | None = None
    carries: str = "passwords"

    @property
    def secure(self) -> bool:
        """True if browsers use https; cookies are then sent over https only."""
        return self.tls_cert is not None or self.behind_proxy is not None

    def url(self, port: int) -> str:
        """The URL, with the port that was assigned."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.tls_cert else ''}://{host}:{port}/"

    def config(self, app: Any, **more: Any) -> uvicorn.Config:
        """Return the configuration of uvicorn for an application. more: what this server needs besides."""
        return uvicorn.Config(
            app,
            http=DeadlineProtocol,
            log_level="warning",
            access_log=False,
            server_header=False,
            ssl_certfile=self.tls_cert,
            ssl_keyfile=self.tls_key,
            # If uvicorn trusted a whole chain of proxies, it would take the first entry, which a client can choose.
            proxy_headers=False,
            timeout_graceful_shutdown=10,
            **more,
        )

    def checked(self) -> "Serving":
        """Return a valid value. Raises InvalidSettings: passwords must not cross a network unencrypted."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidSettings("https needs both: --tls-cert and --tls-key")
        if self.behind_proxy is not None:
            read_proxies(self.behind_proxy)
        if not self.secure and not is_loopback(self.host):
            raise InvalidSettings(
                f"on {self.host} others could read {self.carries} on the network: give --tls-cert and --tls-key, or"
                " --behind-proxy with the address of a proxy that speaks https, or listen on 127.0.0.1"
            )
        return self


@contextmanager
def ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Handle signals before uvicorn does, and when it raises one again at its end: that is no failure."""

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def listen_on(host: str, port: int, backlog: int = BACKLOG) -> Iterator[socket.socket]:
    """Return a listening socket; port 0 takes any free port. Raises OSError.

    Data is sent at once (TCP_NODELAY), as asyncio does for its own sockets: otherwise a page's last part waits 40 ms
    for the browser's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=backlog) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listening


def address_of(listen: str) -> tuple[str, int]:
    """Parse `127.0.0.1:8321`, `[::1]:8321` or `localhost:8321` to host and port. Raises InvalidSettings."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > LARGEST_PORT:
        raise InvalidSettings(f"{listen!r:.80} is not an address to listen on, such as 127.0.0.1:8321")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
