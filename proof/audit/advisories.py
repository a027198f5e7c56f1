"""Known vulnerabilities, from pip-audit's services."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from proof.audit.pins import Pin

SERVICES = ("pypi", "osv")
SECONDS = 300


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
