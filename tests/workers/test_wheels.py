"""Both wheels as others get them: in bare environments, in any order, from folders that hold modules of our names.

Nothing is downloaded but what builds the wheels: dependencies are linked out of this environment.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution
from pathlib import Path
from urllib.request import urlopen

import pytest

from proof.release.wheels import build_wheels, check_metadata
from slowwave_server.workers.stack.ports import settle_ports
from tests.support.documents import blocks
from tests.support.processes import wait_until
from tests.workers.fleet import Program
from tests.workers.hostile import SERVERS_OWN, make_hostile
from tests.workers.installing import check, copy_repository, install, make_environment, needed_by, remove, site_packages
from tests.workers.stack_process import ROOT, StackProcess, stack_process

pytestmark = [pytest.mark.drill, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(300)]

START_SECONDS = 120
MEMBERS = ("beat_schedule.py", "domain", "models", "services", "tasks", "workers")
WHERE = (
    "import slowwave, importlib.util as u;"
    " print(slowwave.__file__, *[u.find_spec(name) for name in ('slowwave_server', 'celery', 'sqlalchemy')])"
)
SAY = """
from slowwave import Memory
with Memory.from_env() as memory:
    memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I am allergic to peanuts."}])
    memory.session_idle("atlas", "monday")
"""
ASK = """
import time
from slowwave import Memory
with Memory.from_env() as memory:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        known = memory.context("atlas", session="tuesday", query="Where shall we eat?")
        if any("peanuts" in hit.content for hit in known.memories):
            break
        time.sleep(0.1)
    print(known.to_text())
