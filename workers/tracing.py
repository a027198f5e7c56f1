"""Traces of workers: OpenTelemetry's SDK and its instrumentations of Celery, psycopg and Redis, if `tracing` is on.

OpenTelemetry's own variables set the destination of spans (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, …).
Each process that runs tasks has its own exporter, made after the fork.

Two things differ from the libraries' defaults. A worker polls Redis all the time, so a statement outside a task, hook
or command makes no trace. Of the attributes that libraries set on spans, only the ones listed here are exported,
because the text of an error may quote a conversation.
"""

import threading
from collections.abc import Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, Status, TraceState
from opentelemetry.util.types import Attributes

from slowwave.tracing import switch_on

SERVICE = "slowwave-worker"
_NAMELESS = "unknown_service"
_CLOSE_SECONDS = 2.0
"""The longest time that a stopping worker waits for a collector that does not answer."""

_LEAVES = frozenset(
    (
        *("slowwave.tenant", "slowwave.agent", "slowwave.session", "slowwave.request_id"),
        *("error.type", "exception.type"),
        *("celery.action", "celery.task_name", "celery.state", "celery.hostname", "celery.queue", "celery.retries"),
        *("gen_ai.operation.name", "gen_ai.request.model", "slowwave.purpose"),
        *("messaging.destination", "messaging.message.id", "messaging.message_id"),
        *("db.system", "db.name", "db.statement", "db.redis.database_index", "db.redis.args_length"),
        *("db.redis.pipeline_length", "net.peer.name", "net.peer.port", "net.transport"),
    )
)
"""Statements hold places for values, never values; those of Redis are `SET ? ?`."""


def start_tracing() -> TracerProvider:
    """Make and export spans in this process from now on. Return the provider, which `close_tracing` closes."""
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, _NAMELESS)).startswith(_NAMELESS):
        resource = resource.merge(Resource({SERVICE_NAME: SERVICE}))
    provider = TracerProvider(resource=resource)
    provider.sampler = WorkAlone(provider.sampler)
    provider.add_span_processor(BatchSpanProcessor(ListedAlone(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    instrumentors: tuple[Any, ...] = (CeleryInstrumentor, PsycopgInstrumentor, RedisInstrumentor)
    for instrumentor in instrumentors:
        instrumentor().instrument(tracer_provider=provider)
    switch_on()
    return provider


def close_tracing(provider: TracerProvider) -> None:
    """Send remaining spans, for 2 s at most."""
    closing = threading.Thread(target=provider.shutdown, name="slowwave-spans", daemon=True)
    closing.start()
    closing.join(_CLOSE_SECONDS)


class WorkAlone(Sampler):
    """A sampler that excludes statements outside any work; the environment's decides about the others."""

    def __init__(self, of_environment: Sampler) -> None:
        self._of_environment = of_environment

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        has_parent = trace.get_current_span(parent_context).get_span_context().is_valid
        if kind is SpanKind.CLIENT and not has_parent:
            return SamplingResult(Decision.DROP)
        return self._of_environment.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)

    def get_description(self) -> str:
        return f"WorkAlone({self._of_environment.get_description()})"


class ListedAlone(SpanExporter):
    """An exporter that keeps only the listed attributes of spans and the classes of errors, without texts."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_listed(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _listed(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_leaving(span.attributes),
        events=[Event(event.name, _leaving(event.attributes), event.timestamp) for event in span.events],
        links=[Link(link.context) for link in span.links],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _leaving(attributes: Attributes) -> Attributes:
    return {name: value for name, value in (attributes or {}).items() if name in _LEAVES}
