"""Serve the gateway: processes of uvicorn on one socket, each with its own connections."""

import gc
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import uvicorn
from redis import Redis
from sqlalchemy import Engine, text
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.errors import InvalidSettings
from slowwave.settings import Settings, load_settings
from slowwave.store import Store
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import require_current
from slowwave_server.services.access.privileges import GATEWAY
from slowwave_server.workers.gateway.app import make_gateway
from slowwave_server.workers.gateway.request_ids import log as requests_log
from slowwave_server.workers.gateway.walls import Walls
from slowwave_server.workers.listening_sockets import Serving, ended_by_signals, listen_on
from slowwave_server.workers.shared.audit_log import write_log
from slowwave_server.workers.shared.proxies import BehindProxies, read_proxies

CONNECTIONS = 8
"""Of the engine to Postgres, a process; the client has as many of its own."""
BACKLOG = 2048
LOGGER = "slowwave_server.workers.gateway"

_LOGIN = text(
    "SELECT pg_has_role(session_user, (SELECT nspowner FROM pg_namespace WHERE nspname = 'slowwave'), 'MEMBER')"
    " AS as_owner, EXISTS (SELECT FROM pg_roles g WHERE g.rolname = :gateways"
    " AND pg_has_role(session_user, g.oid, 'MEMBER')) AS is_gateway, session_user AS login"
)


def require_gateway(engine: Engine) -> None:
    """Refuse a login that is not limited by API keys. Raises InvalidSettings, WrongSchema, OperationalError."""
    with engine.connect() as connection:
        require_current(connection)
        found = connection.execute(_LOGIN, {"gateways": GATEWAY}).one()
    if found.as_owner or not found.is_gateway:
        whose = "owns the tables" if found.as_owner else "is no gateway's"
        raise InvalidSettings(
            f"database_url must name a login of a gateway, and {found.login} {whose}: make one with"
            " `slowwave admin roles add NAME --role gateway`"
        )


def gateway_of(settings: Settings) -> ASGIApp:
    """Return the gateway of one process, which closes its connections when it ends."""
    engine = make_engine(settings.database_url, pool_size=CONNECTIONS)
    redis: Redis = connect_broker(settings)
    memory = Memory(settings, store=Store(settings, acting=Walls()))
    app = make_gateway(settings, engine, redis, lambda: datetime.now(UTC), memory)

    def close() -> None:
        memory.close()
        redis.close()
        engine.dispose()

    app.state.closing.append(close)
    # Loaded modules live as long as the process, so garbage collection can skip them.
    gc.freeze()
    return app


def process_app(behind_proxy: str | None) -> ASGIApp:
    """Return the application of one of several processes, by the settings in its environment."""
    settings = load_settings()
    write_log(settings)
    _tell(settings)
    if settings.tracing:
        from slowwave_server.workers.tracing import start_tracing  # noqa: PLC0415 (where it is off, none of it loads)

        start_tracing()
    app = gateway_of(settings)
    return app if behind_proxy is None else BehindProxies(app, read_proxies(behind_proxy))


def serve(settings: Settings, wanted: Serving, workers: int, tell: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then finish the running requests.

    tell: a function that is called with the address when the socket listens. Raises InvalidSettings if the login is not
    a gateway's, and OSError for a taken port.
    """
    engine = make_engine(settings.database_url)
    try:
        require_gateway(engine)
    finally:
        engine.dispose()
    config = wanted.config(
        partial(process_app, wanted.behind_proxy),
        factory=True,
        lifespan="on",
        log_config=None,
        # A process that starts on a busy host answers late, and would be killed for this.
        timeout_worker_healthcheck=60,
    )
    with listen_on(wanted.host, wanted.port, BACKLOG) as listening:
        address = wanted.url(listening.getsockname()[1])
        if workers > 1:
            listening.set_inheritable(True)
            tell(address)
            Multiprocess(config, sockets=[listening]).run()
            return
        server = uvicorn.Server(config)
        with ended_by_signals(server):
            tell(address)
            server.run(sockets=[listening])


def _tell(settings: Settings) -> None:
    if settings.gateway.access_log:
        requests_log.setLevel(logging.INFO)
    logging.getLogger(LOGGER).setLevel(logging.INFO)
