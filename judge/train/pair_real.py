"""Find near pairs of real memories, which the rules make from the public data sets. Hardly any of these pairs
contradict each other.

A network that is trained only on written statements takes most pairs of real memories for contradictions. So the
training adds pairs that a pass would compare, as related, with half of the weight; it excludes those that the rules
call equal. Code also changes some memories (`pair_changes`) and pairs each with its original; otherwise the network
would learn that real memories never contradict each other. The texts stay in `../shared/data`.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from bench.msc_data import data_file
from bench.replay import Compared
from bench.session_data import FILES, talks
from judge.train.data import group_of, is_held_out_group
from judge.train.pair_changes import changed_memory
from judge.train.pairs import Pair, target
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.similarity import judge, read
from slowwave_server.services.extraction.judging import installed_judge

WEIGHT = 0.5
NEWEST = 24
"""The number of memories of one key to compare with a memory."""
NEAREST = 8
"""Of all these, the number to keep: those that share most keys."""
LEARNED = 1000
"""Training pairs of one set in one round."""
CHANGED = 400
"""Memories of one set that one round pairs with a changed form."""
MEASURED = 500
"""Held-out pairs to measure, of all sets together."""


def near_pairs(memories: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the pairs of one person's memories that share keys: each memory with its nearest older ones,
    oldest first.
    """
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
def _near_of_set(part: str, *, held_out: bool) -> tuple[tuple[str, str, str], ...]:
    """Return the group and the two memories of each near pair of the people and dialogues of a data set that are held
    out, or of the others; none if its file is missing.
    """
    if not data_file(FILES[part]).is_file():
        return ()
    # Each person or dialogue is a separate scope: MSC gives all its speakers two names, tau-bench none.
    said: dict[str, list[str]] = defaultdict(list)
    extractor = Compared(RulesExtractor(installed_judge()))
    for talk in talks(part):
        if is_held_out_group(part, group := group_of(part, talk)) == held_out:
            said[group] += [memory.content for memory, _ in talk.remembered(extractor)]
    return tuple((group, *pair) for group, memories in said.items() for pair in near_pairs(memories))


def _pairs(*, held_out: bool) -> Iterator[list[Pair]]:
    for part in FILES:
        rows = _near_of_set(part, held_out=held_out)
        yield [Pair(a, b, target(related=1.0), WEIGHT, "real", f"{part} {group}") for group, a, b in rows]


def learned_real(seed: int) -> list[Pair]:
    """Return near pairs of the training people and dialogues, another selection for each seed."""
    random_ = random.Random(seed)
    found: list[Pair] = []
    for pairs in _pairs(held_out=False):
        found += random_.sample(pairs, min(LEARNED, len(pairs)))
        found += changed_pairs(random_.sample(pairs, min(CHANGED, len(pairs))), random_)
    return found


def changed_pairs(pairs: Sequence[Pair], random_: random.Random) -> Iterator[Pair]:
    """Return pairs of a memory and its changed form, if code finds something to change."""
    for pair in pairs:
        if (change := changed_memory(pair.second, random_)) is not None:
            name, a, b = change
            yield Pair(a, b, target(**{name: 1.0}), WEIGHT, "changed real", pair.group)


def held_out_near() -> list[Pair]:
    """Return all near pairs of the held-out people and dialogues."""
    return [one for of_set in _pairs(held_out=True) for one in of_set]


def held_out_real(seed: int = 1) -> list[Pair]:
    """Return a selection of near pairs of the held-out people and dialogues."""
    found = held_out_near()
    return random.Random(seed).sample(found, min(MEASURED, len(found)))


def held_out_changed(seed: int = 1) -> list[Pair]:
    """Return memories of the held-out people and dialogues with their changed forms."""
    return list(changed_pairs(held_out_real(seed), random.Random(seed)))
