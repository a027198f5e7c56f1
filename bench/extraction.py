"""Compare extractors on every data set with two baselines and version 1 of the rules, in one table.

Each data set is a module with `measure`; each column is an extractor of `bench.replay.compared`. Windows go directly to
the extractor, without a database.

Run: python -m bench extraction, or for a part of it within seconds
     python -m bench.extraction [--sets realmem tau] [--columns present]
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from bench import locomo_turns, msc, realmem, tau
from bench.msc_data import data_file
from bench.replay import Compared, compared
from bench.report import Row, note
from bench.session_data import LOCOMO

Figures = dict[str, float]
SETS: Mapping[str, tuple[str, str, Callable[[Compared], Figures]]] = {
    "realmem": ("RealMem", realmem.FILE, realmem.measure),
    "tau": ("tau-bench", tau.FILE, tau.measure),
    "msc": ("MSC", msc.FILE, msc.measure),
    "locomo": ("LoCoMo, turns", LOCOMO, locomo_turns.measure),
}
"""By option: the name of the set, its file, and the function that measures one extractor."""
BOUNDS = {
    ("RealMem", "turns, F1"): 0.58,
    ("RealMem", "later questions, any@10"): 0.30,
    ("RealMem", "later questions, any in 1,000 tokens"): 0.25,
    ("tau-bench", "solved dialogues, outcome in a memory"): 0.95,
    ("MSC", "utterances, F1"): 0.80,
}
"""The bounds for the present extractor."""
NONE_ALLOWED = ("tau-bench", "memories of a wrong customer or id")
NOT_BELOW_VERSION_1 = ("MSC", "utterances, precision")
VERSION_1 = "version 1"
OURS = "present"


def table(found: Mapping[tuple[str, str], Figures], columns: Sequence[str]) -> str:
    """Print one row per data set and metric, one column per extractor."""
    width = max(len(f"{name}: {what}") for name, what in found) + 2
    lines = [" " * width + "".join(f"{column:>14}" for column in columns)]
    for (name, what), figures in found.items():
        lines.append(f"{f'{name}: {what}':<{width}}" + "".join(f"{figures[column]:>14.3f}" for column in columns))
    return "\n".join(lines)


def tell(found: Mapping[tuple[str, str], Figures]) -> None:
    """Note a row for each metric and column, with the bounds of the present extractor."""
    for (name, what), figures in found.items():
        ours = figures[OURS]
        for column, beside in figures.items():
            if column != OURS:
                bound = ">= 1" if column == VERSION_1 and (name, what) == NOT_BELOW_VERSION_1 else ""
                note(Row(name, what, ours, column, beside, "", ours / beside if beside else ours, bound))
        if required := BOUNDS.get((name, what)):
            note(Row(name, what, ours, "required", required, "", ours / required, ">= 1"))
        if (name, what) == NONE_ALLOWED:
            note(Row(name, what, ours, "allowed", 0, "", ours, "<= 0"))


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    every = compared()
    parser.add_argument("--sets", nargs="+", choices=[*SETS], default=[*SETS])
    parser.add_argument("--columns", nargs="+", choices=[*every], default=[*every])
    options = parser.parse_args()
    found: dict[tuple[str, str], Figures] = {}
    for chosen in options.sets:
        name, file, measure = SETS[chosen]
        if not data_file(file).is_file():
            print(f"{name} is left out: {data_file(file)} does not exist", flush=True)
            continue
        for column in options.columns:
            begun = time.perf_counter()
            for what, figure in measure(every[column]).items():
                found.setdefault((name, what), {})[column] = figure
            print(f"{name}, {column}: {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
    if found:
        print(table(found, options.columns))
    if set(options.columns) == set(every):
        tell(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
