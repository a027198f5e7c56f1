"""Whether a pass finds the other half of a pair among 100,000 other memories: by keys, by vectors, and by both.

The pairs are the repetitions and contradictions of pairs-dev.jsonl. The others are the sentences of all data sets, and
sentences of these with other numbers and one word less. Each text gets a place at random in the order of arrival. A
memory is found by keys if a pass would load it as a candidate, and by vectors if it is among the nearest of the default
embedder (exact search). The model of pairs reads MOST_READ candidates, half of them the nearest by vectors.

Vectors are kept in the temporary folder, so that a second run takes a minute.

Run: python -m bench.candidates [--others 100000]
"""

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from bench.__main__ import data_folder
from bench.embedding_cache import CachedEmbedder
from bench.report import Row, note
from bench.rules_v1.sentences import sentences
from bench.session_data import SETS, talks
from slowwave.embedding.local import LocalEmbedder
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.similarity import read
from slowwave_server.services.consolidation.neighbours import MAX_CANDIDATES, NEAREST, PER_KEY
from slowwave_server.services.consolidation.world import MOST_READ

LEAST = 0.92
SEED = 7
LABELS = ("duplicate", "conflict")
COUNTS = (NEAREST, 12, 24, 48)
AT_ONCE = 2000
SHORTEST, LONGEST = 15, 300


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements that a pass has to compare."""

    label: str
    a: str
    b: str


def load_pairs() -> list[Pair]:
    """Read the repetitions and contradictions."""
    lines = (data_folder() / "pairs-dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Pair(row["label"], row["a"], row["b"]) for row in rows if row["label"] in LABELS]


def other_texts(count: int) -> list[str]:
    """Return sentences of all data sets, then changed ones, each once, in the same order in every run."""
    found: dict[str, None] = {}
    for text in _said():
        if SHORTEST <= len(text) <= LONGEST:
            found[text] = None
    random_ = random.Random(SEED)
    originals = list(found)
    random_.shuffle(originals)
    while originals and len(found) < count:
        found[_changed(random_.choice(originals), random_)] = None
    texts = list(found)
    random_.shuffle(texts)
    return texts[:count]


def _said() -> Iterator[str]:
    for part in SETS:
        for talk in talks(part):
            for event in talk.events:
                yield from map(str.strip, sentences(event.content))


def _changed(text: str, random_: random.Random) -> str:
    words = re.sub(r"\d", lambda _: str(random_.randrange(10)), text).split()
    del words[random_.randrange(len(words))]
    return " ".join(words)


def by_keys(texts: Sequence[str], asked: Sequence[str]) -> dict[str, list[str]]:
    """The candidates of each asked text, best first, as a pass finds them in a scope with all of these texts."""
    wanted = {text: block_keys(read(text)) for text in asked}
    needed = {key for keys in wanted.values() for key in keys}
    holders: dict[int, list[str]] = defaultdict(list)
    for text in texts:
        for key in needed.intersection(block_keys(read(text))):
            holders[key].append(text)
    return {
        text: [
            other
            for other, _ in Counter(
                other for key in keys for other in islice(reversed(holders[key]), PER_KEY) if other != text
            ).most_common(MAX_CANDIDATES)
        ]
        for text, keys in wanted.items()
    }


def by_vectors(texts: Sequence[str], asked: Sequence[str]) -> dict[str, list[str]]:
    """The nearest texts of each asked text by the cosine of their vectors, the nearest first."""
    embedder = CachedEmbedder(LocalEmbedder())
    every = np.empty((len(texts), 384), dtype=np.float32)
    for begin in range(0, len(texts), AT_ONCE):
        every[begin : begin + AT_ONCE] = embedder.embed(texts[begin : begin + AT_ONCE])
    place = {text: at for at, text in enumerate(texts)}
    found = {}
    for text in asked:
        cosines = every @ every[place[text]]
        cosines[place[text]] = -1
        nearest = np.argpartition(cosines, -max(COUNTS))[-max(COUNTS) :]
        found[text] = [texts[at] for at in nearest[np.argsort(-cosines[nearest])]]
    return found


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--others", type=int, default=100_000)
    pairs = load_pairs()
    texts = list(dict.fromkeys([*other_texts(parser.parse_args().others), *(t for p in pairs for t in (p.a, p.b))]))
    random.Random(SEED).shuffle(texts)
    asked = list(dict.fromkeys(pair.b for pair in pairs))
    keys = by_keys(texts, asked)
    by_keys_alone = _share(pairs, keys, set(LABELS))
    print(f"{len(pairs)} pairs among {len(texts):,} memories; keys alone find {by_keys_alone:.1%}", flush=True)
    near = by_vectors(texts, asked)
    half = MOST_READ // 2
    mixed = {text: list(dict.fromkeys([*near[text][:half], *keys[text], *near[text]]))[:MOST_READ] for text in asked}
    ways = {
        "keys": keys,
        f"keys, first {MOST_READ}": {text: of[:MOST_READ] for text, of in keys.items()},
        f"half of {MOST_READ} by vectors": mixed,
    }
    for count in COUNTS:
        ways[f"vectors, nearest {count}"] = {text: of[:count] for text, of in near.items()}
        ways[f"keys and nearest {count}"] = {text: keys[text] + near[text][:count] for text in asked}
    print("the part of the pairs whose other half is found by …")
    print(f"{'':30}" + "".join(f"{label:>12}" for label in LABELS) + f"{'both':>12}")
    for way, of in ways.items():
        shares = [_share(pairs, of, {label}) for label in LABELS]
        both = _share(pairs, of, set(LABELS))
        print(f"{way:30}" + "".join(f"{share:12.1%}" for share in (*shares, both)))
        bound = f">= {LEAST}" if way == f"keys and nearest {NEAREST}" else ""
        found = f"pairs found by {way}"
        note(Row("candidates", found, 100 * both, "keys", 100 * by_keys_alone, "%", both, bound))
    return 0 if _share(pairs, ways[f"keys and nearest {NEAREST}"], set(LABELS)) >= LEAST else 1


def _share(pairs: Sequence[Pair], found: dict[str, list[str]], labels: set[str]) -> float:
    hits = [pair.a in found[pair.b] for pair in pairs if pair.label in labels]
    return sum(hits) / len(hits)


if __name__ == "__main__":
    sys.exit(main())
