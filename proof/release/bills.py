"""Write bills of materials in CycloneDX: all locked packages of the client, the server and the image.

There are three bills: the packages of the client, those of the server with all run-time extras, and those that
deploy/install.sh puts into the image. Development tools are excluded. Versions and licences of the first two come from
this environment, which must be the locked one; those of the third come from an environment that is made for it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from proof.audit.pins import read_pins
from proof.release.readiness import NotReady, Release
from proof.release.wheels import unpack

NOT_RUNNING = frozenset({"dev", "docs", "release", "bench"})
"""Extras that nobody who runs Slowwave installs."""
PROJECTS = {"slowwave": Path("client", "pyproject.toml"), "slowwave-server": Path("pyproject.toml")}

Bill = dict[str, Any]
Names = set[NormalizedName]
Requires = Callable[[str], Iterable[str]]
"""What a package says that it needs, as lines with their markers."""


def installed(name: str) -> Iterable[str]:
    """Return the metadata of an installed package; empty if it is not installed, for example for another system."""
    try:
        return distribution(name).requires or ()
    except PackageNotFoundError:
        return ()


def write_bills(release: Release, into: Path) -> list[Path]:
    """Write both bills. Raises NotReady if an installed version differs from the locked one."""
    whole = environment_bill(release, Path(sys.executable), "--pyproject", str(release.root / "pyproject.toml"))
    require_locked(whole, (release.root / "requirements.lock").read_text(encoding="utf-8"))
    written = []
    for name, project in PROJECTS.items():
        described = tomllib.loads((release.root / project).read_text(encoding="utf-8"))["project"]
        bill = part_of(whole, described, release.version)
        written.append(_write(bill, into / f"{name}-{release.version}.cdx.json"))
    return written


def part_of(whole: Bill, project: Mapping[str, Any], version: str, requires: Requires = installed) -> Bill:
    """Return the part of an environment's bill that a project needs. project: the project in pyproject.toml.

    Dependencies come from the packages' metadata, because a bill's own edges follow unrequested extras.
    """
    parts = {canonicalize_name(str(component["name"])): component for component in whole["components"]}
    direct, edges = _edges(project, requires)
    refs = {name: str(parts[name]["bom-ref"]) for name in edges if name in parts}

    def known(names: Iterable[NormalizedName]) -> list[str]:
        return sorted(refs[name] for name in names if name in refs)

    root = f"{project['name']}=={version}"
    about = {"bom-ref": root, "type": "application", "name": project["name"], "version": version}
    about["licenses"] = [{"license": {"id": project["license"]}}]
    needs = [{"ref": root, "dependsOn": known(direct)}]
    needs += [{"ref": refs[name], "dependsOn": known(edges[name])} for name in sorted(refs)]
    kept = {"components": [parts[name] for name in sorted(refs)], "dependencies": needs}
    return whole | kept | {"metadata": whole["metadata"] | {"component": about}}


def _edges(project: Mapping[str, Any], requires: Requires) -> tuple[Names, dict[NormalizedName, Names]]:
    """Return the requirements of a project, in all run-time extras, and of each of these, recursively."""
    extras: Mapping[str, list[str]] = project.get("optional-dependencies", {})
    lines = [*project["dependencies"], *(line for name in extras if name not in NOT_RUNNING for line in extras[name])]
    own = canonicalize_name(project["name"])
    ahead = [one for one in _wanted(lines, "") if canonicalize_name(one.name) != own]
    direct = {canonicalize_name(one.name) for one in ahead}
    edges, seen = dict[NormalizedName, Names](), set[tuple[NormalizedName, str]]()
    while ahead:
        one = ahead.pop()
        name = canonicalize_name(one.name)
        for extra in ("", *one.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                more = _wanted(requires(name), extra)
                edges.setdefault(name, set()).update(canonicalize_name(next_one.name) for next_one in more)
                ahead += more
    return direct, edges


def _wanted(lines: Iterable[str], extra: str) -> list[Requirement]:
    named = (Requirement(line) for line in lines)
    return [one for one in named if one.marker is None or one.marker.evaluate({"extra": extra})]


def require_locked(whole: Bill, lock: str) -> None:
    """Raise NotReady if a component is locked in another version."""
    locked = {pin.name: pin.version for pin in read_pins(lock)}
    listed = {canonicalize_name(str(one["name"])): Version(str(one["version"])) for one in whole["components"]}
    other = [f"{name} {version}" for name, version in listed.items() if locked.get(name, version) != version]
    if other:
        raise NotReady(f"not the locked versions, run `make setup`: {', '.join(sorted(other))}")


def environment_bill(release: Release, python: Path, *more: str) -> Bill:
    """Return the bill of the whole environment of an interpreter. more: options of cyclonedx-py. Raises NotReady."""
    options = (*more, "--output-reproducible", "--output-file", "-")
    done = subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", "environment", *options, str(python)],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(release.epoch)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotReady(f"no bill of materials: {done.stderr[-2000:]}")
    bill: Bill = json.loads(done.stdout)
    return bill


def write_image_bill(release: Release, into: Path) -> Path:
    """Install the image's packages as its Dockerfile does, and write their bill. Raises NotReady."""
    with tempfile.TemporaryDirectory(prefix="slowwave-image-") as folder:
        tree, environment = Path(folder, "tree"), Path(folder, "slowwave")
        unpack(release, tree)
        done = subprocess.run(
            [tree / "deploy" / "install.sh", environment], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise NotReady(f"the image's packages can't be installed: {done.stderr[-2000:]}")
        whole = environment_bill(release, environment / "bin" / "python")
        require_locked(whole, (tree / "requirements.lock").read_text(encoding="utf-8"))
        bill = image_bill(whole, (tree / "deploy" / "Dockerfile").read_text(encoding="utf-8"), release.version)
    return _write(bill, into / f"slowwave-image-{release.version}.cdx.json")


def image_bill(whole: Bill, dockerfile: str, version: str) -> Bill:
    """Return the bill of an environment as the image's, with the base image as a component."""
    base = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)[-1]
    tagged, _, digest = base.partition("@sha256:")
    name, _, tag = tagged.partition(":")
    component: Bill = {"bom-ref": base, "type": "container", "name": name, "version": tag}
    if digest:
        component["hashes"] = [{"alg": "SHA-256", "content": digest}]
    about = {"bom-ref": f"slowwave:{version}", "type": "container", "name": "slowwave", "version": version}
    needs = [{"ref": about["bom-ref"], "dependsOn": sorted([base, *(one["bom-ref"] for one in whole["components"])])}]
    needs += whole["dependencies"]
    kept = {"components": [*whole["components"], component], "dependencies": needs}
    return whole | kept | {"metadata": whole["metadata"] | {"component": about}}


def _write(bill: Bill, file: Path) -> Path:
    file.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return file
