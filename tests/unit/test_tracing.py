"""Traces and log lines, piece by piece: what a message may carry of a trace, what leaves the process of an error."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from slowwave.coordination.queue_messages import envelope
from slowwave.messages import FLUSH_SESSION
from slowwave.tracing import valid_traceparent
from slowwave_server.services.log_context import bind, clear
from slowwave_server.workers.admission import admit
from slowwave_server.workers.log_lines import JsonLines
from slowwave_server.workers.tracing import ListedAlone, WorkAlone

GOOD = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
BAD: list[Any] = [
    None,
    7,
    [GOOD],
    "",
    GOOD.upper(),
    GOOD + "\n",
    GOOD + "-more",
    "01" + GOOD[2:],
    "00-" + "0" * 32 + GOOD[35:],
    GOOD[:36] + "0" * 16 + "-01",
    "00-<script>",
]


def carrying(**headers: Any) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(envelope(FLUSH_SESSION, ["default", "Atlas", "s"], {}, "flush", task_id="m"))
    message["headers"] |= headers
    return message


def test_a_message_keeps_its_place_in_a_trace_and_no_other_header_of_it() -> None:
    admitted, _ = admit(carrying(traceparent=GOOD, tracestate="a=b", baggage="c=d", other="e"), "flush")
    assert admitted["headers"]["traceparent"] == GOOD
    assert not admitted["headers"].keys() & {"tracestate", "baggage", "other"}


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_what_is_no_traceparent_does_not_get_into_a_worker(value: Any) -> None:
    assert valid_traceparent(value) is None
    assert "traceparent" not in admit(carrying(traceparent=value), "flush")[0]["headers"]


def test_where_tracing_is_off_nothing_of_opentelemetry_is_imported() -> None:
    client = "import sys, slowwave.store; print('opentelemetry' in sys.modules)"
    # redis-py imports the API and the SDK by itself where they are installed.
    loaded = "any('opentelemetry.instrumentation' in name for name in sys.modules)"
    worker = f"import slowwave_server.workers.observed; print({loaded})"
    done = subprocess.run([sys.executable, "-c", f"{client}; {worker}"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_span_leaves_with_the_kind_of_its_error_and_no_text() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.sampler = WorkAlone(provider.sampler)
    provider.add_span_processor(SimpleSpanProcessor(ListedAlone(kept)))
    tracer = provider.get_tracer("test")
    tracer.start_span("BRPOP", kind=SpanKind.CLIENT).end()  # asked for by nobody
    about = {"celery.retry.reason": "turquoise", "db.statement": "SELECT $1"}
    with pytest.raises(ValueError, match="turquoise"), tracer.start_as_current_span("work", attributes=about):
        float("turquoise")
    (seen,) = kept.get_finished_spans()
    assert seen.attributes == {"db.statement": "SELECT $1"}
    (event,) = seen.events
    assert event.attributes == {"exception.type": "ValueError"}
    assert not seen.status.is_ok
    assert seen.status.description is None
    provider.shutdown()


def test_a_flush_in_the_turn_of_another_belongs_to_the_trace_of_its_own_message() -> None:
    """In a process of its own, as tracing is switched on for a process once."""
    done = subprocess.run([sys.executable, "-c", _TURN, GOOD], capture_output=True, text=True, check=True)
    spans = [json.loads(written) for written in done.stdout.splitlines()]
    first, second, turn = spans
    assert first["parent"] == GOOD.split("-")[2]
    assert second["parent"] is None
    assert len({span["trace"] for span in spans}) == 3
    assert first["trace"] == GOOD.split("-")[1]
    assert {span["name"] for span in (first, second)} == {"run/slowwave.flush_session"}
    assert [span["session"] for span in (first, second)] == ["morning", "evening"]
    assert (turn["name"], second["error"]) == ("the turn", "ValueError")


_TURN = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from slowwave.identity import SessionRef
from slowwave.tracing import flush_span, switch_on

with flush_span(SessionRef("default", "Atlas", "noon"), None) as nothing:
    assert nothing is None
kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
switch_on()
with trace.get_tracer("test").start_as_current_span("the turn"):
    with flush_span(SessionRef("default", "Atlas", "morning"), sys.argv[1]):
        pass
    try:
        with flush_span(SessionRef("default", "Atlas", "evening"), None):
            raise ValueError("turquoise")
    except ValueError:
        pass
for span in kept.get_finished_spans():
    print(json.dumps({
        "name": span.name,
        "trace": f"{span.context.trace_id:032x}",
        "parent": None if span.parent is None else f"{span.parent.span_id:016x}",
        "session": span.attributes.get("slowwave.session"),
        "error": span.attributes.get("error.type"),
    }))
"""


def line(name: str, text: str, *args: object, error: BaseException | None = None) -> dict[str, Any]:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord(name, logging.ERROR, __file__, 1, text, args, info)
    record.data = {"args": "turquoise"}  # as Celery's `extra` has it
    written = JsonLines().format(record)
    assert "turquoise" not in written
    return dict(json.loads(written))


def test_a_line_names_the_work_and_no_text_of_an_error() -> None:
    try:
        float("turquoise")
    except ValueError as caught:
        error = caught
    bind(agent="Atlas", session="morning", run=7)
    try:
        said = line("celery.app.trace", "Task %(name)s: %(exc)s", {"name": "t", "exc": "turquoise"}, error=error)
    finally:
        clear()
    assert said["message"] == "Task t: see error"
    assert said["error"] == "ValueError"
    assert said["places"][-1].endswith("test_a_line_names_the_work_and_no_text_of_an_error")
    assert (said["agent"], said["session"], said["run"]) == ("Atlas", "morning", "7")
    assert "session" not in line("slowwave_server.services.flush.flusher", "next")


def test_of_a_library_the_first_line_is_kept() -> None:
    assert line("celery.worker", "Received unregistered task.\n\nbody: %s", "turquoise")["message"].endswith("task.")
    assert line("slowwave_server.tasks.flush", "one\ntwo")["message"] == "one\ntwo"
