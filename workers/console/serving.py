"""Serving the console: its connections, and uvicorn.

Must not know: any page.
"""

import gc
from collections.abc import Callable
from datetime import datetime

import uvicorn
from redis import Redis
from starlette.applications import Starlette

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.listening_sockets import Serving, ended_by_signals, listen_on
from slowwave_server.workers.shared.header_deadline import DeadlineProtocol
from slowwave_server.workers.shared.proxies import BehindProxies, read_proxies

CONNECTIONS = 10
"""To Postgres. A req takes one at a time, and none while its page is made or a password is compared."""


def serve(
    settings: Settings, wanted: Serving, redis: Redis, clock: Callable[[], datetime], tell: Callable[[str], None]
) -> None:
    """Answer until SIGTERM or SIGINT; what is being answered is finished first. Raises OSError for a taken port.

    tell: is told the address, once it is listened on.
    """
    engine = make_engine(settings.database_url, pool_size=CONNECTIONS)
    try:
        with Memory(settings) as memory, listen_on(wanted.host, wanted.port) as listening:
            app = make_app(settings, engine, redis, clock, memory, secure=wanted.secure)
            server = uvicorn.Server(_config(app, wanted))
            # What was loaded lives as long as the process: a collection while a page is made need not look through it.
            gc.freeze()
            with ended_by_signals(server):
                tell(wanted.url(listening.getsockname()[1]))
                server.run(sockets=[listening])
    finally:
        engine.dispose()


def _config(app: Starlette, wanted: Serving) -> uvicorn.Config:
    return uvicorn.Config(
        app if wanted.behind_proxy is None else BehindProxies(app, read_proxies(wanted.behind_proxy)),
        http=DeadlineProtocol,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        ssl_certfile=wanted.tls_cert,
        ssl_keyfile=wanted.tls_key,
        # Of a chain that it trusts throughout, uvicorn takes the first entry, which a client can choose.
        proxy_headers=False,
        timeout_graceful_shutdown=10,
    )
