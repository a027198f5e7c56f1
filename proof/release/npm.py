"""Pack the npm package of the TypeScript client from a commit's own files, twice, and compare the two byte for byte."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from proof.release.readiness import NotReady, Release
from proof.release.wheels import BuildFailed, digest, unpack

PROJECT = Path("clients", "typescript")
COMMANDS = (
    ("npm", "ci", "--ignore-scripts"),  # each file must have the digest in package-lock.json
    ("npm", "run", "build"),
    ("npm", "pack", "--ignore-scripts"),  # the script that it would run is the build
)


def npm_version(version: str) -> str:
    """Return a version in npm's form: 1.2.0rc1 becomes 1.2.0-rc.1."""
    names = {"a": "alpha", "b": "beta", "rc": "rc"}
    return re.sub(r"(a|b|rc)(\d+)$", lambda found: f"-{names[found[1]]}.{found[2]}", version)


def pack_twice(release: Release, into: Path) -> Path:
    """Put the package into a folder. Raises BuildFailed, and NotReady if its version differs from the release's."""
    with tempfile.TemporaryDirectory(prefix="slowwave-npm-") as folder:
        once, again = Path(folder, "once"), Path(folder, "again", "in a longer path")
        packed = []
        for copy in (once, again):
            unpack(release, copy)
            packed.append(pack(copy / PROJECT, release.version))
        first, second = packed
        if digest(first) != digest(second):
            raise BuildFailed(f"{first.name} packed twice has not the same bytes")
        return Path(shutil.copy(first, into))


def pack(project: Path, version: str) -> Path:
    """Pack a private copy of the files. Return the package. Raises BuildFailed, NotReady."""
    said = str(json.loads((project / "package.json").read_text(encoding="utf-8"))["version"])
    if said != npm_version(version):
        raise NotReady(f"{PROJECT}/package.json has the version {said}, the release is {npm_version(version)}")
    if shutil.which("npm") is None:
        raise BuildFailed("npm is not installed: apt-get install nodejs npm (Node 20 or newer)")
    for command in COMMANDS:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildFailed(f"`{' '.join(command)}` failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return project / f"slowwave-{said}.tgz"
