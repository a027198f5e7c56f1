"""The base class of all parts of the backend over HTTP."""

from slowwave.http.store import GatewayStore


class BoundGateway:
    """The connection to the gateway, with queue and spool."""

    gateway: GatewayStore
