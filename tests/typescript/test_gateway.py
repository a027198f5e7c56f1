"""The TypeScript client against a real gateway: its own process, on real servers, with something that works for it."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from examples import story
from slowwave import Settings
from slowwave_server.models.engine import make_engine
from tests.gateway.conftest import Doors, open_doors
from tests.support.documents import blocks
from tests.transports.backing import TENANT, Backing
from tests.typescript.node import CLIENT, ROOT, install, node_tests, run

_DIRTY = (
    "SELECT a.name, s.name FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE s.dirty_since IS NOT NULL"
)

pytestmark = [pytest.mark.servers, pytest.mark.long]


@contextmanager
def worked_for(backing: Backing) -> Iterator[None]:
    """Inside the block, what is recorded is flushed at once, and requests are answered."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.05):
            for agent, session in backing.sql(_DIRTY):
                with suppress(AssertionError):  # a session without a line of a user stores nothing
                    backing.flush(agent, session)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        with backing.answering():
            yield
    finally:
        over.set()
        thread.join()


@contextmanager
def served(doors: Doors) -> Iterator[str]:
    """The address of a gateway's process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    variables = {"DATABASE_URL": doors.url, "BROKER_URL": doors.settings.broker_url, "SPOOL": str(doors.settings.spool)}
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("slowwave")), "serve", "--listen", "127.0.0.1:0"],
        env=kept | {f"SLOWWAVE_{name}": value for name, value in variables.items()},
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"is at (http://\S+)", said)
        assert found is not None, said + process.stderr.read()
        yield found[1]
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def gateway(
    client: Path,
    module_database: str,
    valkey_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, str]]:
    """Variables with the address of a gateway, and a key with all rights."""
    folder = tmp_path_factory.mktemp("gateway")
    with contextmanager(open_doors)(module_database, valkey_url, folder, requests_per_second=0) as doors:
        doors.redis.flushall()
        settings = Settings(database_url=module_database, broker_url=valkey_url, spool=folder / "own")
        engine = make_engine(module_database)
        with served(doors) as url, worked_for(Backing(settings, engine, doors.redis)):
            yield {"SLOWWAVE_URL": url, "SLOWWAVE_KEY": doors.full(TENANT)}
        engine.dispose()


def test_client_speaks_to_a_real_gateway(gateway: dict[str, str]) -> None:
    node_tests("gateway", variables=gateway)


@pytest.fixture(scope="module")
def examples(client: Path) -> Path:
    """The folder of the examples, compiled."""
    folder = ROOT / "examples" / "typescript"
    install(folder)
    done = run("npm", "run", "build", folder=folder)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.mark.parametrize("name", ["fetch-host", "ai-sdk"])
def test_example_remembers_in_a_new_conversation(examples: Path, gateway: dict[str, str], name: str) -> None:
    done = run("npm", "run", "--silent", name, folder=examples, variables=gateway)
    assert done.returncode == 0, done.stdout + done.stderr
    assert story.REMEMBERS in done.stdout


PAGES = [ROOT / "docs" / "typescript.md", CLIENT / "README.md"]
PROGRAMS = [block for page in PAGES for block in blocks(of=page, info="ts") if "runnable" in block.info]


def test_programs_of_the_documents_compile_and_run(client: Path, gateway: dict[str, str]) -> None:
    install()
    folder = client / "dist" / "pages"  # below the package, which they import by its name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "node.d.ts").write_text("declare const process: { env: Record<string, string | undefined> };\n")
    for number, block in enumerate(PROGRAMS):
        (folder / f"program{number}.mts").write_text(block.text)
    tsc = ("node", "node_modules/typescript/bin/tsc", "--module", "NodeNext", "--target", "ES2022", "--strict")
    files = [str(file) for file in sorted(folder.iterdir())]
    compiled = run(*tsc, "--lib", "ES2022,DOM", "--skipLibCheck", *files)
    assert compiled.returncode == 0, compiled.stdout
    for number, block in enumerate(PROGRAMS):
        done = run("node", str(folder / f"program{number}.mjs"), variables=gateway)
        assert (done.returncode, done.stderr) == (0, ""), f"{block.name}: {done.stderr}"
    shutil.rmtree(folder)
