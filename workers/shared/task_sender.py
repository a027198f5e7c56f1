"""Send a payload to its task again, to retry dead letters."""

from collections.abc import Callable, Mapping
from typing import Any

from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.errors import SlowwaveError
from slowwave_server.tasks import all_tasks
from slowwave_server.workers.shared.shell import Shell


def sender(shell: Shell) -> Callable[[str, Mapping[str, Any]], None]:
    """Return a function that sends a payload to the queue of its task. It raises SlowwaveError for an unknown task."""
    tasks = all_tasks()

    def send(task: str, payload: Mapping[str, Any]) -> None:
        if task not in tasks:
            raise SlowwaveError(f"this version has no task {task!r}")
        queue = tasks[task].queue
        publish(shell.redis, queue, envelope(task, [], payload, queue, task_id=new_id()))

    return send
