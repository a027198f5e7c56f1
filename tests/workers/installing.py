"""Bare environments with wheels and what these declare and nothing else, without a download.

Dependencies are linked out of this environment, package by package: an import that nobody declared fails.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.documents import ROOT

OURS = ("slowwave", "slowwave-server")


def copy_repository(into: Path) -> Path:
    """Copy what is in the repository, or would be: building leaves traces. Skips where there is no repository."""
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        files = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no repository: what belongs to it can't be told from what lies about")
    for file in filter(None, files):
        if (ROOT / file).is_file() or (ROOT / file).is_symlink():
            (into / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, into / file, follow_symlinks=False)
    return into


def make_environment(folder: Path, needs: Iterable[Distribution]) -> Path:
    """Make an environment that holds these packages; answer its folder of programs."""
    packages = folder / "needs"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages.mkdir()
    for found in needs:
        _link(found, packages)
    (site_packages(folder) / "needs.pth").write_text(f"{packages}\n")
    return folder / "bin"


def site_packages(folder: Path) -> Path:
    """The folder of an environment that pip installs into."""
    (site,) = folder.glob("lib/python*/site-packages")
    return site


def install(programs: Path, *wheels: Path) -> None:
    """Install wheels without their dependencies."""
    pip(programs, "install", "--no-index", "--no-deps", "--quiet", "--root-user-action=ignore", *wheels)


def remove(programs: Path, name: str) -> None:
    """Remove a distribution."""
    pip(programs, "uninstall", "--yes", "--quiet", "--root-user-action=ignore", name)


def check(programs: Path) -> None:
    """All that is declared is there, in versions that were asked for."""
    pip(programs, "check")


def needed_by(*wheels: Distribution) -> list[Distribution]:
    """The packages that wheels need without extras, all the way down, and without our own."""
    found: dict[str, Distribution] = {}
    ahead = [(line, "") for wheel in wheels for line in wheel.requires or ()]
    seen = set()
    while ahead:
        line, extra = ahead.pop()
        one = Requirement(line)
        name = canonicalize_name(one.name)
        if (line, extra) in seen or (one.marker is not None and not one.marker.evaluate({"extra": extra})):
            continue
        seen.add((line, extra))
        if name in OURS:
            continue
        found[name] = distribution(name)
        ahead += [(more, wanted) for wanted in ("", *one.extras) for more in found[name].requires or ()]
    return list(found.values())


def _link(found: Distribution, packages: Path) -> None:
    tops = {file.parts[0] for file in found.files or () if file.parts[0] not in {"..", "__pycache__"}}
    for top in tops:
        place = packages / top
        source = Path(str(found.locate_file(top)))
        if not place.exists() and source.exists() and not re.match(r"__editable__", top):
            place.symlink_to(source)


def pip(programs: Path, *arguments: str | Path) -> None:
    """Run this environment's pip on another one. Fails with what it printed."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", programs / "python", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
