"""`python -m proof.sizing [report]`: measure unit costs and write the report, or only write it from measured costs."""

import argparse
import sys
from pathlib import Path

from proof.sizing.costs import load_costs
from proof.sizing.measuring import measure
from proof.sizing.needs import Assumed
from proof.sizing.report import written

FOLDER = Path(__file__).parents[2] / "docs" / "proof"
COSTS, REPORT = "sizing-costs.json", "sizing.md"


def main() -> int:
    """Measure if requested, and write the report. Returns the exit code."""
    options = _options()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    if options.what is None:
        measure(options.flushes).save(folder / COSTS)
    if not (folder / COSTS).exists():
        print(f"{folder / COSTS} is missing: run python -m proof.sizing", file=sys.stderr)
        return 2
    assumed = Assumed(
        turns_per_flush=options.turns_per_flush,
        peak=options.peak,
        model_seconds=options.model_seconds,
        tokens=options.tokens,
    )
    (folder / REPORT).write_text(written(load_costs(folder / COSTS), assumed), encoding="utf-8")
    print(folder / REPORT)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.sizing", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("report",))
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder of the numbers and the report")
    parser.add_argument("--flushes", type=int, default=2000, help="flushes measured for each size")
    usual = Assumed()
    parser.add_argument("--turns-per-flush", type=float, default=usual.turns_per_flush)
    parser.add_argument("--peak", type=float, default=usual.peak)
    parser.add_argument("--model-seconds", type=float, default=usual.model_seconds)
    parser.add_argument("--tokens", type=float, default=usual.tokens)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
