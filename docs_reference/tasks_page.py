"""docs/reference/tasks.md: every task with its queue, limits, interval in beat, and purpose; docs/tasks.schema.json."""

import json
from inspect import getdoc
from typing import Any

from docs_reference.tables import code, table
from slowwave.settings import Settings
from slowwave_server.services.task_payloads import PAYLOADS
from slowwave_server.tasks import DeclaredTask, all_tasks
from slowwave_server.workers.app import make_app

HEAD = """# Tasks, generated from the code

[The contract of tasks](../tasks.md) says which tasks other programs may send, with which payload. Times are in seconds
and apply to the defaults of the [settings](settings.md), with `memory.source` and `memory.embeddings` enabled.
"""
OPTIONAL = Settings.model_validate(
    {
        "memory": {
            "source": "agno",
            "agno": {"db_url": "sqlite:////data/agno.db"},
            "embeddings": {"driver": "local"},
        }
    }
)


def tasks_page() -> str:
    """The page as Markdown."""
    app = make_app(Settings())
    rows = [_row(app, task) for _, task in sorted(all_tasks().items())]
    return f"{HEAD}\n{table(('task', 'queue', 'interval in beat', 'time limits', 'purpose'), rows)}"


def payload_schemas() -> str:
    """The JSON Schema of each payload of the contract, by the name of its task."""
    schemas = {task: model.model_json_schema() for task, model in PAYLOADS.items()}
    return json.dumps(schemas, indent=2) + "\n"


def _row(app: Any, declared: DeclaredTask) -> tuple[str, str, str, str, str]:
    task, seconds = app.tasks[declared.name], declared.seconds(OPTIONAL)
    soft = task.soft_time_limit or app.conf.task_soft_time_limit
    hard = task.time_limit or app.conf.task_time_limit
    return (
        code(declared.name),
        code(declared.queue),
        "" if seconds is None else f"every {seconds:g} s",
        f"soft {soft:g}, hard {hard:g}",
        (getdoc(task.run) or "").split("\n\n")[0],
    )
