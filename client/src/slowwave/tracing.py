"""Traces by OpenTelemetry: the span of a hook, and the traceparent that a message carries to its worker.

Tracing is off until a process switches it on, once. Until then OpenTelemetry is not imported, and each call costs one
comparison. Spans contain names of agents and sessions, never text of a conversation; the host chooses the provider
(`workers/tracing.py` sets that of a worker).
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from slowwave.errors import InvalidSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer

    from slowwave.capture import Entry
    from slowwave.identity import SessionRef

HEADER = "traceparent"
"""The header of W3C's Trace Context that a message carries; no other one of it does."""
_VALID = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_FLUSH_SPAN = "run/slowwave.flush_session"
"""As the instrumentation of Celery names it."""
_NO_SPAN: AbstractContextManager[Any] = nullcontext()

_tracer: Tracer | None = None


def switch_on() -> None:
    """Switch tracing on: hooks make spans, messages carry them. Raises InvalidSettings without OpenTelemetry's API."""
    global _tracer  # noqa: PLW0603 (as OpenTelemetry's provider: one a process, set once)
    if _tracer is None:
        try:
            from opentelemetry.trace import get_tracer  # noqa: PLC0415 (where it is off, nothing of it is loaded)
        except ImportError:
            raise InvalidSettings(
                "tracing needs OpenTelemetry: install the extra `tracing` of slowwave (docs/install.md)"
            ) from None
        _tracer = get_tracer("slowwave")


def hook_span(name: str, ref: SessionRef | Entry) -> AbstractContextManager[Any]:
    """Open the span of one hook. It records the class of an error, never its text."""
    if _tracer is None:
        return _NO_SPAN
    about = {"slowwave.tenant": ref.tenant, "slowwave.agent": ref.agent, "slowwave.session": ref.session}
    return _spanned(_tracer, name, "PRODUCER", about)


def flush_span(ref: SessionRef, trace: str | None) -> AbstractContextManager[Any]:
    """Open the span of a flush in another flush's task. trace: the message's traceparent. Errors: see `hook_span`."""
    if _tracer is None:
        return _NO_SPAN
    from opentelemetry.context import Context  # noqa: PLC0415 (as above)
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 (as above)

    about = {"slowwave.tenant": ref.tenant, "slowwave.agent": ref.agent, "slowwave.session": ref.session}
    asked_in = TraceContextTextMapPropagator().extract({HEADER: trace} if trace else {}, Context())
    return _spanned(_tracer, _FLUSH_SPAN, "CONSUMER", about, asked_in)


def request_span(name: str, trace: str | None, request_id: str) -> AbstractContextManager[Any]:
    """Open the span of one HTTP request. trace: the request's traceparent. Errors: see `hook_span`."""
    if _tracer is None:
        return _NO_SPAN
    from opentelemetry.context import Context  # noqa: PLC0415 (as above)
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 (as above)

    asked_in = TraceContextTextMapPropagator().extract({HEADER: trace} if trace else {}, Context())
    return _spanned(_tracer, name, "SERVER", {"slowwave.request_id": request_id}, asked_in)


def model_span(model: str, purpose: str) -> AbstractContextManager[Any]:
    """Open the span of one call of a model, with OpenTelemetry's names. Errors: see `hook_span`."""
    if _tracer is None:
        return _NO_SPAN
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "slowwave.purpose": purpose}
    return _spanned(_tracer, f"chat {model}", "CLIENT", about)


def name_session(tenant: str | None, agent: str | None, session: str | None) -> None:
    """Add the session's names to the current span, if there is one."""
    if _tracer is not None:
        from opentelemetry.trace import get_current_span  # noqa: PLC0415 (as above)

        span = get_current_span()
        for name, value in (("tenant", tenant), ("agent", agent), ("session", session)):
            if value is not None:
                span.set_attribute(f"slowwave.{name}", value)


def traceparent() -> str | None:
    """Return the traceparent for a new message; None without a span, and while tracing is off."""
    ids = span_ids()
    return None if ids is None else f"00-{ids[0]}-{ids[1]}-{ids[2]}"


def span_ids() -> tuple[str, str, str] | None:
    """Return trace, span and flags of the current span, as hexadecimal digits."""
    if _tracer is None:
        return None
    from opentelemetry.trace import get_current_span  # noqa: PLC0415 (as above)

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return f"{context.trace_id:032x}", f"{context.span_id:016x}", f"{int(context.trace_flags):02x}"


def valid_traceparent(value: object) -> str | None:
    """Return the value if it is a W3C traceparent of version 00, else None."""
    return value if isinstance(value, str) and _VALID.fullmatch(value) else None


@contextmanager
def _spanned(
    tracer: Tracer, name: str, kind: str, about: Mapping[str, str], parent: Context | None = None
) -> Iterator[None]:
    """Open a span. parent: the parent's traceparent; None for the current span."""
    from opentelemetry.trace import SpanKind, StatusCode  # noqa: PLC0415 (as above)

    options: dict[str, Any] = {"context": parent, "record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, kind=SpanKind[kind], attributes=about, **options) as span:
        try:
            yield
        except Exception as error:
            span.set_attribute("error.type", type(error).__qualname__)
            span.set_status(StatusCode.ERROR)
            raise
