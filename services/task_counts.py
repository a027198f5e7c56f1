"""Count ended tasks by outcome in Redis. Each process counts its own tasks, so the counts cover all hosts and pools.

A count costs one round trip per task. If Redis loses the counts, the counters restart at zero, as readers of counters
expect.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from redis import Redis

from slowwave.coordination.keys import PREFIX

TASKS_KEY = f"{PREFIX}tasks"
"""A hash: "TASK OUTCOME" -> number of tasks, "TASK us" -> their microseconds, RECLAIMED -> flushes taken over."""
TASKS_SECONDS = 7 * 86_400
"""Lifetime of the hash after the last task."""
RECLAIMED = "reclaimed"
_MICROSECONDS = "us"


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """The counts. ended: the number of tasks by (task, outcome). seconds: the total duration by task. reclaimed: the
    number of flushes of windows that an earlier worker did not complete.
    """

    ended: Mapping[tuple[str, ...], int]
    seconds: Mapping[str, float]
    reclaimed: int


def note_task(redis: Redis, task: str, outcomes: Mapping[str, int], seconds: float) -> None:
    """Count an ended task under each of its outcomes. Raises redis-py's `RedisError`."""
    with redis.pipeline(transaction=False) as pipeline:
        for outcome, times in outcomes.items():
            pipeline.hincrby(TASKS_KEY, f"{task} {outcome}", times)
        pipeline.hincrby(TASKS_KEY, f"{task} {_MICROSECONDS}", round(seconds * 1_000_000))
        pipeline.expire(TASKS_KEY, TASKS_SECONDS)
        pipeline.execute()


def note_reclaimed(redis: Redis, flushes: int = 1) -> None:
    """Count flushes of windows that an earlier worker began and never ended. Raises as `note_task`."""
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.hincrby(TASKS_KEY, RECLAIMED, flushes)
        pipeline.expire(TASKS_KEY, TASKS_SECONDS)
        pipeline.execute()


def counts_of(fields: Mapping[bytes, bytes]) -> TaskCounts:
    """Parse the hash of counts."""
    ended: dict[tuple[str, ...], int] = {}
    seconds: dict[str, float] = {}
    reclaimed = 0
    for field, value in fields.items():
        task, _, word = field.decode().rpartition(" ")
        if not task:
            reclaimed = int(value)
        elif word == _MICROSECONDS:
            seconds[task] = int(value) / 1_000_000
        else:
            ended[task, word] = int(value)
    return TaskCounts(ended, seconds, reclaimed)
