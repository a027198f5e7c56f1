"""`python -m proof.sizing [measure | check | run | report]`: how many workers a load needs, measured, checked, run.

Must not know: how any of it is done.
"""

import argparse
import sys
from pathlib import Path

from proof.sizing.measuring import measure

FOLDER = Path(__file__).parents[2] / "docs" / "proof"
COSTS = "sizing-costs.json"


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m proof.sizing", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("measure", "check", "run", "report"))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--flushes", type=int, default=2000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.what in (None, "measure"):
        measure(options.flushes).save(options.folder / COSTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
