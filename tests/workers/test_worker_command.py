"""`slowwave worker` as a person runs it: from any folder, with beat if asked, stopped and killed."""

import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings
from slowwave_server.workers.app import make_app
from slowwave_server.workers.cli.main import app
from slowwave_server.workers.cli.worker import worker_environment
from slowwave_server.workers.shared.listening import listening
from tests.support.processes import wait_until
from tests.support.shelling import CliRunner
from tests.workers.effects import until_flushed
from tests.workers.fleet import Fleet, Program
from tests.workers.hostile import make_hostile
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

Start = Callable[..., Program]
TICK = "Scheduler: Sending due task slowwave.sweep_sessions"
STOP_SECONDS = 20


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def start(fleet: Fleet, folder: Path, hostile: Path) -> Iterator[Start]:
    """Start `slowwave worker` with options in the hostile folder; what is left of it ends with the test."""
    started: list[Program] = []

    def begin(*options: str) -> Program:
        command = [str(Path(sys.executable).with_name("slowwave")), "worker", *options]
        program = Program(command, fleet.environment, folder / f"{uuid.uuid4().hex}.log", hostile)
        started.append(program)
        return program

    yield begin
    for program in started:
        program.end()


def _alive(pids: list[int]) -> list[int]:
    alive = []
    for pid in pids:
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0]
            alive += [pid] if state != "Z" else []
    return alive


@pytest.mark.parametrize("pool", [pytest.param("prefork", marks=pytest.mark.long), "threads"])
def test_worker_with_beat_sweeps_and_stops_with_its_beat(
    start: Start, pool: str, fleet: Fleet, own_valkey: OwnValkey, memory: Memory, look: Engine, hostile: Path
) -> None:
    before = sorted(hostile.rglob("*"))
    worker = start("--beat", "--pool", pool, "--concurrency", "1")
    worker.says("ready.")
    expected = {f"worker-{worker.pid}@{os.uname().nodename}": frozenset(QUEUES)}
    wait_until(lambda: listening(own_valkey.client, fleet.settings()) == expected, 20, "it answers for all queues")
    memory.turn_completed(pool, "monday", [{"role": "user", "content": "I am allergic to peanuts."}])
    until_flushed(look, 30, pool)
    wait_until(lambda: worker.log.count(TICK) >= 3, 30, "beat ticks")
    wait_until(lambda: worker.log.count("slowwave.sweep_sessions") > 3, 30, "sweeps run")
    assert "was imported" not in worker.log
    children = worker.children()
    worker.send(signal.SIGTERM)
    assert worker.wait(STOP_SECONDS) == 0, worker.log
    assert _alive(children) == []
    assert sorted(hostile.rglob("*")) == before, "no schedule file, no compiled module"


@pytest.mark.long
def test_options_reach_celery_and_beat_ends_with_a_killed_worker(
    start: Start, own_valkey: OwnValkey, fleet: Fleet
) -> None:
    options = ("--queues", "days, maintenance", "--name", "little@here", "--concurrency", "2", "--events")
    worker = start("--beat", *options)
    worker.says("little@here ready.")
    asked = {"little@here": frozenset({"days", "maintenance"})}
    wait_until(lambda: listening(own_valkey.client, fleet.settings()) == asked, 20, "it answers for both queues")
    assert "concurrency: 2 (prefork)" in worker.log
    assert "task events: ON" in worker.log
    worker.says(TICK)
    children = worker.children()
    assert len(children) >= 3, "beat and two processes of the pool"
    worker.kill()
    wait_until(lambda: not _alive(children), STOP_SECONDS, "beat and the pool have ended")


def test_unknown_queue_is_refused_and_the_allowed_ones_are_named() -> None:
    result = CliRunner().invoke(app, ["worker", "--queues", "flush,fluff"])
    assert result.exit_code == 2
    said = " ".join(result.stderr.replace("│", " ").split())
    assert "unknown queue 'fluff'; the queues are flush.high, flush, capture" in said


def test_soft_shutdown_is_for_processes_unless_somebody_decided() -> None:
    assert worker_environment({}, "prefork") == {"REMAP_SIGTERM": "SIGQUIT"}
    assert worker_environment({"REMAP_SIGTERM": ""}, "prefork") == {"REMAP_SIGTERM": ""}
    assert worker_environment({}, "threads") == {}


def test_tasks_are_never_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "only_here.py").touch()
    monkeypatch.chdir(tmp_path)
    loader = make_app(Settings()).loader
    with pytest.raises(ModuleNotFoundError):
        loader.import_task_module("only_here")
