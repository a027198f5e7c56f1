"""Measure whether similar memories find each other by block keys, compared with MinHash LSH (datasketch, threshold
0.5).

Run: python -m bench.blocking. Reads value-swaps.jsonl and sick-dev.jsonl. There are two figures for each method:

    share a key      among pairs that people labelled as similar, the share with a common key of both texts
    are found        the share of these pairs in which one text is a candidate of the other, in a scope with all texts
                     of the sets; each key is probed as a pass does: the newest few, those that share most first

It also measures the cost of a memory: keys (rows of an index) and µs, without parsing. Exits with 1 if a bound is
missed.
"""

import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean, median

from datasketch import MinHash, MinHashLSH

from bench.__main__ import data_folder
from bench.report import Row, note
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.similarity import read
from slowwave_server.services.consolidation.neighbours import MAX_CANDIDATES, PER_KEY

LEAST_SHARE = 0.97
LEAST_FOUND = 0.90
SEED = 11
KINDS = {
    "value swaps: conflicts": ("value-swaps.jsonl", "conflict"),
    "value swaps: duplicates": ("value-swaps.jsonl", "duplicate"),
    "SICK: contradictions": ("sick-dev.jsonl", "contradiction"),
    "SICK: entailments": ("sick-dev.jsonl", "entailment"),
}
BOUNDED = ("value swaps: conflicts", "value swaps: duplicates", "SICK: contradictions")
KeysOf = Callable[[str], Sequence[Hashable]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that people labelled as similar, of one of KINDS."""

    kind: str
    a: str
    b: str


def load() -> tuple[list[Pair], list[str]]:
    """Return the pairs, and all texts of the sets in an order that is independent of their content."""
    pairs: list[Pair] = []
    texts: dict[str, None] = {}
    for file in dict.fromkeys(file for file, _ in KINDS.values()):
        for line in (data_folder() / file).read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            texts |= {entry["a"]: None, entry["b"]: None}
            kinds = [kind for kind, of in KINDS.items() if of == (file, entry["label"])]
            pairs += [Pair(kind, entry["a"], entry["b"]) for kind in kinds]
    everything = list(texts)
    random.Random(SEED).shuffle(everything)
    return pairs, everything


def ours(text: str) -> Sequence[Hashable]:
    """Return Slowwave's block keys."""
    return block_keys(read(text))


class Lsh:
    """datasketch: 128 permutations, banded for a Jaccard similarity of 0.5 of stems."""

    def __init__(self) -> None:
        self._index = MinHashLSH(threshold=0.5, num_perm=128)

    def __call__(self, text: str) -> Sequence[Hashable]:
        hashes = MinHash(num_perm=128)
        hashes.update_batch([stem.encode() for stem in read(text).stems])
        return [(band, bytes(hashes.hashvalues[start:end])) for band, (start, end) in enumerate(self._index.hashranges)]


def found(keys: dict[str, Sequence[Hashable]], pairs: Iterable[Pair]) -> dict[str, float]:
    """The share of each kind of pair where `a` is among the candidates of `b`."""
    holders: dict[Hashable, list[str]] = defaultdict(list)
    for text, of in keys.items():
        for key in of:
            holders[key].append(text)
    hits: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        shared = Counter(
            other for key in keys[pair.b] for other in islice(reversed(holders[key]), PER_KEY + 1) if other != pair.b
        )
        hits[pair.kind].append(pair.a in dict(shared.most_common(MAX_CANDIDATES)) or pair.a == pair.b)
    return {kind: mean(those) for kind, those in hits.items()}


def shares(keys: dict[str, Sequence[Hashable]], pairs: Iterable[Pair]) -> dict[str, float]:
    """The share of each kind of pair with a common key."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        hits[pair.kind].append(not set(keys[pair.a]).isdisjoint(keys[pair.b]))
    return {kind: mean(those) for kind, those in hits.items()}


def timed(keys_of: KeysOf, texts: Sequence[str]) -> float:
    """Median µs per text; all texts are read before, so that reading is not measured."""
    taken = []
    for text in texts:
        read(text)
        begin = time.perf_counter_ns()
        keys_of(text)
        taken.append((time.perf_counter_ns() - begin) / 1000)
    return median(taken)


def main() -> int:
    """Measure, print, and check the bounds."""
    pairs, texts = load()
    ways: dict[str, KeysOf] = {"keys of blocking": ours, "MinHash LSH": Lsh()}
    keys = {way: {text: keys_of(text) for text in texts} for way, keys_of in ways.items()}
    cost = {way: timed(keys_of, texts[:2000]) for way, keys_of in ways.items()}
    counts = {way: [len(of) for of in keys[way].values()] for way in ways}
    for way in ways:
        print(f"{way:18}{mean(counts[way]):6.1f} keys a memory, at most {max(counts[way])}; {cost[way]:6.1f} µs")
    own, other = ways
    print(f"\nof pairs, the part that … (a scope of {len(texts):,} texts)")
    print(f"{'':26}{'shares a key':>14}{'LSH':>8}{'is found':>12}{'LSH':>8}")
    holds = True
    shared = {way: shares(keys[way], pairs) for way in ways}
    reached = {way: found(keys[way], pairs) for way in ways}
    for kind in KINDS:
        a, b, c, d = shared[own][kind], shared[other][kind], reached[own][kind], reached[other][kind]
        print(f"{kind:26}{a:14.1%}{b:8.1%}{c:12.1%}{d:8.1%}")
        for what, mine, beside, least in (("share a key", a, b, LEAST_SHARE), ("are found", c, d, LEAST_FOUND)):
            bound = f">= {least}" if kind in BOUNDED else ""
            note(Row("blocking", f"{kind} that {what}", 100 * mine, other, 100 * beside, "%", mine, bound))
            holds = holds and (mine >= least or not bound)
    note(Row("blocking", "keys of a memory", cost[own], other, cost[other], "µs", cost[own] / cost[other], "<= 1"))
    return 0 if holds and cost[own] <= cost[other] else 1


if __name__ == "__main__":
    sys.exit(main())
