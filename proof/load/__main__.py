"""`python -m proof.load`: all parts one after the other, each in its own process with a time-out, then the report.

    python -m proof.load --write                    everything, into docs/proof (about 14 minutes, then 30 of memory)
    python -m proof.load --quick                    all parts in small (about 4 minutes), into a new folder
    python -m proof.load --only memory --minutes 5  one part; the others keep their results

Results are stored as load.json beside the report, after every step. A part that fails or takes too long reports this
there, keeps its measurements so far, and does not affect the others. No process is left behind.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proof.load import fairness, memory, recovery, steps
from proof.load.report import render

PARTS = ("lag", "fairness", "recovery", "memory")
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "proof"
_PART_SECONDS = {"lag": 600.0, "fairness": 600.0, "recovery": 600.0, "memory": 180.0}
_QUICK_SECONDS = {"lag": 180.0, "fairness": 150.0, "recovery": 120.0, "memory": 90.0}
"""After which a part is ended; memory: beyond its minutes. About twice what it takes on a quiet machine."""

_MEASURED = {"lag": "steps", "fairness": "stretches", "recovery": "order", "memory": "processes"}
"""What a part that was cut short must have for its section to be written."""

_END_SECONDS = 60.0
"""In which an ended part may stop its servers; on a machine that is busy that takes long."""
_BASE = 0.25
"""Of saturation: what agents offer in the parts fairness (which says why) and recovery."""

_FULL_LOAD = 40.0
"""Taken for saturation where no result tells it."""

_QUICK: dict[str, object] = {
    "memory.auto_flush.idle_seconds": 2,
    "memory.auto_flush.max_dirty_age_seconds": 10,
    "memory.auto_flush.flush_interval_seconds": 1,
}


def main() -> int:
    """Run the requested parts. Returns 1 if a part failed."""
    parser = argparse.ArgumentParser(description="what a turn waits to become memory, under load")
    parser.add_argument("--only", help="parts, with commas between: lag, fairness, recovery, memory")
    parser.add_argument("--minutes", type=float, help="of the part memory (30; 0.4 with --quick; 0 leaves it out)")
    parser.add_argument("--load", type=float, help="turns a second that count as saturation for the other parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="all of it in small: figures that nobody should quote")
    parser.add_argument("--write", action="store_true", help="write the report into docs/proof")
    parser.add_argument("--out", type=Path, help="write it into this folder (default: a new one)")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.minutes is None:
        options.minutes = 0.4 if options.quick else 30.0
    out = DOCS if options.write else options.out or Path(tempfile.mkdtemp(prefix="slowwave-load-report-"))
    out.mkdir(parents=True, exist_ok=True)
    if options.part:
        run_part(options, out)
        return 0
    parts = options.only.split(",") if options.only else [p for p in PARTS if p != "memory" or options.minutes]
    if unknown := set(parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    failed = [part for part in parts if not in_a_process(part, options, out)]
    print(f"report: {out / 'load.md'}")
    return 1 if failed else 0


def in_a_process(part: str, options: argparse.Namespace, out: Path) -> bool:
    """Run one part and rewrite the report. Returns False if the part failed."""
    print(f"== {part}", flush=True)
    before = read(out).get(part, {})
    given = {"--minutes": options.minutes, "--load": options.load, "--seed": options.seed}
    command = [sys.executable, "-m", "proof.load", "--part", part, "--out", str(out)]
    command += [word for name, value in given.items() if value is not None for word in (name, str(value))]
    command += ["--quick"] if options.quick else []
    bounds = _QUICK_SECONDS if options.quick else _PART_SECONDS
    allowed = bounds[part] + (options.minutes * 60 if part == "memory" else 0)
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
        try:
            code: int | str = process.wait(allowed)
        except subprocess.TimeoutExpired:
            code = f"was ended after {allowed:.0f} s"
        finally:
            _end(process)
    results = read(out)
    if code != 0:
        why = code if isinstance(code, str) else f"ended with code {code}"
        results[part] = cut_short(part, before, results.get(part, {}), f"the part {why}")
        keep(out, results)
    write_report(out, results)
    return code == 0


def cut_short(part: str, before: dict[str, Any], left: dict[str, Any], why: str) -> dict[str, Any]:
    """Return the result of a failed part: its measurements so far, if they suffice for a section.

    before: the result before the start; if it is unchanged, the part measured nothing.
    """
    if left and left != before and left.get(_MEASURED[part]):
        return left | {"cut": why}
    return {"error": why}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Interrupt a part's process, which then stops its servers; if it does not end in time, kill its process group.

    Servers do not survive a killed part: each server has a guardian process, which ends the server when the part is
    dead.
    """
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def run_part(options: argparse.Namespace, out: Path) -> None:
    """Run one part in this process; store its result after every step."""
    part, seed = options.part, options.seed
    known: dict[str, Any] = {
        "at": f"{datetime.now(UTC):%d %B %Y}",
        "machine": machine(),
        "quick": options.quick,
    }

    def save(result: dict[str, Any]) -> None:
        keep(out, read(out) | {part: known | result})

    changed: dict[str, object] = _QUICK if options.quick else {}
    carried = options.load or saturation_of(read(out))
    if part == "lag":
        small = steps.Size(seconds=12, warm_up=3, first=10, factor=3, closeness=2, steps=3, settle=20, enough=45)
        steps.measure(small if options.quick else steps.Size(), changed=changed, seed=seed, save=save)
    elif part == "fairness":
        few = fairness.Size(seconds=8, rounds=1, settle=20, warm_up=3)
        size = few if options.quick else fairness.Size()
        fairness.measure(size, load=carried * _BASE, changed=changed, seed=seed, save=save)
    elif part == "recovery":
        short = recovery.Size(hour=90, fresh=6, settle=40)
        hour = short if options.quick else recovery.Size()
        recovery.measure(hour, load=carried * _BASE, changed=changed, seed=seed, save=save)
    else:
        save(memory.measure(load=carried / 2, minutes=options.minutes, seed=seed))


def saturation_of(results: dict[str, Any]) -> float:
    """Return the highest load that the part lag found to be carried, if any."""
    return float(results.get("lag", {}).get("saturation") or _FULL_LOAD)


def machine() -> dict[str, str]:
    """Describe the machine in words."""
    names = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    sizes = [line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    memory_gb = f", {int(sizes[0]) / 1024 / 1024:.0f} GB" if sizes else ""
    cores = f"{os.cpu_count()} cores ({names[0] if names else platform.machine()})"
    return {"text": f"{cores}{memory_gb}, {platform.system()} {platform.release()}, Python {platform.python_version()}"}


def _lines(file: str) -> list[str]:
    path = Path(file)
    return path.read_text("utf-8").splitlines() if path.exists() else []


def read(out: Path) -> dict[str, Any]:
    """Return the results in a folder."""
    file = out / "load.json"
    results: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return results


def keep(out: Path, results: dict[str, Any]) -> None:
    """Replace the results of a folder in one step."""
    draft = out / "load.json.draft"
    draft.write_text(json.dumps(results), encoding="utf-8")
    draft.replace(out / "load.json")


def write_report(out: Path, results: dict[str, Any]) -> None:
    """Draw the plots and write the report from the available results."""
    from proof.load.plots import draw  # noqa: PLC0415 (matplotlib, which each process of the test suite would import)

    (out / "load.md").write_text(render(results, draw(results, out)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
