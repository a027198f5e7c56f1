"""Node, and the TypeScript client built with it; tests are skipped, with the reason, where this machine has neither."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
OLDEST = 20
SECONDS = 180
_CI = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def run(
    *command: str, folder: Path = CLIENT, variables: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. Its output is text, and its exit code is the caller's to judge."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=os.environ | (variables or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as late:
        said = b"".join(text for text in (late.stdout, late.stderr) if isinstance(text, bytes)).decode(errors="replace")
        raise AssertionError(f"{' '.join(command)} did not end within {seconds:g} s:\n{said[-8000:]}") from None


def find_node() -> None:
    """Skip the test where Node or npm is missing, or too old."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: apt-get install nodejs npm, or https://nodejs.org")
    version = run("node", "--version").stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < OLDEST:
        pytest.skip(f"the client needs Node {OLDEST} or newer, this is {version}")


def install(folder: Path = CLIENT) -> None:
    """Install what the lock of a folder names, unless that is there; skip the test where no registry can be reached."""
    lock = (folder / "package-lock.json").read_bytes()
    mark = folder / "node_modules" / ".installed"
    digest = hashlib.sha256(lock).hexdigest()
    if mark.exists() and mark.read_text() == digest:
        return
    done = run(*_CI, folder=folder)
    if done.returncode:
        pytest.skip(f"npm can't install what {folder.name} needs: {done.stderr.strip()[-300:]}")
    mark.write_text(digest)


def build() -> None:
    """Build the client, unless what is in dist/ was built from these very files."""
    find_node()
    with (CLIENT / ".lock").open("w") as lock:  # runs side by side build once
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources = [*sorted((CLIENT / "src").glob("*.ts")), *(CLIENT / name for name in ("build.mjs", "tsconfig.json"))]
        digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in sources)).hexdigest()
        mark = CLIENT / ".built"
        if mark.exists() and mark.read_text() == digest and (CLIENT / "dist").exists():
            return
        install()
        done = run("npm", "run", "build")
        assert done.returncode == 0, done.stdout + done.stderr
        mark.write_text(digest)


def node_tests(*names: str, variables: Mapping[str, str] | None = None) -> None:
    """Run files of the client's tests with Node's own runner. Fails with its report."""
    files = [f"test/{name}.test.mjs" for name in names]
    done = run("node", "--test", "--test-concurrency=3", "--test-reporter=spec", *files, variables=variables)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
