"""Bills of materials: all that the client and the server bring along, as it is locked, as CycloneDX.

One for each: what the client needs, and what the server needs with all extras that run. Tools of development are left
out. Versions and licences are those of this environment, which must be the locked one.

Must not know: how a wheel is built.
"""

import json
import os
import subprocess
import sys
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

NOT_RUNNING = frozenset({"dev", "docs", "release", "bench"})
"""Extras that nobody who runs Slowwave installs."""
PROJECTS = {"slowwave": Path("client", "pyproject.toml"), "slowwave-server": Path("pyproject.toml")}

Bill = dict[str, Any]
Names = set[NormalizedName]
Requires = Callable[[str], Iterable[str]]
"""What a package says that it needs, as lines with their markers."""


def installed(name: str) -> Iterable[str]:
    """As a package says that is installed here; nothing of one that is not, as where it is for another system."""
    try:
        return distribution(name).requires or ()
    except PackageNotFoundError:
        return ()


def write_bills(release: Release, into: Path) -> list[Path]:
    """Write both. Raises NotReady where something is installed that is not the locked version."""
    whole = _environment(release)
    require_locked(whole, (release.root / "requirements.lock").read_text(encoding="utf-8"))
    written = []
    for name, project in PROJECTS.items():
        described = tomllib.loads((release.root / project).read_text(encoding="utf-8"))["project"]
        bill = part_of(whole, described, release.version)
        file = into / f"{name}-{release.version}.cdx.json"
        file.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        written.append(file)
    return written


def part_of(whole: Bill, project: Mapping[str, Any], version: str, requires: Requires = installed) -> Bill:
    """What a project needs, of the bill of an environment in which it is installed. project: as pyproject.toml says.

    Who needs whom is said by the packages themselves: a bill's own edges follow extras that nobody asked for.
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
    """What a project names as needed, in all extras that run; and what each of these needs, all the way down."""
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
    """Raise NotReady where a component is locked in another version."""
    locked = {pin.name: pin.version for pin in read_pins(lock)}
    listed = {canonicalize_name(str(one["name"])): Version(str(one["version"])) for one in whole["components"]}
    other = [f"{name} {version}" for name, version in listed.items() if locked.get(name, version) != version]
    if other:
        raise NotReady(f"not the locked versions, run `make setup`: {', '.join(sorted(other))}")


def _environment(release: Release) -> Bill:
    """The bill of this whole environment."""
    project = release.root / "pyproject.toml"
    options = ("--pyproject", str(project), "--output-reproducible", "--output-file", "-")
    done = subprocess.run(
        [sys.executable, "-m", "cyclonedx_py", "environment", *options, sys.executable],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(release.epoch)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotReady(f"no bill of materials: {done.stderr[-2000:]}")
    bill: Bill = json.loads(done.stdout)
    return bill
