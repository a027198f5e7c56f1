"""The base class of all parts of `Memory`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.http.backend import GatewayBackend
    from slowwave.postgres_backend import PostgresBackend


class BoundMemory:
    """Holds the backend that answers the calls of a memory: Postgres and Redis, or a gateway."""

    backend: "PostgresBackend | GatewayBackend"
