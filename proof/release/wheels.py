"""Build the wheels of client, judge and server from a commit's own files, twice, and compare them byte for byte."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from proof.release.readiness import Release

CONSTRAINTS = Path(__file__).parents[2] / "requirements-build.lock"
"""The one version of what builds, and its digests: another one may write other bytes."""
PROJECTS = ("client", "judge", ".")
SUMS = "SHA256SUMS"


class BuildFailed(Exception):
    """A wheel could not be built, or its two builds differ; the message names it."""


def build_twice(release: Release, into: Path) -> list[Path]:
    """Put the wheels into a folder. Raises BuildFailed."""
    with tempfile.TemporaryDirectory(prefix="slowwave-release-") as folder:
        once, again = Path(folder, "once"), Path(folder, "again", "in a longer path")
        for copy in (once, again):
            unpack(release, copy / "tree")
            build_wheels(copy / "tree", copy / "dist", release.epoch)
        built = sorted((once / "dist").glob("*.whl"))
        for wheel in built:
            if digest(wheel) != digest(again / "dist" / wheel.name):
                raise BuildFailed(f"{wheel.name} built twice has not the same bytes")
        return [Path(shutil.copy(wheel, into)) for wheel in built]


def build_wheels(tree: Path, into: Path, epoch: int) -> list[Path]:
    """Build them from a private copy of the files, because building leaves traces. Raises BuildFailed."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    environment |= {"PIP_CONSTRAINT": str(CONSTRAINTS), "UV_CONSTRAINT": str(CONSTRAINTS)}
    # uv uses the machine's certificates, as pip and the set-up do.
    environment |= {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
    installer = "uv" if Path(sys.executable).with_name("uv").exists() else "pip"
    options = ("--wheel", "--installer", installer, "--outdir", str(into))
    for project in PROJECTS:
        command = [sys.executable, "-m", "build", *options, str(tree / project)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildFailed(f"the wheel of {project!r} was not built:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return sorted(into.glob("*.whl"))


def check_metadata(wheels: Iterable[Path]) -> None:
    """Raise BuildFailed for metadata that an index would refuse or show wrongly."""
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, wheels)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildFailed(f"metadata: {done.stdout}{done.stderr}")


def write_sums(into: Path, files: Iterable[Path]) -> dict[str, str]:
    """Write the file of digests. Return the digests by file name."""
    sums = {file.name: digest(file) for file in files}
    lines = [f"{digest}  {name}\n" for name, digest in sorted(sums.items())]
    (into / SUMS).write_text("".join(lines), encoding="ascii")
    return sums


def digest(file: Path) -> str:
    """Return the SHA-256, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def unpack(release: Release, folder: Path) -> None:
    """Make a folder of the commit's files."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["git", "-C", str(release.root), "archive", "--format=tar", release.commit]
    packed = subprocess.run(command, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed, check=True)
