"""One trace from an agent's reply through the message to the flush, and logs that name it, without a word of the text.

A host and a worker as they would run: two programs, real servers, OpenTelemetry's own exporters, a collector.
"""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from slowwave import Memory
from slowwave.coordination.queue_messages import envelope, publish
from tests.support.processes import wait_until
from tests.workers.collector import Collector, collecting
from tests.workers.fleet import PLAIN_APP, ROOT, Fleet, Program

pytestmark = [pytest.mark.servers, pytest.mark.workers]

COLOUR = "turquoise"
AT_ONCE = {"SLOWWAVE_MEMORY__AUTO_FLUSH__TURN_THRESHOLD": "0"}


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def worker(fleet: Fleet, collector: Collector) -> Program:
    variables = collector.variables | AT_ONCE | {"SLOWWAVE_LOG_FORMAT": "json"}
    return fleet.worker(app=PLAIN_APP, **variables)


@pytest.fixture(scope="module")
def trace(fleet: Fleet, worker: Program, collector: Collector) -> str:
    """The id of the trace of one reply, when its flush has come to the collector."""
    command = [sys.executable, "-m", "tests.workers.traced_host"]
    environment = fleet.environment | collector.variables | AT_ONCE
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    trace = done.stdout.strip()
    wait_until(lambda: bool(collector.named("run/slowwave.flush_session", trace)), 30, "the flush is in the trace")
    return trace


def test_a_reply_its_message_and_its_flush_are_one_trace(trace: str, collector: Collector) -> None:
    (reply,) = collector.named("reply", trace)
    (hook,) = collector.named("hook/record", trace)
    (flush,) = collector.named("run/slowwave.flush_session", trace)
    assert (hook.parent, flush.parent) == (reply.span, hook.span)
    assert flush.service == "slowwave-worker"
    assert flush.attributes["messaging.destination"] == "flush"
    for span in (hook, flush):
        assert span.attributes["slowwave.agent"] == "Atlas"
        assert span.attributes["slowwave.session"] == "morning"
    inside = [span for span in collector.spans if span.parent == flush.span]
    assert {span.attributes["db.system"] for span in inside} == {"redis", "postgresql"}


def test_statements_that_no_work_asked_for_are_no_traces(trace: str, collector: Collector) -> None:
    """A worker asks Redis for messages all day."""
    assert trace
    assert [span.name for span in collector.spans if not span.parent and "db.system" in span.attributes] == []


def test_spans_and_logs_hold_no_word_of_what_was_said(trace: str, collector: Collector, worker: Program) -> None:
    assert trace in worker.log
    assert COLOUR not in worker.log
    assert COLOUR.encode() not in collector.raw
    assert b"Atlas" in collector.raw  # so names would be seen, and words would be


def test_each_line_of_a_log_is_an_object_that_names_the_work_and_its_trace(trace: str, worker: Program) -> None:
    lines = lines_of(worker)
    (said,) = [
        line for line in lines if line["logger"] == "slowwave_server.tasks.flush" and line.get("trace_id") == trace
    ]
    assert said["task"] == "slowwave.flush_session"
    assert (said["tenant"], said["agent"], said["session"]) == ("default", "Atlas", "morning")
    assert said["level"] == "INFO"
    assert said["message"].startswith("flush Atlas/morning: stored")
    others = [line for line in lines if line["logger"] == "celery.app.trace" and "sweep" in line["message"]]
    assert others
    assert not any("session" in line for line in others)


def test_a_line_of_a_run_names_it(worker: Program, fleet: Fleet) -> None:
    with Memory(fleet.settings()) as memory:
        memory.remember("Iris", f"Priya's favourite colour is {COLOUR}.", importance=0.9)
        memory.consolidate_now("Iris")
    worker.says("consolidate working agent:Iris")
    (said,) = [line for line in lines_of(worker) if line["message"].startswith("consolidate working agent:Iris")]
    assert said["run"].isdigit()
    assert (said["agent"], said["task"]) == ("Iris", "slowwave.consolidate_scope")
    assert COLOUR not in worker.log


def lines_of(worker: Program) -> list[dict[str, str]]:
    return [json.loads(line) for line in worker.log.splitlines() if line.startswith("{")]


def test_a_log_does_not_quote_what_a_payload_was_refused_for(worker: Program, fleet: Fleet) -> None:
    bad = {"messages": [{"role": f"my car is {COLOUR}", "content": "Hello."}]}
    with Memory(fleet.settings()) as memory:
        message = envelope("slowwave.record_turn", ["Atlas", "noon"], bad, "capture", task_id="bad")
        publish(memory.store.offers.redis(), "capture", message)
    worker.says("slowwave.record_turn: dead letter")
    assert COLOUR not in worker.log
