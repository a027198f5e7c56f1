"""A collector of spans that speaks OTLP over HTTP, in a thread of the test: it keeps what it is sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Seen:
    """A span: ids as hexadecimal digits, parent empty for the first one of a trace."""

    service: str
    name: str
    trace: str
    span: str
    parent: str
    attributes: dict[str, str]


class Collector:
    """`spans`: all that came; `raw`: the same as bytes, in which a test looks for what must not be there."""

    def __init__(self) -> None:
        self.spans: list[Seen] = []
        self.raw = b""
        self.variables: dict[str, str] = {}

    def take(self, body: bytes) -> None:
        self.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _plain(resource.resource.attributes).get("service.name", "")
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                self.spans.append(Seen(service, span.name, *ids, _plain(span.attributes)))

    def named(self, name: str, trace: str) -> list[Seen]:
        return [span for span in self.spans if (span.name, span.trace) == (name, trace)]


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port; `variables` send a process's spans there, soon."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        collector.variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "SLOWWAVE_TRACING": "true",
        }
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _plain(attributes: Any) -> dict[str, str]:
    return {pair.key: str(getattr(pair.value, pair.value.WhichOneof("value"))) for pair in attributes}
