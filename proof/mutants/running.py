"""A copy of the tree with one mutation, and the result of the tests."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.mutants.catalogue import Mutant

ROOT = Path(__file__).parents[2]
SECONDS_A_TEST = 120
SECONDS_IN_ALL = 600
_FAILED = re.compile(r"^FAILED (\S+?)(?:\[| - |$)", re.MULTILINE)
_WHERE = (
    "import slowwave; from slowwave_server import domain, services;"
    " print(slowwave.__file__, domain.__file__, services.__file__)"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one run. verdict: passed, failed (a test noticed), or broken (nothing was proved: no test ran, a
    test could not be imported, or it took too long). noticed: the first failed test. tail: the end of pytest's output.
    """

    verdict: str
    noticed: str
    seconds: float
    tail: str


def copy_tree(folder: Path) -> Path:
    """Copy the files that git knows or would add. Return the copy's root."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    for name in listed.stdout.decode().split("\0"):
        source, target = ROOT / name, folder / name
        if name and (source.is_file() or source.is_symlink()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)  # slowwave_server consists of links
    return folder


def environment(copy: Path) -> dict[str, str]:
    """Return variables with which Python imports the copy."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLOWWAVE_", "PYTEST_"))}
    data = os.environ.get("SLOWWAVE_SHARED", str(ROOT.parent / "shared"))
    return clean | {"PYTHONPATH": f"{copy}{os.pathsep}{copy / 'client' / 'src'}", "SLOWWAVE_SHARED": data}


def check_imports(copy: Path) -> None:
    """Raise RuntimeError unless all imports come from the copy, because every mutant would otherwise survive."""
    said = subprocess.run(
        [sys.executable, "-c", _WHERE], cwd=copy, env=environment(copy), capture_output=True, text=True, check=True
    )
    if outside := [file for file in said.stdout.split() if not file.startswith(str(copy))]:
        raise RuntimeError(f"the copy in {copy} is not what is imported: {outside[0]} is")


def run_tests(copy: Path, tests: Sequence[str], *, processes: int = 0) -> Outcome:
    """Run these tests in the copy, up to the first failure."""
    command = [sys.executable, "-m", "pytest", "-x", f"-n{processes}", "-p", "no:cacheprovider", "-rf"]
    limits = [f"--timeout={SECONDS_A_TEST}", "--tb=line", "--show-capture=no"]
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [*command, *limits, *tests],
            cwd=copy,
            env=environment(copy),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_IN_ALL,
        )
    except subprocess.TimeoutExpired:
        return Outcome("broken", "", time.monotonic() - begun, f"not ended within {SECONDS_IN_ALL} s")
    seconds = time.monotonic() - begun
    noticed = _FAILED.search(done.stdout)
    # 1: tests ran, and some failed. An error in a fixture or at collection does not count as a failed guarantee.
    verdict = "passed" if done.returncode == 0 else "failed" if done.returncode == 1 and noticed else "broken"
    return Outcome(verdict, noticed[1] if noticed else "", seconds, (done.stdout + done.stderr)[-2000:])


def try_mutant(mutant: Mutant, folder: Path) -> Outcome:
    """Apply one mutation in its own copy, run its tests, and remove the copy."""
    copy = copy_tree(folder)
    try:
        path = mutant.path(copy)
        path.write_text(mutant.broken(path.read_text(encoding="utf-8")), encoding="utf-8")
        return run_tests(copy, mutant.tests)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
