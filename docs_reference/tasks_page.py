"""docs/reference/tasks.md: every task with its queue, limits, interval in beat, and purpose."""

from inspect import getdoc
from typing import Any

from docs_reference.tables import code, table
from slowwave.settings import Settings
from slowwave_server.beat_schedule import Tick, schedule
from slowwave_server.workers.app import make_app

HEAD = """# Tasks, generated from the code

[The contract of tasks](../tasks.md) says which tasks other programs may send, with which payload. Times are in seconds
and apply to the defaults of the [settings](settings.md), with `memory.source` and `memory.embeddings` enabled.
"""
OPTIONAL = {
    "memory": {
        "source": "agno",
        "agno": {"db_url": "sqlite:////data/agno.db"},
        "embeddings": {"driver": "local"},
    }
}


def tasks_page() -> str:
    """The page as Markdown."""
    ticks = {tick.task: tick for tick in schedule(Settings.model_validate(OPTIONAL)).values()}
    app = make_app(Settings())
    app.loader.import_default_modules()
    names = sorted(name for name in app.tasks if name.startswith("slowwave."))
    rows = [_row(app, name, ticks.get(name)) for name in names]
    return f"{HEAD}\n{table(('task', 'queue', 'interval in beat', 'time limits', 'purpose'), rows)}"


def _row(app: Any, name: str, tick: Tick | None) -> tuple[str, str, str, str, str]:
    task = app.tasks[name]
    routed = app.conf.task_routes.get(name, {}).get("queue", app.conf.task_default_queue)
    limits = app.conf.task_annotations.get(name, {}) if app.conf.task_annotations else {}
    soft = limits.get("soft_time_limit", task.soft_time_limit or app.conf.task_soft_time_limit)
    hard = limits.get("time_limit", task.time_limit or app.conf.task_time_limit)
    return (
        code(name),
        code(tick.queue if tick else routed),
        f"every {tick.seconds:g} s" if tick else "",
        f"soft {soft:g}, hard {hard:g}" if soft and hard else "",
        (getdoc(task.run) or "").split("\n\n")[0],
    )
