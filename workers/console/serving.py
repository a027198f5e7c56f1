"""Run the console: its connections, and uvicorn."""

import gc
from collections.abc import Callable
from datetime import datetime

import uvicorn
from redis import Redis

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.listening_sockets import Serving, ended_by_signals, listen_on
from slowwave_server.workers.shared.proxies import BehindProxies, read_proxies

CONNECTIONS = 10
"""The most connections to Postgres. A request holds at most one, and none during rendering or password hashing."""


def serve(
    settings: Settings, wanted: Serving, redis: Redis, clock: Callable[[], datetime], tell: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or SIGINT. Raises OSError if the port is taken. tell: gets the address when it listens."""
    engine = make_engine(settings.database_url, pool_size=CONNECTIONS)
    try:
        with Memory(settings) as memory, listen_on(wanted.host, wanted.port) as listening:
            app = make_app(settings, engine, redis, clock, memory, secure=wanted.secure)
            behind = app if wanted.behind_proxy is None else BehindProxies(app, read_proxies(wanted.behind_proxy))
            server = uvicorn.Server(wanted.config(behind, lifespan="off"))
            # Loaded modules live as long as the process, so garbage collection during a request can skip them.
            gc.freeze()
            with ended_by_signals(server):
                tell(wanted.url(listening.getsockname()[1]))
                server.run(sockets=[listening])
    finally:
        engine.dispose()
