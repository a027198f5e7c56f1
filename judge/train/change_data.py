"""Read the pairs of statements from which the score of changes learns (`domain/similarity/change_score.py`).

    groups       held-out domains and unlearned groups: the model of pairs learned neither
    histories    two memories of one history, in the order of event time, and two of different histories
    real         near pairs of memories of people and dialogues that the model never saw; nearly none ends another

The score never learns from pairs-dev.jsonl and the histories held_out and held_out_too.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from bench.replay import memories
from judge.train.histories import History, Told, read_histories
from judge.train.pair_data import Group, apart, read_groups, read_shared, read_unlearned
from judge.train.pair_real import held_out_near
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.services.extraction.judging import installed_judge

LEARNED = ("learned", "learned_too", "learned_last", "learned_strange")
LEFT_OUT = ("held_out", "held_out_too")
ENDS = frozenset(("update", "next value", "later value"))
WEIGHTS = {
    "update": 1.0,
    "duplicate": 1.0,
    "related": 1.0,
    "distinct": 1.0,
    "next value": 8.0,
    "later value": 8.0,
    "same value": 1.0,
    "other thing": 25.0,
    "other history": 0.5,
    "near": 3.0,
}
"""The weight of a pair by its kind. A wrong end costs more than a missed one."""
ACROSS = 600
"""Pairs drawn from different histories of one file; those of one history are dropped."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two statements in their order of time.

    part: the data set; kind: the relation of the two; group: the unit that a split must not divide.
    """

    older: str
    newer: str
    part: str
    kind: str
    group: str

    @property
    def ended(self) -> bool:
        """Return True if the newer statement says that the older one no longer holds."""
        return self.kind in ENDS


def learned_cases(seed: int) -> list[Case]:
    """Return all pairs from which the score learns."""
    found = [case for name in LEARNED for case in of_histories(name, seed)]
    return [*found, *of_groups(apart(read_groups())[1], "groups"), *of_groups(read_unlearned(), "unlearned"), *real()]


def left_out_cases(seed: int) -> list[Case]:
    """Return the pairs from which nothing is learned."""
    found = [case for name in LEFT_OUT for case in of_histories(name, seed)]
    dev = [
        Case(older, newer, "pairs-dev", row["label"], "")
        for row in read_shared("pairs-dev.jsonl")
        for older, newer in permutations((row["a"], row["b"]))
    ]
    return [*found, *dev]


def of_groups(groups: Sequence[Group], part: str) -> list[Case]:
    """Return the ordered pairs of groups whose relation says whether one ends the other."""
    found = []
    for group in groups:
        same = [group["statement"], *group["duplicate"]]
        every = [*same, *group["conflict"], *group["update"]]
        pairs = {"update": list(product(same, group["update"])), "duplicate": list(permutations(same, 2))}
        for kind in ("related", "distinct"):
            pairs[kind] = [pair for one in product(every, group[kind]) for pair in permutations(one)]
        found += [Case(a, b, part, kind, group["domain"]) for kind, of_kind in pairs.items() for a, b in of_kind]
    return found


def of_histories(name: str, seed: int) -> list[Case]:
    """Return the pairs of memories of a file of histories."""
    remembered = {one.name: list(_remembered(one)) for one in read_histories(name)}
    found = [
        Case(older, newer, name, kind, group)
        for group, said in remembered.items()
        for (at, older), (later, newer) in permutations(said, 2)
        if (kind := _kind(at, later))
    ]
    every = [(group, text) for group, said in remembered.items() for _, text in said]
    random_ = random.Random(seed)
    for _ in range(ACROSS):
        (group, older), (other, newer) = random_.sample(every, 2)
        if group != other:
            found.append(Case(older, newer, name, "other history", group))
    return found


def _remembered(history: History) -> Iterator[tuple[Told, str]]:
    extractor = RulesExtractor(installed_judge())
    for told in history.told:
        event = Event(1, "user", "user", told.text, told.at)
        yield from ((told, memory.content) for memory in memories(extractor, [event], "maya"))


def _kind(older: Told, newer: Told) -> str:
    """Return the kind of a pair; "" if the newer one was said earlier, or both values at one time."""
    if newer.at < older.at:
        return ""
    if not (older.value and newer.value):
        return "other thing"
    if newer.at == older.at:
        return ""
    steps = newer.value - older.value
    return "same value" if steps <= 0 else "next value" if steps == 1 else "later value"


def real() -> list[Case]:
    """Return the near pairs of real memories, in both orders."""
    return [
        Case(older, newer, "real memories", "near", one.group)
        for one in held_out_near()
        for older, newer in permutations((one.first, one.second))
    ]
