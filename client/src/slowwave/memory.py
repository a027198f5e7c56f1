"""`Memory`: records the messages that an agent's host passes, and reads what the agent knows."""

from typing import TYPE_CHECKING, Any, Self

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name
from slowwave.memory_curation import CuratingMemory
from slowwave.memory_notes import NotingMemory
from slowwave.memory_reads import ReadingMemory
from slowwave.memory_recording import RecordingMemory
from slowwave.postgres_backend import PostgresBackend
from slowwave.receipts import Status
from slowwave.settings import Settings, load_settings
from slowwave.store import Mode, Store

if TYPE_CHECKING:
    from slowwave.http.backend import GatewayBackend


class Memory(RecordingMemory, NotingMemory, ReadingMemory, CuratingMemory):
    """The memory of one tenant's agents.

    Threads may share one object, and a forked child may continue to use it. `with Memory.from_env() as memory:` closes
    it.

    Args:
        settings: see `load_settings`.
        mode: "durable": a recording call returns after the commit. "background": it returns at once, and a thread
            commits in batches. The interpreter commits the queue when it exits; a `multiprocessing` child must call
            `close` itself.
        raise_errors: raise StoreUnavailable when Postgres can't be reached. The events go to the spool in both cases.
        store: connections to share with another memory. The default is new connections made from `settings`.
        tenant: the tenant's name; the default is the tenant of `settings`.
        backend: the object that answers the calls, such as a `GatewayBackend`; then `mode`, `raise_errors`, `store` and
            `tenant` have no effect. By default Postgres and Redis.

    Raises:
        InvalidName: the tenant's name is invalid.
        InvalidSettings: a URL in the settings is invalid.

    Example:
        >>> with Memory.from_env() as memory:
        ...     memory.turn_completed("support-bot", "call-7", [{"role": "user", "content": "Hello"}])
    """

    def __init__(
        self,
        settings: Settings,
        *,
        mode: Mode = "durable",
        raise_errors: bool = False,
        store: Store | None = None,
        tenant: str | None = None,
        backend: "PostgresBackend | GatewayBackend | None" = None,
    ) -> None:
        if backend is None:
            name = check_name("tenant", settings.tenant if tenant is None else tenant)
            backend = PostgresBackend(store or Store(settings, mode=mode, raise_errors=raise_errors), name)
        self.backend = backend

    @classmethod
    def from_env(cls, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any) -> Self:
        """Make a memory from the settings file and the environment of this process.

        Args:
            mode: see `Memory`.
            raise_errors: see `Memory`.
            overrides: top-level settings that win over file and environment, such as `tenant`.

        Returns:
            A memory with its own connections.

        Raises:
            InvalidSettings: a setting is unknown or is invalid.

        Example:
            >>> memory = Memory.from_env(mode="background", tenant="acme")
        """
        return cls(load_settings(**overrides), mode=mode, raise_errors=raise_errors)

    @classmethod
    def from_url(
        cls, url: str, key: str, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any
    ) -> Self:
        """Make a memory that calls a gateway (`slowwave serve`). It needs no login of Postgres or Redis.

        Args:
            url: the address of the gateway.
            key: an API key, as `slowwave admin keys add` shows it once.
            mode: see `Memory`.
            raise_errors: raise StoreUnavailable when the gateway can't be reached. The calls go to the spool in both
                cases.
            overrides: settings of this host, such as `spool`.

        Returns:
            A memory with the same methods. The key decides which tenant, agents and scopes it reaches.

        Raises:
            InvalidSettings: the address, the key or a setting is invalid, or httpx2 is not installed.

        Example:
            >>> memory = Memory.from_url("https://memory.example.com", os.environ["SLOWWAVE_KEY"])
            >>> memory.turn_completed("support-bot", "call-7", [{"role": "user", "content": "Hello"}]).added
            1
        """
        from slowwave.http.backend import GatewayBackend  # noqa: PLC0415 (brings httpx2)

        settings = load_settings(**overrides)
        backend = GatewayBackend(settings, url, key, mode=mode, raise_errors=raise_errors)
        return cls(settings, backend=backend)

    @property
    def tenant(self) -> str:
        """The tenant of this memory; "" with a gateway, where the API key decides the tenant."""
        return self.backend.tenant

    @property
    def store(self) -> Store:
        """The connections of this process. Raises SlowwaveError if the memory calls a gateway."""
        if not isinstance(self.backend, PostgresBackend):
            raise SlowwaveError("this call needs a connection to Postgres: use Memory.from_env() instead of from_url()")
        return self.backend.store

    def for_tenant(self, tenant: str | None) -> "Memory":
        """Return the memory of another tenant on the same connections. Closing one of the two closes both.

        Args:
            tenant: its name; None is the tenant of the settings.

        Returns:
            A memory of that tenant.

        Raises:
            InvalidName: the name is invalid.
            NotAllowed: the memory belongs to an API key, which reaches one tenant.

        Example:
            >>> memory.for_tenant("globex").tenant
            'globex'
        """
        backend = self.backend.for_tenant(tenant)
        return self if backend is self.backend else Memory(backend.settings, backend=backend)

    def status(self) -> Status:
        """Measure the backlog of the tenant and of this host's spool.

        Returns:
            The number of sessions that wait for a flush, of messages in each queue, and of spooled files.

        Raises:
            StoreUnavailable: Postgres can't be reached.
            NotAllowed: the API key lacks the right `administer`.
            redis.exceptions.RedisError: without a gateway, the broker can't be reached.

        Example:
            >>> memory.status().dirty_sessions
            0
        """
        return self.backend.status()

    def warm(self) -> None:
        """Load mem0 in a thread, if mem0 is the backend, so that the first read does not wait for it.

        Example:
            >>> memory.warm()
        """
        self.backend.warm()

    def flush(self, timeout: float = 30.0) -> bool:
        """Commit queued and spooled events of this host, and wake the workers.

        Args:
            timeout: the longest time to wait, in seconds.

        Returns:
            False if it took longer than `timeout`.

        Example:
            >>> memory.flush(timeout=5)
            True
        """
        return self.backend.flush(timeout)

    def close(self) -> None:
        """Commit or spool queued events, and close the connections.

        Raises:
            SpoolFull: both failed; the queued events are lost.

        Example:
            >>> memory.close()
        """
        self.backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
