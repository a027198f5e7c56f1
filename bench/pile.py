"""Shuffle files of samples into one pile for blind readers, and count their labels.

Run: python -m bench.pile --seed 7 --out PILE.jsonl SAMPLE.jsonl …
     python -m bench.pile --labels LABELS.jsonl PILE.jsonl

The first command writes PILE.jsonl with new ids, and PILE.key.jsonl, which only the second command reads. A reader
writes LABELS.jsonl: {"id": 17, "label": "useful"}, "marginal" or "junk" for each line. The second command prints the
shares of the labels by version and kind, and the AUC of importance: how often a useful memory has a higher importance
than a junk memory.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.samples import key_path, write

LABELS = ("useful", "marginal", "junk")


def read(path: Path) -> list[dict[str, Any]]:
    """Return all lines of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def merge(samples: Sequence[Path], seed: int, out: Path) -> int:
    """Write the pile and its key. Return the number of lines."""
    known = {row["id"]: row for path in samples for row in read(key_path(path))}
    rows = [row for path in samples for row in read(path)]
    random.Random(seed).shuffle(rows)
    write(out, [row | {"id": place} for place, row in enumerate(rows, 1)])
    write(key_path(out), [known[row["id"]] | {"id": place} for place, row in enumerate(rows, 1)])
    return len(rows)


def auc(useful: Sequence[float], junk: Sequence[float]) -> float | None:
    """Return how often a value of `useful` exceeds a value of `junk`, where a tie counts half; None if one of them is
    empty.
    """
    if not useful or not junk:
        return None
    return sum((a > b) + 0.5 * (a == b) for a in useful for b in junk) / (len(useful) * len(junk))


def count(keys: Mapping[int, dict[str, Any]], labels: Mapping[int, str]) -> None:
    """Print the shares of the labels and the AUC, by version and kind, and over all kinds of a version."""
    print(f"{'version':<10}{'kind':<24}{'n':>5}" + "".join(f"{label:>10}" for label in LABELS) + f"{'AUC':>8}")
    read_ids = [at for at in keys if at in labels]
    for version in sorted({keys[at]["extractor"] for at in read_ids}):
        mine = [at for at in read_ids if keys[at]["extractor"] == version]
        for kind in (*sorted({keys[at]["kind"] for at in mine}), "all"):
            chosen = [at for at in mine if kind in {"all", keys[at]["kind"]}]
            shares = Counter(labels[at] for at in chosen)
            useful, junk = ([keys[at]["importance"] for at in chosen if labels[at] == x] for x in ("useful", "junk"))
            separated = auc(useful, junk)
            told = "".join(f"{shares[label] / len(chosen):>10.1%}" for label in LABELS)
            print(f"{version:<10}{kind:<24}{len(chosen):>5}{told}{'-' if separated is None else f'{separated:.2f}':>8}")
    if missing := len(keys) - len(read_ids):
        print(f"{missing} lines of the pile have no label")


def main() -> int:
    """Merge, or count. Return 2 if a label is unknown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--labels", type=Path)
    options = parser.parse_args()
    if options.labels is None:
        if options.out is None:
            parser.error("--out PILE.jsonl is missing, or --labels LABELS.jsonl to count labels")
        print(f"{merge(options.files, options.seed, options.out)} memories are in {options.out}")
        return 0
    labels = {row["id"]: row["label"] for row in read(options.labels)}
    if wrong := set(labels.values()) - set(LABELS):
        parser.error(f"a label must be one of {', '.join(LABELS)}, got {min(wrong)!r}")
    count({row["id"]: row for row in read(key_path(options.files[0]))}, labels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
