"""`python -m proof.redaction [--data FOLDER] [--write]`: recall and false alarms of the redaction of secrets.

Exit codes: 0 all bars are reached, 1 one is not. --write: also write docs/proof/redaction.md. Without the folder of
data sets, only the hard sentences of this project are read, and the page says so.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.machine import machine
from proof.redaction.cases import cases, kinds
from proof.redaction.independent import independent_cases, independent_ordinary
from proof.redaction.measure import EXAMPLES, Alarms, Recall, measure_alarms, measure_recall
from proof.redaction.ordinary import hard, sentences
from proof.redaction.report import page
from slowwave_server.domain.redaction import redact

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "proof" / "redaction.md"
SEED = 7
LEAST_RECALL = 0.95
MOST_ALARMS = 1.0
FEWEST = 500
"""Of fewer sentences a share per thousand says little."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the page, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m proof.redaction", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="public data sets of ordinary conversations")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed makes other values")
    parser.add_argument("--write", action="store_true", help="write the page, too")
    options = parser.parse_args(arguments)
    held, fit = (measure_recall(cases(half, options.seed), _shown) for half in ("held", "fit"))
    others = measure_recall(independent_cases(), _shown)
    alarms = _alarms(options.data, options.seed)
    broken = list(_broken(held, alarms))
    told = page(machine(), held, fit, others, alarms, kinds(), _bars(broken, options.data))
    print(told)
    for one in alarms:
        for text in one.spoilt[:EXAMPLES]:
            print(f"false alarm in {one.origin}: {text[:300]}")
    if options.write:
        PAGE.write_text(told, "utf-8")
    return 1 if broken else 0


def _shown(text: str) -> str:
    return redact(text).text


def _alarms(folder: Path, seed: int) -> list[Alarms]:
    found = [measure_alarms(name, told, _shown) for name, told in sentences(folder).items()]
    if not found:
        print(f"redaction: {folder} holds none of the data sets, so only hard sentences are read", file=sys.stderr)
    halves = {"hard sentences, fitted on": "fit", "hard sentences, held out": "held"}
    written = [measure_alarms(name, (text for _, text in hard(half, seed)), _shown) for name, half in halves.items()]
    return [*found, *written, measure_alarms("a second writer, held out", independent_ordinary(), _shown)]


def _broken(held: Recall, alarms: Sequence[Alarms]) -> list[str]:
    """Return the missed bars, in words."""
    core = {name: held.rate("core language", name) for name in held.names("core language")}
    low = [f"recall of core kinds in {name}: {rate:.1%}" for name, rate in core.items() if rate < LEAST_RECALL]
    loud = [
        f"{one.per_thousand:.2f} false alarms per 1,000 in {one.origin}"
        for one in alarms
        if one.per_thousand > MOST_ALARMS and one.sentences >= FEWEST
    ]
    return [*low, *loud]


def _bars(broken: Sequence[str], folder: Path) -> str:
    there = "" if sentences(folder) else " The data sets were not there, so only hard sentences count as ordinary."
    bars = f"at least {LEAST_RECALL:.0%} of core kinds in each language, at most {MOST_ALARMS:g} false alarm per 1,000"
    return f"Bars: {bars}. {'All hold.' if not broken else 'Broken: ' + '; '.join(broken) + '.'}{there}"


if __name__ == "__main__":
    sys.exit(main())
