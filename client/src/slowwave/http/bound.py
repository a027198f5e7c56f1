"""What the parts of the memory over HTTP share.

Must not know: what the parts do.
"""

from slowwave.http.store import GatewayStore


class BoundGateway:
    """The gateway, and what waits for it."""

    gateway: GatewayStore
