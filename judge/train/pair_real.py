"""Near pairs of real memories: what the rules make of the public data sets, of which next to nothing contradicts.

What learns from written statements only takes most pairs of real ones for contradictions, since there a pair that
shares words is seldom one. So pairs that a search would compare are learned as related, with half of the weight; those
that the rules call the same are left out. Their text is read from `../shared/data` and is written nowhere.

Must not know: networks.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from bench.msc_data import data_file
from bench.replay import Compared
from bench.session_data import FILES, talks
from judge.train.data import group_of, is_held_out_group
from judge.train.pairs import Pair, target
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.similarity import judge, read
from slowwave_server.services.extraction.judging import installed_judge

WEIGHT = 0.5
NEWEST = 24
"""Memories of a key that a memory is compared with."""
NEAREST = 8
"""Of all these, those that share most keys."""
LEARNED = 1000
"""Pairs of a set that are learned in a round."""
MEASURED = 500
"""Pairs of those held out that are measured, of all sets together."""


def near_pairs(memories: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs of one person's memories, the oldest first, that share keys: of each memory the nearest older ones."""
    by_key: dict[int, list[str]] = defaultdict(list)
    for memory in dict.fromkeys(memories):
        reading = read(memory)
        keys = block_keys(reading)
        shared = Counter(older for key in keys for older in by_key[key][-NEWEST:])
        for older, _ in shared.most_common(NEAREST):
            if judge(read(older), reading).verdict != "duplicate":
                yield older, memory
        for key in keys:
            by_key[key].append(memory)


@cache
def _near_of_set(part: str) -> tuple[tuple[str, str, str], ...]:
    """The group and the two memories of each near pair of a data set; none if its file is not there."""
    if not data_file(FILES[part]).is_file():
        return ()
    # A person or dialogue is a scope of its own: MSC gives all its speakers two names, tau-bench none.
    said: dict[str, list[str]] = defaultdict(list)
    extractor = Compared(RulesExtractor(installed_judge()))
    for talk in talks(part):
        said[group_of(part, talk)] += [memory.content for memory, _ in talk.remembered(extractor)]
    return tuple((group, *pair) for group, memories in said.items() for pair in near_pairs(memories))


def _pairs(*, held_out: bool) -> Iterator[list[Pair]]:
    for part in FILES:
        rows = [row for row in _near_of_set(part) if is_held_out_group(part, row[0]) == held_out]
        yield [Pair(a, b, target(related=1.0), WEIGHT, "real", f"{part} {group}") for group, a, b in rows]


def learned_real(seed: int) -> list[Pair]:
    """Near pairs of those that are learned from, another choice for each seed."""
    random_ = random.Random(seed)
    return [one for found in _pairs(held_out=False) for one in random_.sample(found, min(LEARNED, len(found)))]


def held_out_real(seed: int = 1) -> list[Pair]:
    """Near pairs of the people and dialogues that nothing is learned from."""
    found = [one for of_set in _pairs(held_out=True) for one in of_set]
    return random.Random(seed).sample(found, min(MEASURED, len(found)))
