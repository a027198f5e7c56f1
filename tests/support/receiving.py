"""A receiver of webhooks on this machine: it keeps what it was sent, and answers as it is told."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.body)
        return told


@dataclass
class Receiver:
    """answer: the status for a request, and headers besides. peers: connections that brought a request."""

    port: int
    answer: Callable[[Received], tuple[int, dict[str, str]]] = lambda _: (204, {})
    received: list[Received] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    peers: dict[Any, socket.socket] = field(default_factory=dict)

    def drop(self) -> None:
        """Close all connections."""
        for peer in self.peers.values():
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"


@contextmanager
def receiving(*, keeps: bool = False) -> Iterator[Receiver]:
    """A receiver on a free port of 127.0.0.1. keeps: connections stay open between requests."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keeps else "HTTP/1.0"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            got = Received(self.path, headers, self.rfile.read(length))
            with receiver.lock:
                receiver.received.append(got)
                receiver.peers[self.client_address] = self.connection
            status, told = receiver.answer(got)
            self.send_response(status)
            for name, value in told.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
