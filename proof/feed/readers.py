"""Readers of the feed that continue through every fault: an HTTP stream, the Python iterator, a webhook receiver."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
from standardwebhooks import Webhook

from slowwave import Memory
from slowwave.changes import BEGINNING
from slowwave.settings import Settings

REST_SECONDS = 0.2
SILENCE_SECONDS = 45.0


@dataclass
class Seen:
    """The changes that one reader received: (id, memory, time of arrival, reason) in the order of arrival.

    known: their ids. forged: deliveries with a wrong signature; breaks: connections that ended.
    """

    name: str
    told: list[tuple[str, str, float, str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    forged: int = 0
    breaks: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, change: dict[str, Any]) -> None:
        """One change arrived."""
        entry = (change["id"], change["memory"]["id"], time.time(), change["reason"])
        with self.lock:
            self.told.append(entry)
            self.known.add(entry[0])


def read_stream(url: str, key: str, seen: Seen, ended: threading.Event) -> None:
    """Follow GET /v1/changes from the oldest change on, and connect again after each break."""
    last = BEGINNING
    while not ended.is_set():
        headers = {"Authorization": f"Bearer {key}", "Last-Event-ID": last}
        try:
            with (
                httpx2.Client(timeout=httpx2.Timeout(5, read=SILENCE_SECONDS)) as client,
                client.stream("GET", f"{url}/v1/changes", headers=headers) as response,
            ):
                response.raise_for_status()
                for line in response.iter_lines():
                    if line.startswith("id: "):
                        last = line[4:]
                    elif line.startswith("data: "):
                        seen.add(json.loads(line[6:]))
                    if ended.is_set():
                        return
        except httpx2.HTTPError:
            seen.breaks += 1
            ended.wait(REST_SECONDS)


def read_iterator(settings: Settings, tenant: str, seen: Seen, ended: threading.Event) -> None:
    """Follow Memory.changes from the oldest change on."""
    with Memory(settings, tenant=tenant) as memory:
        for change in memory.changes(after=BEGINNING):
            seen.add(change.to_json())
            if ended.is_set():
                return


@contextmanager
def receiving(seen: Seen, *, fails_each: int = 200) -> Iterator[tuple[str, list[str]]]:
    """Receive webhooks: yields the URL, and a list to which the caller adds the secret.

    It answers one request of `fails_each` with 500.
    """
    secrets: list[str] = []
    count = iter(range(1 << 62))

    class Handler(BaseHTTPRequestHandler):
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
                    seen.add(told["data"])
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hooks", secrets
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
