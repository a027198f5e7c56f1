"""Each example runs as its README says: servers of its own, two conversations, no network, and nothing left behind."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples import story
from tests.typescript.node import build, install

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*_memory.py"))
REPORTING = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "x", "AGNO_TELEMETRY": "true", "OPENAI_API_KEY": "x"}

pytestmark = [pytest.mark.servers, pytest.mark.workers]


# One of them in CI's every run: what each framework's example does is tested beside its framework, too.
EACH = [
    pytest.param(name, marks=pytest.mark.long if name.startswith("langgraph") else pytest.mark.drill)
    for name in EXAMPLES
]


RUNTIME = b"events.data.microsoft.com"
"""onnxruntime tells its maker that it was loaded, before anybody can switch that off."""


def _knocks(network: socket.socket) -> Iterator[bytes]:
    """What each connection that waits here said first."""
    while True:
        try:
            knock, _ = network.accept()
        except BlockingIOError:
            return
        with knock:
            knock.settimeout(5)
            yield knock.recv(300)


@pytest.mark.parametrize("example", EACH)
def test_an_example_remembers_and_leaves_nothing_behind(example: str) -> None:
    if example == "typescript_memory":  # what it would install is there before the network is taken away
        build()
        install(ROOT / "examples" / "typescript")
    command = [sys.executable, "-m", f"examples.{example}"]
    # Not pytest's own folder: another run may close it to the user that Postgres runs as.
    with tempfile.TemporaryDirectory(prefix="examples-") as folder, socket.create_server(("127.0.0.1", 0)) as network:
        # Whatever would go to the network knocks here, and a reader may have told frameworks to report their runs.
        proxies = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        nowhere = dict.fromkeys(proxies, f"http://127.0.0.1:{network.getsockname()[1]}")
        network.setblocking(False)
        Path(folder).chmod(0o755)
        environment = os.environ | nowhere | REPORTING | {"TMPDIR": folder}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=200
        )
        assert done.returncode == 0, done.stderr
        assert story.REMEMBERS in done.stdout
        if example != "agno_memory":  # workers read Agno's store, which has no names of people
            known = done.stdout.partition("What the agent knows")[2]
            assert story.PERSON in known
            assert "the user" not in known.lower()
        assert list(Path(folder).glob("slowwave-*")) == []
        assert [said for said in _knocks(network) if RUNTIME not in said] == []


def test_every_example_is_in_the_readme() -> None:
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [name for name in EXAMPLES if f"make example NAME={name.removesuffix('_memory')}" not in readme] == []


def test_an_example_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    command = ["make", "--no-print-directory", "--assume-old=setup", "example", "NAME=none"]
    # Where make runs this test, its own flags are not for the one that is started here.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert sorted(done.stdout.removeprefix("NAME is one of: ").split()) == [
        name.removesuffix("_memory") for name in EXAMPLES
    ]
