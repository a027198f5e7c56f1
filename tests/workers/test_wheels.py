"""Both wheels as others get them: the client's in a bare environment, talking to a stack that the service's runs.

Nothing is downloaded but what builds the wheels: dependencies are linked out of this environment.
"""

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
from tests.documents import blocks
from tests.processes import wait_until
from tests.workers.installing import check, everything_else, install, needed_by
from tests.workers.stack_process import ROOT, StackProcess, stack_process

pytestmark = [pytest.mark.drill, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(300)]

START_SECONDS = 120
PACKAGES = ("client/src/slowwave", "domain", "models", "services", "tasks", "workers", "beat_schedule.py")
WHERE = "import slowwave, importlib.util as u; print(slowwave.__file__, u.find_spec('workers'), u.find_spec('celery'))"
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
class Installed:
    """Folders of programs of both environments, and the folder that all is called from."""

    client: Path
    service: Path
    folder: Path


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is in the repository, or would be: building leaves traces."""
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        files = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no repository: what belongs to it can't be told from what lies about")
    tree = tmp_path_factory.mktemp("tree")
    for file in filter(None, files):
        if (ROOT / file).is_file():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, tree / file)
    return tree


@pytest.fixture(scope="module")
def wheels(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The client's, and the service's."""
    return build_wheels(tree, tmp_path_factory.mktemp("dist"), int(time.time()))


@pytest.fixture(scope="module")
def installed(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    client, service = wheels
    needs = needed_by(_metadata(client))
    programs = Installed(
        install(client, folder / "client", needs), install(service, folder / "service", everything_else()), folder
    )
    check(programs.client)
    return programs


@pytest.fixture(scope="module")
def stack(installed: Installed) -> Iterator[StackProcess]:
    """`slowwave up` of the service's wheel."""
    program = installed.service / "slowwave"
    with stack_process(installed.folder / "data", "--no-flower", program=program, folder=installed.folder) as run:
        run.ready()
        yield run


def _metadata(wheel: Path) -> Distribution:
    unpacked = wheel.parent / wheel.stem
    shutil.unpack_archive(wheel, unpacked, "zip")
    (info,) = unpacked.glob("*.dist-info")
    return Distribution.at(info)


def _python(programs: Path, code: str, folder: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")} | variables
    command = [programs / "python", "-c", code]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_of_the_packages_is_in_their_wheels(tree: Path, wheels: list[Path]) -> None:
    client, service = ({str(file) for file in _metadata(wheel).files or ()} for wheel in wheels)
    files = [file for place in PACKAGES for file in ([tree / place] if "." in place else (tree / place).rglob("*.*"))]
    ours = {str(file.relative_to(tree)).removeprefix("client/src/") for file in files if file.is_file()}
    assert ours - service == set()
    assert {file for file in ours if file.startswith("slowwave/")} - client == set()
    assert not {file for file in client if not file.startswith(("slowwave/", "slowwave-"))}


def test_an_index_would_take_what_the_wheels_say_of_themselves(wheels: list[Path]) -> None:
    check_metadata(wheels)
    versions = {_metadata(wheel).version for wheel in wheels}
    assert len(versions) == 1


def test_the_clients_wheel_in_a_bare_environment_talks_to_the_stack_of_the_services_wheel(
    installed: Installed, stack: StackProcess
) -> None:
    folder, variables = installed.folder, stack.ready()
    assert _python(installed.client, WHERE, folder).split() == [
        str(next((folder / "client").glob("lib/*/site-packages/slowwave/__init__.py"))),
        *("None", "None"),
    ]
    assert f"{folder}/service/lib" in _python(installed.service, "import workers; print(workers.__file__)", folder)
    _python(installed.client, SAY, folder, **variables)
    assert "allergic to peanuts" in _python(installed.client, ASK, folder, **variables)


def test_the_documents_examples_run_with_the_clients_wheel(installed: Installed, stack: StackProcess) -> None:
    shown = [block.text for block in blocks(of=ROOT / "docs" / "client.md") if "runnable" in block.info]
    assert len(shown) >= 4
    _python(installed.client, "\n".join(shown), installed.folder, **stack.ready())


def test_console_and_exporter_start_from_the_services_wheel(installed: Installed, stack: StackProcess) -> None:
    ports = settle_ports(installed.folder / "served.json", {"console": 0, "exporter": 0})
    running = {command: _serve(installed, command, port, stack.ready()) for command, port in ports.items()}
    try:
        for command, path, shown in (
            ("console", "/login", "/static/console.css"),
            ("console", "/static/console.css", "{"),
            ("exporter", "/metrics", "slowwave_"),
        ):
            process, port = running[command], ports[command]
            wait_until(partial(_answered, process, port, path), START_SECONDS, f"{command} answers")
            log = (installed.folder / f"{command}.log").read_text()
            assert shown in (_get(port, path) or ""), log
    finally:
        for process in running.values():
            process.terminate()
            process.wait(START_SECONDS)


def _answered(process: "subprocess.Popen[bytes]", port: int, path: str) -> bool:
    return _get(port, path) is not None or process.poll() is not None


def _serve(installed: Installed, command: str, port: int, variables: dict[str, str]) -> "subprocess.Popen[bytes]":
    call = [installed.service / "slowwave", command, "--listen", f"127.0.0.1:{port}"]
    with (installed.folder / f"{command}.log").open("wb") as out:
        return subprocess.Popen(call, cwd=installed.folder, env=os.environ | variables, stdout=out, stderr=out)


def _get(port: int, path: str) -> str | None:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return None
