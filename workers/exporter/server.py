"""The exporter's HTTP server: /metrics for Prometheus, /healthz for health checks.

It speaks plain HTTP without authentication. The only personal names in the metrics are the tenants that the operator
asked for.
"""

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.registry import Collector

from slowwave.errors import InvalidSettings

log = logging.getLogger(__name__)

_PAGE = b"Slowwave's exporter. Figures are at /metrics.\n"


def registry_of(collector: Collector) -> CollectorRegistry:
    """Return a new registry with only this collector: metrics of the exporter process itself are not exported."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return registry


def metrics_text(registry: CollectorRegistry) -> str:
    """Return all figures once, in Prometheus' text format."""
    return generate_latest(registry).decode()


def address_of(listen: str) -> tuple[str, int]:
    """Parse HOST:PORT, or [HOST]:PORT for IPv6. Raises InvalidSettings."""
    try:
        parts = urlsplit(f"//{listen}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port is None:
        raise InvalidSettings(f"{listen!r:.80} is not HOST:PORT, such as 127.0.0.1:9187")
    return host, port


def serve(registry: CollectorRegistry, listen: str, *, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. ready: called with the URL when the server listens. Raises InvalidSettings."""
    host, port = address_of(listen)
    families = {family for family, *_ in _resolved(listen, host, port)}

    class Server(ThreadingWSGIServer):
        address_family = socket.AF_INET if socket.AF_INET in families else socket.AF_INET6

    try:
        server = make_server(host, port, _app(registry), server_class=Server, handler_class=_Quiet)
    except OSError as error:
        raise InvalidSettings(f"can't listen on {listen}: {error.strerror or error}") from None

    def end(_number: int, _frame: FrameType | None) -> None:
        # In a thread: shutdown() waits for the serve loop to end, and this signal handler interrupts that loop.
        threading.Thread(target=server.shutdown, daemon=True).start()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{server.server_port}/metrics")
        server.serve_forever()
    finally:
        server.server_close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _resolved(listen: str, host: str, port: int) -> list[Any]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise InvalidSettings(f"{listen} names no host: {error.strerror or error}") from None


def _app(registry: CollectorRegistry) -> Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]:
    metrics: Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]] = make_wsgi_app(registry)

    def app(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return metrics(environ, start)
        found = {"/healthz": b"ok\n", "/": _PAGE}.get(path)
        start("200 OK" if found else "404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [found or b"There is /metrics, and /healthz.\n"]

    return app


class _Quiet(WSGIRequestHandler):
    """Logs no request at the default level, because requests arrive every few seconds."""

    timeout = 10  # seconds until the server drops a client that sends nothing

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name in the library)
        log.debug(format, *args)
