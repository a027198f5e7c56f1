"""Send one request to one URL: limited in time and size, to a checked address, without redirects."""

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    """The result of a request. status: the receiver's status code, or None. error: why the request counts as failed."""

    status: int | None
    error: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether the receiver accepted the request."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests.

    seconds: the time limit of one whole request. allowed: networks that need not be public. tls: how certificates are
    checked.
    """

    seconds: float
    allowed: Sequence[Network] = ()
    resolve: Resolve = resolve
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Outcome:
        """POST a body. An error of the network or the receiver is not raised, but returned in the outcome."""
        held: list[socket.socket] = []
        # A socket's timeout restarts with every byte, so a very slow receiver would hold a worker for ever.
        clock = threading.Timer(self.seconds, _cut, (held,))
        clock.daemon = True
        clock.start()
        try:
            target = read_target(url, self.allowed)
            status = self._post(target, addresses_of(target, self.allowed, self.resolve), headers, body, held)
        except TargetRefused as error:
            return Outcome(None, str(error))
        except TimeoutError:
            return Outcome(None, f"no answer within {self.seconds:g} s")
        except ssl.SSLError as error:
            return Outcome(None, f"TLS failed: {error.reason or type(error).__name__}")
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            late = not clock.is_alive()
            return Outcome(None, f"no answer within {self.seconds:g} s" if late else _plain(error))
        finally:
            clock.cancel()
            _close(held)
        return Outcome(status, None if 200 <= status < 300 else f"the receiver answered {status}")  # noqa: PLR2004

    def _post(
        self,
        target: Target,
        addresses: Sequence[str],
        headers: Mapping[str, str],
        body: bytes,
        held: list[socket.socket],
    ) -> int:
        connection = http.client.HTTPConnection(target.host, target.port, timeout=self.seconds)
        connection.sock = self._connect(target, addresses, held)
        connection.putrequest("POST", target.path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": target.host_header, **headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.putheader("Connection", "close")
        connection.endheaders(body)
        with connection.getresponse() as response:
            response.read(MOST_READ)
            return response.status

    def _connect(self, target: Target, addresses: Sequence[str], held: list[socket.socket]) -> socket.socket:
        failure: OSError = OSError("no address")
        for address in addresses[:3]:
            try:
                plain = socket.create_connection((address, target.port), timeout=self.seconds)
            except OSError as error:
                failure = error
                continue
            held.append(plain)
            if not target.secure:
                return plain
            # The certificate must match the host name, whichever address is used.
            secured = self.tls.wrap_socket(plain, server_hostname=target.host, do_handshake_on_connect=False)
            held.append(secured)
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
    """Describe an error without the receiver's bytes, which can be anything."""
    if isinstance(error, socket.gaierror):
        return "the host's name can't be resolved"
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(error, OSError):
        return f"the connection failed: {error.strerror or type(error).__name__}"
    return f"the answer can't be read: {type(error).__name__}"
