"""Each example runs as its README says: servers of its own, two conversations, no network, and nothing left behind."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from examples import story

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*_memory.py"))

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_remembers_and_leaves_nothing_behind(example: str) -> None:
    # Whatever would go to the network goes nowhere: a proxy that nobody is.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:1")
    command = [sys.executable, "-m", f"examples.{example}"]
    # Not pytest's own folder: another run may close it to the user that Postgres runs as.
    with tempfile.TemporaryDirectory(prefix="examples-") as folder:
        Path(folder).chmod(0o755)
        environment = os.environ | nowhere | {"TMPDIR": folder}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=200
        )
        assert done.returncode == 0, done.stderr
        assert story.REMEMBERS in done.stdout
        assert list(Path(folder).glob("slowwave-*")) == []


def test_every_example_is_in_the_readme() -> None:
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [name for name in EXAMPLES if f"make example NAME={name.removesuffix('_memory')}" not in readme] == []
