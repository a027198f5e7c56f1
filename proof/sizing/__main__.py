"""`python -m proof.sizing [measure | check | report]`: measure unit costs, check the simulation, write the report.

Without an argument it does all three. Each part stores its numbers as JSON beside the report, so you can repeat one.

Must not know: how any of it is done.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from proof.sizing.checking import Compared, check
from proof.sizing.costs import Costs, load_costs
from proof.sizing.measuring import measure
from proof.sizing.needs import Assumed
from proof.sizing.plots import plot_check
from proof.sizing.report import written

FOLDER = Path(__file__).parents[2] / "docs" / "proof"
COSTS, CHECKED, REPORT = "sizing-costs.json", "sizing-check.json", "sizing.md"
DERIVED = {"ratio", "near"}


def main() -> int:
    """Run the requested parts. Returns the exit code."""
    options = _options()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    if options.what in (None, "measure"):
        measure(options.flushes).save(folder / COSTS)
    if not (folder / COSTS).exists():
        print(f"{folder / COSTS} is missing: python -m proof.sizing measure", file=sys.stderr)
        return 2
    costs = load_costs(folder / COSTS)
    if options.what in (None, "check"):
        _check(costs, options.seconds, folder / CHECKED)
    _report(costs, folder, options)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.sizing", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("measure", "check", "report"))
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder of the numbers and the report")
    parser.add_argument("--flushes", type=int, default=2000, help="flushes measured for each size")
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of each checked load")
    usual = Assumed()
    parser.add_argument("--turns-per-flush", type=float, default=usual.turns_per_flush)
    parser.add_argument("--peak", type=float, default=usual.peak)
    parser.add_argument("--model-seconds", type=float, default=usual.model_seconds)
    parser.add_argument("--tokens", type=float, default=usual.tokens)
    return parser.parse_args()


def _check(costs: Costs, seconds: float, file: Path) -> None:
    rows = []
    for row in check(costs, seconds):
        print(
            f"{row.processes} processes at {row.load:.0%}: {row.what} {row.measured:.2f} {row.unit},"
            f" model {row.modelled:.2f}, ratio {row.ratio:.2f}{'' if row.near else ' (not near)'}",
            flush=True,
        )
        rows.append(row.to_json())
        file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def _report(costs: Costs, folder: Path, options: argparse.Namespace) -> None:
    rows = [
        Compared(**{name: value for name, value in row.items() if name not in DERIVED})
        for row in _kept(folder / CHECKED)
    ]
    if rows:
        plot_check(rows, folder / "sizing-check.png")
    assumed = Assumed(
        turns_per_flush=options.turns_per_flush,
        peak=options.peak,
        model_seconds=options.model_seconds,
        tokens=options.tokens,
    )
    (folder / REPORT).write_text(written(costs, rows, assumed), encoding="utf-8")
    print(folder / REPORT)


def _kept(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return rows


if __name__ == "__main__":
    sys.exit(main())
