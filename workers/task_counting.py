"""Count ended tasks and their outcomes in each process, by one call of Redis per task, for metrics.

The process that ran a task counts it, so the counts are right for processes, threads and many hosts. If the process
died, the task is not counted; its message is redelivered, and the task is counted when it ends.
"""

import logging
import time
from collections.abc import Mapping
from typing import Any

from celery import states
from celery.signals import task_postrun, task_prerun
from redis.exceptions import RedisError

from slowwave.messages import FLUSH_SESSION
from slowwave_server.services.task_counts import note_task
from slowwave_server.tasks.base import SlowwaveTask

log = logging.getLogger(__name__)

_BEGAN = "slowwave_began"
_STATES = {states.FAILURE: "failed", states.REJECTED: "rejected", states.RETRY: "rejected", states.IGNORED: "rejected"}
_OF_FLUSHES = {"failed": "backed_off"}
"""What a flush came to is its outcome; that of one that could be tried again is no error of its task."""


def count_tasks() -> None:
    """Count from now on, in this process and in those that it forks. A repeated call changes nothing."""
    task_prerun.connect(note_beginning)
    task_postrun.connect(note_end)


def note_beginning(task: Any = None, **_: Any) -> None:
    """Store the start time of the task with its request."""
    if isinstance(task, SlowwaveTask):
        setattr(task.request, _BEGAN, time.monotonic())


def note_end(task: Any = None, state: str | None = None, retval: Any = None, **_: Any) -> None:
    """Count the task. An error here does not fail the task."""
    if not isinstance(task, SlowwaveTask):
        return
    began = getattr(task.request, _BEGAN, None)
    took = 0.0 if began is None else time.monotonic() - began
    try:
        note_task(task.runtime.redis, task.name, outcomes_of(task.name, state, retval), took)
    except RedisError as error:
        log.debug("a task was not counted: %s", type(error).__name__)


def outcomes_of(task: str, state: str | None, answer: Any) -> Mapping[str, int]:
    """Return the outcomes and their counts, in a batch one for each session. answer: the task's return value."""
    if state is not None and state in _STATES:
        return {_STATES[state]: 1}
    came_to: Any = {answer: 1} if isinstance(answer, str) else answer
    if task == FLUSH_SESSION and isinstance(came_to, Mapping):
        return {_OF_FLUSHES.get(str(outcome), str(outcome)): times for outcome, times in came_to.items()}
    return {"done": 1}
