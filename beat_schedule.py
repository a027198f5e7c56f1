"""The schedule of beat: each periodic task with its period and its queue, as the modules of `tasks` declare them.

docs/reference/tasks.md lists it. Ticks are idempotent and expire with their period, so a second beat or an absent
worker does no harm.
"""

from typing import Any

from slowwave.settings import Settings
from slowwave_server.tasks import all_tasks


def schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return every tick by the name of its task, as Celery's `beat_schedule`; some exist only with a setting."""
    return {
        task.name: {
            "task": task.name,
            "schedule": seconds,
            "options": {"queue": task.queue, "expires": seconds},
        }
        for task in all_tasks().values()
        if (seconds := task.seconds(settings)) is not None
    }
