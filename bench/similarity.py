"""Measure verdicts of the similarity on labelled pairs, compared with plain Jaro and plain token-set similarity.

Two sets, each in one run at the default thresholds: value swaps (one attribute with two values, paraphrases, other
subjects) and SICK (contradictions, entailments, neutral pairs). A verdict is right if the label means the same:
duplicate, merge and synthesise for a duplicate or an entailment; conflict for a conflict or a contradiction;
related and distinct for a distinct or neutral pair. The plain measures can say only duplicate or distinct.

SICK is also shown in halves, because the authors of the rules saw only the errors of the first half. A hash of its text
assigns a pair to a half.
Run: python -m bench.similarity
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import get_args

from rapidfuzz.distance import Jaro
from rapidfuzz.fuzz import token_set_ratio

from bench.__main__ import data_folder
from bench.report import Row, note
from slowwave_server.domain.similarity import Verdict, judge, read

SAME, CONFLICT, OTHER = "same", "conflict", "other"
MEANING = {
    "duplicate": SAME, "entailment": SAME, "conflict": CONFLICT, "contradiction": CONFLICT,
    "distinct": OTHER, "neutral": OTHER,
}  # fmt: skip
CLAIMS: dict[str, str] = {
    "duplicate": SAME, "merge": SAME, "synthesise": SAME, "conflict": CONFLICT, "related": OTHER, "distinct": OTHER,
}  # fmt: skip
MERGED = frozenset({"duplicate", "merge"})
PLAIN_JARO = 0.85
PLAIN_TOKENS = 90.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts with their label."""

    a: str
    b: str
    label: str

    @property
    def half(self) -> int:
        return blake2b(f"{self.a}|{self.b}".encode(), digest_size=2).digest()[0] % 2


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of one measure on the pairs of one set."""

    pairs: Sequence[Pair]
    verdicts: Sequence[str]

    def share(self, label: str, verdicts: frozenset[str]) -> float:
        """Return the share of the pairs with `label` that got one of `verdicts`."""
        mine = [verdict for pair, verdict in zip(self.pairs, self.verdicts, strict=True) if pair.label == label]
        return sum(verdict in verdicts for verdict in mine) / len(mine)

    def half(self, half: int) -> "Judged":
        """Return the verdicts on one half."""
        both = [one for one in zip(self.pairs, self.verdicts, strict=True) if one[0].half == half]
        return Judged([pair for pair, _ in both], [verdict for _, verdict in both])


def pairs_of(path: Path) -> list[Pair]:
    """Return the pairs of a file of JSON lines."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Pair(row["a"], row["b"], row["label"]) for row in rows]


def ours(a: str, b: str) -> str:
    """Return the verdict of the similarity."""
    return judge(read(a), read(b)).verdict


def plain_jaro(a: str, b: str) -> str:
    """Return the verdict of a plain edit similarity."""
    return "duplicate" if Jaro.similarity(a.lower(), b.lower()) > PLAIN_JARO else "distinct"


def plain_tokens(a: str, b: str) -> str:
    """Return the verdict of a plain token-set similarity."""
    return "duplicate" if token_set_ratio(a.lower(), b.lower()) >= PLAIN_TOKENS else "distinct"


MEASURES: dict[str, Callable[[str, str], str]] = {"slowwave": ours, "Jaro": plain_jaro, "token-set": plain_tokens}


def judged_by(measure: str, pairs: Sequence[Pair]) -> Judged:
    """Return the verdicts of a measure on all pairs."""
    return Judged(pairs, [MEASURES[measure](pair.a, pair.b) for pair in pairs])


def false_conflicts(judged: Judged) -> float:
    """Return the share of conflict verdicts among pairs without a conflict."""
    none = [v for pair, v in zip(judged.pairs, judged.verdicts, strict=True) if MEANING[pair.label] != CONFLICT]
    return none.count("conflict") / len(none)


