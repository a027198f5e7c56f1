"""Readers of the feed that continue through every fault: an HTTP stream, the Python iterator, a webhook receiver."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from standardwebhooks import Webhook

from slowwave import Memory
from slowwave.changes import BEGINNING, position
from slowwave.settings import Settings

REST_SECONDS = 0.2
SILENCE_SECONDS = 45.0


@dataclass
class Seen:
    """The data that one reader received.

    told, repeated, swapped, forged: the numbers of changes, of repeated ones, of first arrivals behind a later change
    of the same memory, and of messages with a wrong signature. known: the positions of the changes. first: the time of
    arrival of each of the first `timed` changes, by the number in its reason. breaks: the number of connections that
    ended.
    """

    name: str
    timed: int
    told: int = 0
    repeated: int = 0
    swapped: int = 0
    forged: int = 0
    breaks: int = 0
    known: set[tuple[int, int]] = field(default_factory=set)
    first: dict[int, float] = field(default_factory=dict)
    newest: dict[str, tuple[int, int]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, change: dict[str, Any]) -> None:
        """Add a change that arrived."""
        place, memory, reason = position(change["id"]), change["memory"]["id"], change["reason"]
        with self.lock:
            self.told += 1
            if place in self.known:
                self.repeated += 1
                return
            self.known.add(place)
            self.swapped += place < self.newest.get(memory, place)
            self.newest[memory] = max(place, self.newest.get(memory, place))
            # Passes of the workers change memories as well, and have other reasons.
            if reason.isdecimal() and int(reason) < self.timed:
                self.first[int(reason)] = time.time()


def read_stream(url: str, key: str, seen: Seen, ended: threading.Event) -> None:
    """Follow GET /v1/changes from the oldest change on, and connect again after each break."""
    last, port = BEGINNING, urlsplit(url).port
    while not ended.is_set():
        connection = HTTPConnection("127.0.0.1", port, timeout=SILENCE_SECONDS)
        try:
            connection.request("GET", "/v1/changes", headers={"Authorization": f"Bearer {key}", "Last-Event-ID": last})
            with connection.getresponse() as response:
                for line in response:
                    if line.startswith(b"id: "):
                        last = line[4:-1].decode()
                    elif line.startswith(b"data: "):
                        seen.add(json.loads(line[6:]))
                    if ended.is_set():
                        return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        seen.breaks += 1
        ended.wait(REST_SECONDS)


def read_iterator(settings: Settings, tenant: str, seen: Seen, ended: threading.Event) -> None:
    """Follow Memory.changes from the oldest change on."""
    with Memory(settings, tenant=tenant) as memory:
        for change in memory.changes(after=BEGINNING):
            seen.add(change.to_json())
            if ended.is_set():
                return


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Print nothing: a killed worker resets its connection."""


@contextmanager
def receiving(seen: Seen, *, fails_each: int = 200) -> Iterator[tuple[str, list[str]]]:
    """Receive webhooks: yields the URL, and a list to which the caller adds the secret.

    One request of `fails_each` is answered with 500.
    """
    secrets: list[str] = []
    count = iter(range(1 << 62))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = 500 if next(count) % fails_each == 0 else 204
            try:
                told = Webhook(secrets[0]).verify(body, {name.lower(): value for name, value in self.headers.items()})
            except Exception:  # noqa: BLE001 (whatever is wrong with it, it is counted)
                seen.forged += 1
                status = 400
            else:
                if status == 204:
                    for change in told["data"]["changes"]:
                        seen.add(change)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hooks", secrets
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
