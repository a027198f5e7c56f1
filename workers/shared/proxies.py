"""Find the client address of a request behind a trusted proxy: the address that the proxy itself recorded.

Only the last entry of `X-Forwarded-For` counts, because the trusted proxy added it. The client sent all earlier
entries. So no client can choose the address by which failed logins are counted.
"""

import ipaddress
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from slowwave.errors import InvalidSettings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
HEADER = b"x-forwarded-for"


def read_proxies(given: str) -> tuple[Network, ...]:
    """Parse comma-separated addresses and networks. Raises InvalidSettings, also for a network of all addresses."""
    return tuple(_read(one.strip()) for one in given.split(","))


def _read(one: str) -> Network:
    try:
        network = ipaddress.ip_network(one, strict=False)
    except ValueError:
        network = None
    if network is None or network.prefixlen == 0:
        raise InvalidSettings(
            "--behind-proxy must name the proxy by its address or network, such as 192.0.2.1 or 172.16.0.0/12, got"
            f" {one!r:.60}: whoever may say for whom it asks goes round the limit of failed logins"
        )
    return network


class BehindProxies:
    """Gives the application the client address that a proxy of these networks sent, but no other peer."""

    def __init__(self, app: ASGIApp, networks: Sequence[Network]) -> None:
        self._app = app
        self._networks = networks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = scope.get("client")
        if scope["type"] == "http" and peer is not None and self._is_proxy(peer[0]):
            named = [value for name, value in scope["headers"] if name == HEADER]
            if named and (client := _address(named[-1].decode("latin-1").rpartition(",")[2])) is not None:
                scope = {**scope, "client": (client, 0)}
        await self._app(scope, receive, send)

    def _is_proxy(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and any(ipaddress.ip_address(address) in network for network in self._networks)


def _address(word: str) -> str | None:
    """Parse `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711` or `::ffff:192.0.2.1`; None without an address."""
    word = word.strip()
    if word.startswith("["):
        word = word[1:].partition("]")[0]
    elif word.count(":") == 1:
        word = word.partition(":")[0]
    try:
        address = ipaddress.ip_address(word.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
