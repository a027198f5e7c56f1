"""The gateway that all parts of the backend over HTTP share."""

from slowwave.http.store import GatewayStore


class BoundGateway:
    """The connection to the gateway, with queue and spool."""

    gateway: GatewayStore