def table(name: str, judged: dict[str, Judged]) -> None:
    """Print for each verdict and measure its frequency, its precision, and its recall."""
    print(f"\n{name}: {len(judged['slowwave'].pairs)} pairs")
    print(f"{'verdict':12}" + "".join(f"{measure + ': said':>16} {'precision':>9} {'recall':>7}" for measure in judged))
    for verdict in get_args(Verdict):
        cells = []
        for one in judged.values():
            meant = [MEANING[pair.label] for pair in one.pairs]
            right = sum(
                said == verdict and claim == CLAIMS[verdict] for said, claim in zip(one.verdicts, meant, strict=True)
            )
            said, all_of_it = one.verdicts.count(verdict), meant.count(CLAIMS[verdict])
            precision = f"{right / said:.3f}" if said else "-"
            cells.append(f"{said:>16} {precision:>9} {right / all_of_it:>7.3f}")
        print(f"{verdict:12}" + "".join(cells))
    for label in sorted({pair.label for pair in judged["slowwave"].pairs}):
        counts = Counter(
            v for p, v in zip(judged["slowwave"].pairs, judged["slowwave"].verdicts, strict=True) if p.label == label
        )
        print(f"  {label}: " + ", ".join(f"{verdict} {count}" for verdict, count in counts.most_common()))


def bounds(name: str, label: str, judged: dict[str, Judged], *, found: float, merged: float) -> None:
    """Note the bounds for the pairs with `label`, the contradictory ones."""
    mine, jaro = judged["slowwave"], judged["Jaro"]
    is_conflict = frozenset({"conflict"})
    rows = [
        (f"{label}s called duplicate or merge", mine.share(label, MERGED), jaro.share(label, MERGED), f"<= {merged}"),
        (f"{label}s called conflict", mine.share(label, is_conflict), jaro.share(label, is_conflict), f">= {found}"),
    ]
    for what, share, plain, bound in rows:
        note(Row("similarity", f"{name}: {what}", 100 * share, "Jaro > 0.85", 100 * plain, "%", share, bound))


def microseconds(pairs: Sequence[Pair]) -> float:
    """Return the median time to judge two texts that were parsed before."""
    times = []
    for pair in pairs:
        a, b = read(pair.a), read(pair.b)
        start = time.perf_counter()
        judge(a, b)
        times.append(time.perf_counter() - start)
    return median(times) * 1e6


def main() -> None:
    """Print the tables, note the bounds."""
    swaps = pairs_of(data_folder() / "value-swaps.jsonl")
    sick = pairs_of(data_folder() / "sick-dev.jsonl")
    by_swaps = {measure: judged_by(measure, swaps) for measure in MEASURES}
    by_sick = {measure: judged_by(measure, sick) for measure in MEASURES}
    table("value swaps", by_swaps)
    table("SICK", by_sick)
    for half, name in enumerate(("first half of SICK, looked at", "second half of SICK, not looked at")):
        mine = by_sick["slowwave"].half(half)
        print(
            f"{name}: contradictions called conflict {mine.share('contradiction', frozenset({'conflict'})):.3f}, "
            f"merged {mine.share('contradiction', MERGED):.3f}; others called conflict {false_conflicts(mine):.4f}"
        )
    bounds("value swaps", "conflict", by_swaps, found=0.8, merged=0)
    bounds("SICK", "contradiction", by_sick, found=0.8, merged=0.005)
    for label, bound in (("duplicate", ">= 0.6"), ("distinct", "<= 0")):
        share, plain = (by_swaps[measure].share(label, MERGED) for measure in ("slowwave", "Jaro"))
        what = f"value swaps: {label}s called duplicate or merge"
        note(Row("similarity", what, 100 * share, "Jaro > 0.85", 100 * plain, "%", share, bound))
    wrong = false_conflicts(by_sick["slowwave"])
    what = "SICK: neutral and entailed pairs called conflict"
    note(Row("similarity", what, 100 * wrong, "Jaro > 0.85", 0.0, "%", wrong, "<= 0.015"))
    took = microseconds(sick)
    print(f"judge: median {took:.0f} µs a pair of texts that were read")
    note(Row("similarity", "judging a pair", took, "the bound", 100.0, "µs", took / 100.0, "<= 1"))


if __name__ == "__main__":
    main()
