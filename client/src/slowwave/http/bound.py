"""The gateway that all parts of the backend over HTTP share.

Must not know: what the parts do.
"""

from slowwave.http.store import GatewayStore


class BoundGateway:
    """The connection to the gateway, with queue and spool."""

    gateway: GatewayStore
