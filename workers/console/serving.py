"""Serving the console: a socket, uvicorn, and which addresses need TLS.

Must not know: any page.
"""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from slowwave.errors import InvalidSettings

BACKLOG = 128


@contextmanager
def listen_on(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; port 0: any that is free. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=BACKLOG) as listening:
        yield listening


def address_of(listen: str) -> tuple[str, int]:
    """`127.0.0.1:8321`, `[::1]:8321` or `localhost:8321` as host and port. Raises InvalidSettings."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:  # noqa: PLR2004 (the largest port)
        raise InvalidSettings(f"{listen!r:.80} is no address to listen on; 127.0.0.1:8321 is")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine gets there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
