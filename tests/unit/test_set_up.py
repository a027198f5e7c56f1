"""`make setup`: a line a step, with its seconds and the size of the environment; a failure ends it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = (
    "pyproject.toml",
    "client/pyproject.toml",
    "judge/pyproject.toml",
    "requirements.lock",
    "requirements-build.lock",
)
# An interpreter that makes an environment of itself and of a uv, and installs nothing.
STUB = """#!/bin/sh
case "$*" in
"-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python && cp "$0" .venv/bin/uv ;;
"-m pip check --quiet") exit ${CHECK_FAILS:-0} ;;
esac
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with all that the set-up reads, and an interpreter that does nothing."""
    for name in (*FILES, "Makefile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    stub = tmp_path / "python"
    stub.write_text(STUB)
    stub.chmod(0o755)
    return tmp_path


def _set_up(clone: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "setup", f"PYTHON={clone}/python"],
        cwd=clone,
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_set_up_tells_each_step_with_time_and_size(clone: Path) -> None:
    done = _set_up(clone)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line[:3] for line in lines] == ["1/5", "2/5", "3/5", "4/5", "5/5"]
    assert [line for line in lines if not re.search(r" \d+ s +\d+ MB$", line)] == []
    assert re.search(r"install \d{3} packages", lines[2])
    assert "/5" not in _set_up(clone).stdout, "an environment that is ready is not made again"


def test_set_up_ends_at_the_step_that_fails(clone: Path) -> None:
    done = _set_up(clone, CHECK_FAILS="1")
    assert done.returncode != 0
    assert not re.search(r"5/5.* MB", done.stdout)
    assert not (clone / ".venv" / "ready").exists()
