"""Known vulnerabilities, from pip-audit's services or from a copy of PyPA's advisory database on this machine.

The database is https://github.com/pypa/advisory-database, with one file in OSV's format per advisory,
`vulns/PACKAGE/ID.yaml`.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from proof.audit.pins import Pin

SERVICES = ("pypi", "osv")
SECONDS = 300
_DATED = re.compile(r"^(?:modified|published): [\"']?(\d{4}-\d\d-\d\d)", re.MULTILINE)


class Finding(NamedTuple):
    """A pinned version that an advisory names. fixed: versions without it, as text."""

    pin: str
    advisory: str
    fixed: str


class Audit(NamedTuple):
    """The answer of a source. looked_at: the names of the packages that the source knows, and so could check."""

    source: str
    looked_at: frozenset[str]
    findings: tuple[Finding, ...]


def ask_services(pins: Sequence[Pin]) -> Iterator[Audit]:
    """Return the answers of pip-audit's services, one after the other; an unreachable one has checked nothing.

    pip-audit omits packages that a lock has for another system, so it gets bare names and versions.
    """
    with tempfile.TemporaryDirectory(prefix="slowwave-audit-") as folder:
        listed = Path(folder, "pins.txt")
        listed.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pins), encoding="utf-8")
        for service in SERVICES:
            command = [sys.executable, "-m", "pip_audit", "--requirement", str(listed), "--disable-pip", "--no-deps"]
            command += ["--vulnerability-service", service, "--format", "json", "--progress-spinner", "off"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
            yield read_report(service, done.stdout)


def read_report(source: str, report: str) -> Audit:
    """Read pip-audit's report. A dependency that it skipped counts as not checked, whatever its last line says."""
    try:
        entries = json.loads(report)["dependencies"]
    except (ValueError, LookupError, TypeError):
        return Audit(source, frozenset(), ())
    known = [entry for entry in entries if "skip_reason" not in entry]
    findings = [
        Finding(f"{entry['name']} {entry['version']}", found["id"], ", ".join(found["fix_versions"]))
        for entry in known
        for found in entry["vulns"]
    ]
    return Audit(source, frozenset(canonicalize_name(entry["name"]) for entry in known), tuple(findings))


def look_in(folder: Path, pins: Sequence[Pin]) -> Audit:
    """Read the advisories of a local copy of the database. Raises NotADirectoryError if the path is not a copy.

    A package outside the copy has no advisory, so with a copy every package counts as checked.
    """
    if not (folder / "vulns").is_dir():
        raise NotADirectoryError(f"{folder} has no folder vulns: a copy of PyPA's advisory database is meant")
    findings = [found for pin in pins for found in _of_package(folder / "vulns" / pin.name, pin)]
    # An old copy lacks newer advisories, so print its age.
    dates = [date for file in folder.glob("vulns/*/*.yaml") for date in _DATED.findall(file.read_text("utf-8"))]
    source = f"advisories up to {max(dates, default='an unknown day')}"
    return Audit(source, frozenset(pin.name for pin in pins), tuple(findings))


def _of_package(folder: Path, pin: Pin) -> Iterator[Finding]:
    for file in sorted(folder.glob("*.yaml")):
        advisory = yaml.safe_load(file.read_text(encoding="utf-8"))
        affected = [] if advisory.get("withdrawn") else advisory.get("affected", [])
        for part in affected:
            if canonicalize_name(part["package"]["name"]) == pin.name and _covers(part, pin.version):
                yield Finding(str(pin), advisory["id"], ", ".join(_fixes(part)))


def _covers(part: Mapping[str, Any], version: Version) -> bool:
    """Return True if a version is listed, or within one of the ranges."""
    if any(_version(listed) == version for listed in part.get("versions", [])):
        return True
    return any(_in_range(span["events"], version) for span in part.get("ranges", []) if span["type"] == "ECOSYSTEM")


def _in_range(events: Sequence[Mapping[str, Any]], version: Version) -> bool:
    """Return True if a version is in an OSV range: `introduced` starts it, `fixed` ends it, `last_affected` ends it
    after itself.
    """
    inside = False
    for event in events:
        (kind, at), *_ = event.items()
        bound = Version("0.dev0") if str(at) == "0" else _version(at)
        if bound is None:
            return True
        if kind == "introduced" and version >= bound:
            inside = True
        elif (kind == "fixed" and version >= bound) or (kind == "last_affected" and version > bound):
            inside = False
    return inside


def _fixes(part: Mapping[str, Any]) -> list[str]:
    events = [event for span in part.get("ranges", []) for event in span["events"]]
    return [str(event["fixed"]) for event in events if "fixed" in event]


def _version(text: Any) -> Version | None:
    """Parse a version. None: the text is no version, and a range with it counts as covering everything."""
    try:
        return Version(str(text))
    except InvalidVersion:
        return None
