"""Check the target of a webhook: only public addresses, and networks that the settings allow, may receive requests.

A host name is resolved once, each of its addresses is checked, and the connection goes to a checked address. Between
check and connection, no name server is asked again.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

MAX_URL = 2000
_HTTPS, _HTTP = 443, 80
# Addresses of these networks contain an IPv4 address, which may be private.
_WRAPPING = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"), IPv6Network("::/96"))
# Versions of Python treat these differently: protocol assignments (used for cloud metadata) and documentation.
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))
_UNICAST = IPv6Network("2000::/3")
_HOST = re.compile(r"[A-Za-z0-9._:\-]{1,253}")
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Sequence[str]]


class TargetRefused(ValueError):
    """The server may send no request to this URL; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a URL. path: the path with its query."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        """The host in the form for a request's header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (_HTTPS if self.secure else _HTTP) else f"{host}:{self.port}"


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a name, in the order in which the system would try them. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def read_networks(text: str) -> tuple[Network, ...]:
    """Return the networks in the setting gateway.webhooks.allow_private."""
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())


def read_target(url: str, allowed: Sequence[Network]) -> Target:
    """Parse a URL, and check it as far as this is possible without a name server. Raises TargetRefused."""
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise TargetRefused(f"url must be at most {MAX_URL:,} printable characters of ASCII")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise TargetRefused(f"url can't be read: {error}") from None
    if parts.scheme not in {"https", "http"} or not _HOST.fullmatch(host) or "\\" in url:
        raise TargetRefused("url must begin with https:// and name a host, as 'https://example.com/hooks'")
    if parts.scheme == "http" and not allowed:
        raise TargetRefused("url must begin with https://; http:// is for networks in gateway.webhooks.allow_private")
    if parts.username is not None or parts.password is not None or parts.fragment or "#" in url:
        raise TargetRefused("url must hold no user name, no password and no fragment")
    secure = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = Target(secure, host, port if port is not None else _HTTPS if secure else _HTTP, path)
    if not 1 <= target.port <= 65_535:  # noqa: PLR2004 (the ports of TCP)
        raise TargetRefused("the port of url must be from 1 to 65535")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return target
    check_address(target, literal, allowed)
    return target


def addresses_of(target: Target, allowed: Sequence[Network], ask: Resolve = resolve) -> list[str]:
    """Resolve and check the host. Return all its addresses if each is allowed. Raises TargetRefused, OSError."""
    found = list(ask(target.host, target.port))
    for address in found:
        check_address(target, ipaddress.ip_address(address.partition("%")[0]), allowed)
    if not found:
        raise TargetRefused("the host has no address")
    return found


def check_address(target: Target, address: Address, allowed: Sequence[Network]) -> None:
    """Raise TargetRefused unless the address is public or in an allowed network."""
    inner = _inner(address)
    if any(one in network for one in (address, inner) for network in allowed if one.version == network.version):
        return
    if not _is_public(address) or not _is_public(inner):
        raise TargetRefused(
            f"{target.host} has the address {address}, which is not public: name its network in"
            " gateway.webhooks.allow_private to allow it"
        )
    if not target.secure:
        raise TargetRefused("url must begin with https:// for a public address")


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None or any(address in network for network in _WRAPPING):
            return True  # the caller also checks the IPv4 address in it
        if address not in _UNICAST:
            return False
    special = any(address in network for network in _SPECIAL if network.version == address.version)
    return address.is_global and not (special or address.is_multicast or address.is_reserved)


def _inner(address: Address) -> Address:
    """Return the IPv4 address inside an IPv6 address, if any, or else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _WRAPPING):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
