"""A host with OpenTelemetry of its own: one reply of an agent inside a span, then its trace's id on stdout."""

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from slowwave import Memory


def main() -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    with Memory.from_env() as memory, trace.get_tracer("host").start_as_current_span("reply") as span:
        # A threshold of 0 makes the first turn due at once.
        said = [{"role": "user", "content": "I am Priya, and my bicycle is turquoise."}]
        memory.turn_completed("Atlas", "morning", said)
        print(f"{span.get_span_context().trace_id:032x}")  # noqa: T201 (its one answer)
    provider.shutdown()


if __name__ == "__main__":
    main()
