"""The schedule of beat: each periodic task with its period and its queue, as the modules of `tasks` declare them.

docs/reference/tasks.md lists it. Ticks are idempotent and expire with their period, so a second beat or an absent
worker does no harm.
"""

from dataclasses import dataclass
from typing import Any

from slowwave.settings import Settings
from slowwave_server.tasks import all_tasks


@dataclass(frozen=True, slots=True)
class Tick:
    """One periodic task: its name, its period in seconds, its queue."""

    task: str
    seconds: float
    queue: str


def schedule(settings: Settings) -> dict[str, Tick]:
    """Every tick by the name of its task. Some tasks are periodic only with a setting, such as an embedding model."""
    periods = ((task, task.seconds(settings)) for task in all_tasks().values())
    return {task.name: Tick(task.name, seconds, task.queue) for task, seconds in periods if seconds is not None}


def celery_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """The ticks in the form of Celery's `beat_schedule`."""
    return {
        name: {
            "task": tick.task,
            "schedule": tick.seconds,
            "options": {"queue": tick.queue, "expires": tick.seconds},
        }
        for name, tick in schedule(settings).items()
    }