"""


@dataclass(frozen=True, slots=True)
class Wheels:
    """The wheels."""

    client: Path
    judge: Path
    server: Path


@dataclass(frozen=True, slots=True)
class Installed:
    """client, server: folders of programs of the two environments. Programs that people write are called in `folder`;
    what the server installs in `hostile`, where even its dependencies' names are taken.
    """

    client: Path
    server: Path
    folder: Path
    hostile: Path


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository."""
    return copy_repository(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def wheels(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    return Wheels(*build_wheels(tree, tmp_path_factory.mktemp("dist"), int(time.time())))


@pytest.fixture(scope="module")
def installed(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    client, server = _metadata(wheels.client), _metadata(wheels.server)
    made = Installed(
        make_environment(folder / "client", needed_by(client)),
        make_environment(folder / "server", needed_by(client, server)),
        make_hostile(tmp_path_factory.mktemp("folder"), SERVERS_OWN),
        make_hostile(tmp_path_factory.mktemp("hostile")),
    )
    install(made.client, wheels.client)
    install(made.server, wheels.client, wheels.server)
    check(made.client)
    check(made.server)
    return made


@pytest.fixture(scope="module")
def stack(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StackProcess]:
    """`slowwave up` of the server's wheel, in the hostile folder."""
    data = tmp_path_factory.mktemp("stack") / "data"
    with stack_process(data, program=installed.server / "slowwave", folder=installed.hostile) as run:
        run.ready()
        yield run


def _metadata(wheel: Path) -> Distribution:
    unpacked = wheel.parent / wheel.stem
    shutil.unpack_archive(wheel, unpacked, "zip")
    (info,) = unpacked.glob("*.dist-info")
    return Distribution.at(info)


def _files(wheel: Path) -> set[str]:
    return {str(file) for file in _metadata(wheel).files or ()}


def _run(command: list[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")} | variables
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def _python(programs: Path, code: str, folder: Path, **variables: str) -> str:
    done = _run([programs / "python", "-c", code], folder, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _slowwave(installed: Installed, *words: str, **variables: str) -> str:
    done = _run([installed.server / "slowwave", *words], installed.hostile, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_file_of_the_packages_is_in_their_wheels(tree: Path, wheels: Wheels) -> None:
    client, server = _files(wheels.client), _files(wheels.server)
    judge = {f"slowwave_judge/{model}.onnx" for model in ("model", "pairs")}
    judge |= {f"slowwave_judge/{name}.json" for name in ("tokenizer", "card", "pairs_tokenizer", "pairs")}
    assert judge <= _files(wheels.judge)
    assert wheels.judge.stat().st_size <= 25_000_000
    source = tree / "client" / "src"
    clients = {str(file.relative_to(source)) for file in (source / "slowwave").rglob("*.*") if file.is_file()}
    places = [tree / member for member in MEMBERS]
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*.*"))]
    servers = {f"slowwave_server/{file.relative_to(tree)}" for file in files if file.is_file()}
    assert len(servers) > 500
    assert clients - client == set()
    assert (servers | {"slowwave_server/__init__.py"}) - server == set()
    assert {file for file in client if not file.startswith(("slowwave/", "slowwave-"))} == set()
    assert {file for file in server if not file.startswith(("slowwave_server/", "slowwave_server-"))} == set()


def test_an_index_would_take_what_the_wheels_say_of_themselves(wheels: Wheels) -> None:
    check_metadata([wheels.client, wheels.judge, wheels.server])
    versions = {_metadata(wheel).version for wheel in (wheels.client, wheels.server)}
    assert len(versions) == 1


def test_the_clients_wheel_in_a_bare_environment_talks_to_the_stack_of_the_servers_wheel(
    installed: Installed, stack: StackProcess
) -> None:
    variables = stack.ready()
    client = site_packages(installed.client.parent)
    where = _run([installed.client / "python", "-P", "-c", WHERE], installed.hostile).stdout.split()
    assert where == [str(client / "slowwave" / "__init__.py"), "None", "None", "None"]
    _python(installed.client, SAY, installed.folder, **variables)
    assert "allergic to peanuts" in _python(installed.client, ASK, installed.folder, **variables)
    shown = _slowwave(installed, "search", "atlas", "peanuts", "--json", **variables)
    assert "allergic to peanuts" in shown


def test_every_command_to_start_with_works_in_a_folder_of_hostile_names(
    installed: Installed, stack: StackProcess, tmp_path: Path
) -> None:
    variables = stack.ready() | {"SLOWWAVE_SPOOL": str(tmp_path)}
    needed = json.loads(_slowwave(installed, "admin", "migrate", "--json", **variables))
    assert needed["before"] == needed["after"] == needed["needed"]
    command = [str(installed.server / "slowwave"), "worker", "--beat", "--concurrency", "1", "--name", "more@here"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    worker = Program(command, clean | variables, tmp_path / "worker.log", installed.hostile)
    try:
        worker.says("more@here ready.", START_SECONDS)
        worker.says("Scheduler: Sending due task slowwave.sweep_sessions", START_SECONDS)
        checks = {
            one["name"]: one for one in json.loads(_slowwave(installed, "doctor", "--json", **variables))["checks"]
        }
        assert "more@here" in checks["workers"]["finding"]
        assert {one["verdict"] for one in checks.values()} == {"ok"}, checks
    finally:
        worker.end()
    assert "was imported" not in worker.log
    logs = "".join(log.read_text(errors="replace") for log in stack.data.rglob("*.log"))
    assert "ready." in logs
    assert "was imported" not in logs + stack.output
    assert not list(installed.hostile.rglob("*.pyc")), "not even compiled"


def test_the_documents_examples_run_with_the_clients_wheel(installed: Installed, stack: StackProcess) -> None:
    shown = [block.text for block in blocks(of=ROOT / "docs" / "client.md") if "runnable" in block.info]
    assert len(shown) >= 4
    _python(installed.client, "\n".join(shown), installed.folder, **stack.ready())


def test_console_and_exporter_start_from_the_servers_wheel(
    installed: Installed, stack: StackProcess, tmp_path: Path
) -> None:
    ports = settle_ports(tmp_path / "served.json", {"console": 0, "exporter": 0})
    running = {command: _serve(installed, command, port, tmp_path, stack.ready()) for command, port in ports.items()}
    try:
        for command, path, shown in (
            ("console", "/login", "/static/console.css"),
            ("console", "/static/console.css", "{"),
            ("exporter", "/metrics", "slowwave_"),
        ):
            process, port = running[command], ports[command]
            wait_until(partial(_answered, process, port, path), START_SECONDS, f"{command} answers")
            assert shown in (_get(port, path) or ""), process.log
    finally:
        for process in running.values():
            process.end()


def _answered(process: Program, port: int, path: str) -> bool:
    return _get(port, path) is not None or process.exit_code is not None


def _serve(installed: Installed, command: str, port: int, logs: Path, variables: dict[str, str]) -> Program:
    call = [str(installed.server / "slowwave"), command, "--listen", f"127.0.0.1:{port}"]
    return Program(call, {**os.environ, **variables}, logs / f"{command}.log", installed.hostile)


def _get(port: int, path: str) -> str | None:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return None


@pytest.mark.parametrize(
    "steps",
    ["+client +server -server +server -client +client", "+server +client -client +client -server +server"],
)
def test_wheels_are_installed_and_removed_in_any_order(
    steps: str, wheels: Wheels, installed: Installed, tmp_path: Path
) -> None:
    needs = needed_by(_metadata(wheels.client), _metadata(wheels.server))
    programs = make_environment(tmp_path / "environment", needs)
    site = site_packages(tmp_path / "environment")
    known = {"client": ("slowwave", wheels.client), "server": ("slowwave-server", wheels.server)}
    there: set[str] = set()
    for step in steps.split():
        name, wheel = known[step[1:]]
        if step[0] == "+":
            install(programs, wheel)
            there.add(step[1:])
        else:
            remove(programs, name)
            there.remove(step[1:])
        for which, (_, one) in known.items():
            kept = {(site / file).is_file() for file in _files(one)}
            assert kept == {which in there}, f"files of the {which} after {step}"
        if "client" in there:
            assert "Memory" in _python(programs, "from slowwave import Memory; print(Memory)", installed.folder)
        if there == {"client", "server"}:
            check(programs)
            assert _run([programs / "slowwave", "--version"], installed.hostile).stdout.startswith("slowwave ")
        assert (programs / "slowwave").exists() == ("server" in there)
