"""`python -m proof.audit [--lock FILE]… [--strict]`: known vulnerabilities in pinned packages.

Exit codes: 0 no vulnerability found (if no package could be checked, the last line says NOT AUDITED), 1 a vulnerability
found, 2 the lock does not pin a version, 3 with --strict: a package could not be checked.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from proof.audit.advisories import Audit, ask_services
from proof.audit.pins import NotPinned, Pin, read_pins

ROOT = Path(__file__).parents[2]
LOCKS = (ROOT / "requirements.lock", ROOT / "requirements-build.lock")
NAMED = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m proof.audit", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--lock", type=Path, action="append", help="what pins versions; default: both locks of the root"
    )
    parser.add_argument("--strict", action="store_true", help="exit 3 unless every package was looked at")
    options = parser.parse_args(arguments)
    try:
        pins = [pin for lock in options.lock or LOCKS for pin in read_pins(lock.read_text(encoding="utf-8"))]
    except NotPinned as error:
        print(f"audit: {error}", file=sys.stderr)
        return 2
    return conclude(pins, ask_services(pins), strict=options.strict)


def conclude(pins: Sequence[Pin], audits: Iterable[Audit], *, strict: bool) -> int:
    """Print the findings and the number of unchecked packages. Stops asking when all packages are checked."""
    unknown = {pin.name for pin in pins}
    findings, sources = set(), []
    for audit in audits:
        print(f"{audit.source}: looked at {len(audit.looked_at & {pin.name for pin in pins})} of {len(pins)} packages")
        unknown -= audit.looked_at
        findings |= set(audit.findings)
        sources += [audit.source] if audit.looked_at else []
        if not unknown:
            break
    for found in sorted(findings):
        print(f"  {found.pin}: {found.advisory}, fixed in {found.fixed or 'no version yet'}")
    if findings:
        print(f"FOUND: {len(findings)} known vulnerabilities")
        return 1
    if unknown:
        named = ", ".join(sorted(unknown)[:NAMED])
        more = f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
        print(f"NOT AUDITED: {len(unknown)} of {len(pins)} packages; no advisories could be had for {named}{more}")
        return 3 if strict else 0
    print(f"AUDITED by {', '.join(sources)}: no known vulnerability in {len(pins)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
