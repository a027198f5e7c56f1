"""Bare environments with a wheel and what it needs and nothing else, without downloading anything.

What it needs is linked out of this environment, package by package: an import that nobody declared fails.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = ("slowwave", "slowwave-service")


def install(wheel: Path, folder: Path, needs: Iterable[Distribution]) -> Path:
    """Make an environment; answer its folder of programs."""
    packages, programs = folder / "needs", folder / "bin"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages.mkdir()
    for found in needs:
        _link(found, packages)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "needs.pth").write_text(f"{packages}\n")
    _pip(programs / "python", "install", "--no-index", "--no-deps", "--quiet", "--root-user-action=ignore", wheel)
    return programs


def check(programs: Path) -> None:
    """All that is declared is there, in versions that were asked for."""
    _pip(programs / "python", "check")


def needed_by(wheel: Distribution) -> list[Distribution]:
    """What a package needs without extras, all the way down."""
    found: dict[str, Distribution] = {}
    ahead = [(line, "") for line in wheel.requires or ()]
    seen = set()
    while ahead:
        line, extra = ahead.pop()
        one = Requirement(line)
        name = canonicalize_name(one.name)
        if (line, extra) in seen or (one.marker is not None and not one.marker.evaluate({"extra": extra})):
            continue
        seen.add((line, extra))
        found[name] = distribution(name)
        ahead += [(more, wanted) for wanted in ("", *one.extras) for more in found[name].requires or ()]
    return list(found.values())


def everything_else() -> list[Distribution]:
    """All that is installed here but for what is ours."""
    return [one for one in distributions() if canonicalize_name(one.metadata["Name"]) not in OURS]


def _link(found: Distribution, packages: Path) -> None:
    tops = {file.parts[0] for file in found.files or () if file.parts[0] not in {"..", "__pycache__"}}
    for top in tops:
        place = packages / top
        source = Path(str(found.locate_file(top)))
        if not place.exists() and source.exists() and not re.match(r"__editable__", top):
            place.symlink_to(source)


def _pip(python: Path, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
