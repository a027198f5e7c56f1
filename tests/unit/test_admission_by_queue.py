"""Which tasks a worker takes from which queue: who may write into one can't start what belongs to another."""

import json

import pytest

from slowwave.coordination.keys import CAPTURE_QUEUE, HIGH_QUEUE, NORMAL_QUEUE, QUEUES
from slowwave.coordination.queue_messages import envelope
from slowwave.messages import CONSOLIDATE_SCOPE, FLUSH_SESSION, RUN_MAINTENANCE, SWEEP_SESSIONS
from slowwave_server.workers.admission import ON_CAPTURE, ON_FLUSH, Inadmissible, admit


def entry(task: str, queue: str) -> dict[str, object]:
    made = envelope(task, [], {}, queue, task_id="a-message")
    return dict(json.loads(made)) if isinstance(made, (str, bytes)) else dict(made)


@pytest.mark.parametrize("queue", sorted(set(QUEUES) - {CAPTURE_QUEUE}))
def test_i8_words_come_in_through_capture_alone(queue: str) -> None:
    for task in sorted(ON_CAPTURE):
        assert admit(entry(task, CAPTURE_QUEUE), CAPTURE_QUEUE)[0]["headers"]["task"] == task
        with pytest.raises(Inadmissible, match=f"none of those that {queue} carries"):
            admit(entry(task, queue), queue)


@pytest.mark.parametrize("queue", [HIGH_QUEUE, NORMAL_QUEUE])
def test_queues_that_clients_write_into_carry_flushes_and_sweeps_alone(queue: str) -> None:
    assert {FLUSH_SESSION, SWEEP_SESSIONS} == ON_FLUSH
    for task in sorted(ON_FLUSH):
        assert admit(entry(task, queue), queue)[0]["headers"]["task"] == task
    for task in (CONSOLIDATE_SCOPE, RUN_MAINTENANCE, "slowwave.of_tomorrow"):
        with pytest.raises(Inadmissible, match="none of those"):
            admit(entry(task, queue), queue)
