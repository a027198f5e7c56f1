"""Names that must agree across files: beat entries, tasks, queues, routes. Each drift here is a silent standstill."""

import ast
import re
from pathlib import Path

import pytest
from celery.schedules import crontab

from slowwave.coordination.keys import CAPTURE_QUEUE, QUEUES
from slowwave.messages import SWEEP_SESSIONS
from slowwave.settings import Settings
from slowwave_server.beat_schedule import schedule
from slowwave_server.tasks import all_tasks
from slowwave_server.workers.admission import ON_CAPTURE
from slowwave_server.workers.app import SlowwaveApp, make_app

ROOT = Path(__file__).parent.parent.parent
SOURCES = [
    path
    for folder in ("client/src/slowwave", "domain", "models", "services", "tasks", "workers")
    for path in (ROOT / folder).rglob("*.py")
] + [ROOT / "beat_schedule.py"]


@pytest.fixture(scope="module")
def app() -> SlowwaveApp:
    app = make_app(Settings())
    app.loader.import_default_modules()
    return app


def test_mistake_33_every_beat_entry_names_a_task_and_a_queue_that_exist(app: SlowwaveApp) -> None:
    ours = {name for name in app.tasks if name.startswith("slowwave.")}
    assert ours == set(all_tasks())
    assert {task.queue for task in all_tasks().values()} <= set(QUEUES)
    assert [queue.name for queue in app.conf.task_queues] == list(QUEUES)


def test_tasks_on_capture_are_those_that_workers_admit_there() -> None:
    """Else their messages would become dead letters."""
    assert {task.name for task in all_tasks().values() if task.queue == CAPTURE_QUEUE} == ON_CAPTURE


def test_i3_sweeps_stand_behind_no_other_work(app: SlowwaveApp) -> None:
    """Nothing else finds what is quiet or was lost. Behind a backlog of days its ticks would all expire, for hours."""
    first = QUEUES[0]
    assert schedule(Settings())[SWEEP_SESSIONS]["options"]["queue"] == first
    assert app.conf.task_routes[SWEEP_SESSIONS]["queue"] == first
    assert all_tasks()[SWEEP_SESSIONS].at_start


def test_mistake_33_ticks_expire_with_their_period_and_none_is_a_loose_crontab() -> None:
    for name, entry in schedule(Settings()).items():
        assert entry["options"]["expires"] == entry["schedule"] > 0, name
        assert not isinstance(entry["schedule"], crontab), name


def test_every_task_of_ours_keeps_no_result_and_acknowledges_late(app: SlowwaveApp) -> None:
    ours = {name: task for name, task in app.tasks.items() if name.startswith("slowwave.")}
    assert len(ours) >= 6
    for name, task in ours.items():
        assert task.ignore_result, name
        assert task.acks_late, name
        assert task.reject_on_worker_lost, name
    assert app.conf.accept_content == ["json"]


def test_mistake_42_nothing_is_ever_published_with_an_eta() -> None:
    """A task with an ETA sits in worker memory and comes back twice: waiting is a time in Postgres."""
    assert len(SOURCES) > 500
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in SOURCES}
    trees = {path: ast.parse(text) for path, text in texts.items() if _MAYBE_WAITS.search(text)}
    calls = [(path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [f"{path}:{call.lineno}" for path, call in calls if _waits(call)] == []


def test_a_publication_for_later_is_found() -> None:
    """So that the check above can fail."""
    for text in ("sent(eta = now)", "send(countdown=3)", "self.retry()", "AsyncResult(id).get()"):
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        assert _waits(call)
        assert _MAYBE_WAITS.search(text)


_MAYBE_WAITS = re.compile(r"\b(?:eta|countdown|retry|AsyncResult)\b")
"""A text without a match has no call that `_waits` finds, so the test need not parse it."""


def _waits(call: ast.Call) -> bool:
    """If the call publishes a task for later, or holds a worker until another task ends."""
    if {keyword.arg for keyword in call.keywords} & {"eta", "countdown"}:
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"retry", "get"}:
        return False
    of = ast.unparse(call.func.value)
    return of == "self" if call.func.attr == "retry" else "AsyncResult" in of
