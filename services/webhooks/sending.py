"""Send requests to one URL: limited in time and size, to a checked address, without redirects."""

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

from slowwave_server.services.webhooks.targets import (
    Network,
    Resolve,
    Target,
    TargetRefused,
    addresses_of,
    read_target,
    resolve,
)

MOST_READ = 65_536
"""The largest number of bytes that are read from a receiver's answer. The content is discarded."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a request: the receiver's status code, or None; the reason of a failure."""

    status: int | None
    error: str | None = None

    @property
    def accepted(self) -> bool:
        """Return True if the receiver accepted the request."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests, each within this time. allowed: networks that need not be public."""

    seconds: float
    allowed: Sequence[Network] = ()
    resolve: Resolve = resolve
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Outcome:
        """POST a body over a connection of its own. Failures are returned, not raised."""
        with closing(Line(self, url)) as line:
            return line.send(headers, body)


class Line:
    """A connection to the receiver of one URL, open between messages, for one thread at a time."""

    def __init__(self, sender: Sender, url: str) -> None:
        self._sender = sender
        self._url = url
        self._held: list[socket.socket] = []
        self._open: http.client.HTTPConnection | None = None

    def send(self, headers: Mapping[str, str], body: bytes) -> Outcome:
        """POST a body. Errors of the network or the receiver are not raised; the outcome contains them."""
        seconds = self._sender.seconds
        # A socket's timeout restarts with every byte, so a very slow receiver would hold a worker for ever.
        clock = threading.Timer(seconds, _cut, (self._held,))
        clock.daemon = True
        clock.start()
        try:
            status = self._post(headers, body, clock)
        except TargetRefused as error:
            return self._failed(str(error))
        except TimeoutError:
            return self._failed(f"no answer within {seconds:g} s")
        except ssl.SSLError as error:
            return self._failed(f"TLS failed: {error.reason or type(error).__name__}")
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            return self._failed(_plain(error) if clock.is_alive() else f"no answer within {seconds:g} s")
        finally:
            clock.cancel()
        return Outcome(status, None if 200 <= status < 300 else f"the receiver answered {status}")  # noqa: PLR2004

    def close(self) -> None:
        """Close the connection; the next message opens another."""
        self._open = None
        _close(self._held)
        self._held.clear()

    def _failed(self, why: str) -> Outcome:
        self.close()
        return Outcome(None, why)

    def _post(self, headers: Mapping[str, str], body: bytes, clock: threading.Timer) -> int:
        kept = self._open is not None
        try:
            return self._exchange(headers, body)
        except ConnectionError:
            if not kept or not clock.is_alive():
                raise
            self.close()  # a receiver may close a connection between two messages
            return self._exchange(headers, body)

    def _exchange(self, headers: Mapping[str, str], body: bytes) -> int:
        target = read_target(self._url, self._sender.allowed)
        connection = self._open = self._open or self._connection(target)
        connection.putrequest("POST", target.path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": target.host_header, **headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        with connection.getresponse() as response:
            response.read(MOST_READ)
            if response.will_close or not response.isclosed():
                self.close()
            return response.status

    def _connection(self, target: Target) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(target.host, target.port, timeout=self._sender.seconds)
        connection.auto_open = 0  # it would connect to an address that nothing has checked
        connection.sock = self._connect(target)
        return connection

    def _connect(self, target: Target) -> socket.socket:
        sender = self._sender
        failure: OSError = OSError("no address")
        for address in addresses_of(target, sender.allowed, sender.resolve)[:3]:
            try:
                plain = socket.create_connection((address, target.port), timeout=sender.seconds)
            except OSError as error:
                failure = error
                continue
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._held.append(plain)
            if not target.secure:
                return plain
            # The certificate must match the host name, whichever address is used.
            secured = sender.tls.wrap_socket(plain, server_hostname=target.host, do_handshake_on_connect=False)
            self._held.append(secured)
            secured.do_handshake()
            return secured
        raise failure


def _cut(held: list[socket.socket]) -> None:
    for one in list(held):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def _close(held: list[socket.socket]) -> None:
    for one in held:
        with suppress(OSError):
            one.close()


def _plain(error: Exception) -> str:
    """Describe an error without the receiver's bytes, which may have any content."""
    if isinstance(error, socket.gaierror):
        return "the host's name can't be resolved"
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(error, OSError):
        return f"the connection failed: {error.strerror or type(error).__name__}"
    return f"the answer can't be read: {type(error).__name__}"
