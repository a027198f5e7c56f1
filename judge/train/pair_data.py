"""Read the pairs for training the judge of pairs, and those for measuring it.

    data/pairs.jsonl    groups of statements about one matter: every two statements of a group have a relation
    data/frames.jsonl   attributes with phrasings and values: code fills them in
    changes             one number, name or denial changed in a statement (`pair_changes`)
    SICK                pairs of captions (`../shared/data`): one part is for training, split by shared sentences
    real memories       near pairs of the public data sets (`pair_real`)

Training never uses eleven domains of the groups, three tenths of SICK, the people and dialogues that `data` holds out,
and all of pairs-dev.jsonl and value-swaps.jsonl. It does not yet use data/unlearned.jsonl, groups that were written
after the last training.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import combinations, product
from typing import Any

from bench.msc_data import data_file
from judge.train.data import DATA
from judge.train.pair_changes import changed
from judge.train.pairs import Pair, target

Group = Mapping[str, Any]

HELD_OUT_DOMAINS = frozenset(
    "building sites|cloud and networking|dependencies and versions|film production|home and moving|laboratories|"
    "newsrooms|pets|security and access|support tickets|weather and mountains".split("|")
)
"""Every seventh of the first 74 domains. They are fixed, so that another training is measured on the same domains."""
OF_GROUP = {"duplicate": 3, "conflict": 4, "update": 2, "related": 3, "distinct": 2}
"""Training pairs of a group in one round; others follow in the next."""
ACROSS = 1
"""Pairs of statements of two groups of one domain, for each group of a round."""
CHANGED = 4
"""Changed statements, for each group of a round."""
OF_FRAME = 20
"""Pairs of a frame in a round."""
OF_ENDS = 0.3
"""Share of the pairs of a frame that add two statements which both say that a value ended."""
OF_SICK = 0.6
"""Share of SICK's training part in one round."""
SAME_IN_SICK, KIN_IN_SICK = 4.5, 3.0
"""Relatedness from which captions are the same, if one follows from the other, and from which they are related."""
NAMES = tuple(
    "the user|Maya|Jonas|Priya|Tomasz|Dr. Lindqvist|Amara|Kenji|Lucía|Mr Haddad|Ms Novak|Chidi|Fatima|Wei|"
    "Björn|Olivia Grant|Diego|Anneke|Samira|Luca".split("|")
)


def read_groups(name: str = "pairs.jsonl") -> list[Group]:
    """Return all written groups of a file in `data/`."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def read_unlearned() -> list[Group]:
    """Return the groups that no training has seen; the next training moves them into pairs.jsonl."""
    return read_groups("unlearned.jsonl")


def apart(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Return the training groups, and those of the held-out domains."""
    parts: tuple[list[Group], list[Group]] = ([], [])
    for group in groups:
        parts[group["domain"] in HELD_OUT_DOMAINS].append(group)
    return parts


def of_group(group: Group, part: str = "groups") -> dict[str, list[Pair]]:
    """Return all pairs of a group whose relation follows from the data file, by relation."""
    same = [group["statement"], *group["duplicate"]]
    told = (*same, *group["conflict"], *group["update"])
    by_relation = {
        "duplicate": list(combinations(same, 2)),
        "conflict": list(product(same, group["conflict"])),
        "update": list(product(same, group["update"])),
        "related": list(product(told, group["related"])),
        "distinct": list(product(told, group["distinct"])),
    }
    return {
        name: [Pair(a, b, target(**{name: 1.0}), 1.0, part, group["domain"]) for a, b in found]
        for name, found in by_relation.items()
    }


def pairs_of(groups: Sequence[Group], part: str = "groups") -> list[Pair]:
    """Return all pairs of these groups whose relation is known. part: the name of the set."""
    return [pair for group in groups for found in of_group(group, part).values() for pair in found]


def fitting_sets() -> dict[str, list[Pair]]:
    """Return the pairs on which the scale and the thresholds are fitted: held-out domains, and unlearned groups."""
    return {"groups": pairs_of(apart(read_groups())[1]), "unlearned": pairs_of(read_unlearned(), "unlearned")}


def statements(group: Group) -> list[str]:
    """Return all statements of a group."""
    return [group["statement"], *(text for name in OF_GROUP for text in group[name])]


def _of_groups(groups: Sequence[Group], random_: random.Random) -> Iterator[Pair]:
    by_domain: dict[str, list[Group]] = {}
    for group in groups:
        by_domain.setdefault(group["domain"], []).append(group)
    for group in groups:
        for name, found in of_group(group).items():
            yield from random_.sample(found, min(OF_GROUP[name], len(found)))
        near = by_domain[group["domain"]]
        others = [other for other in near if other is not group and other["lang"] == group["lang"]]
        for other in random_.sample(others, min(ACROSS, len(others))):
            a, b = random_.choice(statements(group)), random_.choice(statements(other))
            yield Pair(a, b, target(distinct=0.9, related=0.1), 1.0, "across", group["domain"])
        for _ in range(CHANGED):
            found_pair = changed(group, random_)
            if found_pair is not None:
                name, a, b = found_pair
                yield Pair(a, b, target(**{name: 1.0}), 0.7, "changed", group["domain"])


def _of_frame(frame: Group, frames: Sequence[Group], random_: random.Random) -> Iterator[Pair]:
    subjects = NAMES if frame["subjects"] == "person" else frame["subjects"]
    for _ in range(OF_FRAME):
        s, other_s = random_.sample(subjects, 2)
        v, other_v = random_.sample(frame["values"], 2)
        say, again = random_.sample(frame["say"], 2) if random_.random() < 0.85 else [random_.choice(frame["say"])] * 2
        other = random_.choice([one for one in frames if one["lang"] == frame["lang"]])
        apart = frame["subjects"] == other["subjects"] == "person" and other is not frame
        choices: dict[str, tuple[str, tuple[float, ...]]] = {
            "same": (_fill(again, s, v), target(duplicate=1.0)),
            "value": (_fill(again, s, other_v), target(conflict=1.0) if frame["single"] else target(related=1.0)),
            "subject": (_fill(again, other_s, v), target(distinct=1.0)),
        }
        if frame["denied"]:
            choices["denied"] = (_fill(random_.choice(frame["denied"]), s, v), target(conflict=1.0))
        if frame["ended"]:
            choices["ended"] = (_fill(random_.choice(frame["ended"]), s, v), target(update=1.0))
        if random_.random() < OF_ENDS:
            yield from _both_ended(frame, s, v, random_)
        if apart:
            elsewhere = _fill(random_.choice(other["say"]), s, random_.choice(other["values"]))
            choices["other"] = (elsewhere, target(related=0.6, distinct=0.4))
        second, true = random_.choice(list(choices.values()))
        if (first := _fill(say, s, v)) != second:
            yield Pair(first, second, true, 0.7, "frames", frame["lang"])


def _both_ended(frame: Group, subject: str, value: str, random_: random.Random) -> Iterator[Pair]:
    """Return True if two statements both deny a value, or both say that it ended, so that they repeat each other."""
    for name in ("ended", "denied"):
        if len(frame[name]) > 1:
            a, b = (_fill(one, subject, value) for one in random_.sample(frame[name], 2))
            yield Pair(a, b, target(duplicate=1.0), 0.7, "frames", frame["lang"])


def _fill(template: str, subject: str, value: str) -> str:
    said = template.replace("{s}", subject).replace("{v}", value)
    return said[:1].upper() + said[1:]


def learned_round(groups: Sequence[Group], seed: int, real: Sequence[Pair] = ()) -> list[Pair]:
    """Return the training pairs of one round, another selection for each seed. real: pairs of real memories."""
    random_ = random.Random(seed)
    frames = [json.loads(line) for line in (DATA / "frames.jsonl").read_text("utf-8").splitlines()]
    found = list(_of_groups(groups, random_))
    for frame in frames:
        found += _of_frame(frame, frames, random_)
    sick, _ = read_sick()
    return [*found, *random_.sample(sick, int(len(sick) * OF_SICK)), *real]


def read_shared(name: str) -> list[dict[str, Any]]:
    """Return the rows of a shared data file; none if the file is missing."""
    path = data_file(name)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def read_captions() -> list[Pair]:
    """Return pairs of SNLI, each with three probabilities: the second follows, may be true, or describes
    another scene.
    """
    kinds = ("entailment", "neutral", "contradiction")
    rows = read_shared("snli-dev-test.jsonl")
    return [Pair(row["a"], row["b"], tuple(float(row["label"] == one) for one in kinds)) for row in rows]


def read_sick() -> tuple[list[Pair], list[Pair]]:
    """Return the training part of SICK, and the held-out part; no sentence is in both."""
    rows = read_shared("sick-dev.jsonl")
    root = _kin([(row["a"], row["b"]) for row in rows])
    parts: tuple[list[Pair], list[Pair]] = ([], [])
    for row in rows:
        group = root(row["a"])
        held_out = blake2b(group.encode(), digest_size=2).digest()[0] % 10 < 3
        parts[held_out].append(Pair(row["a"], row["b"], _of_sick(row), 0.6, "sick", row["label"]))
    return parts


def _of_sick(row: Mapping[str, Any]) -> tuple[float, ...]:
    if row["label"] == "contradiction":
        return target(conflict=1.0)
    if row["label"] == "entailment":
        return (
            target(duplicate=0.8, related=0.2)
            if row["relatedness"] >= SAME_IN_SICK
            else target(duplicate=0.4, related=0.6)
        )
    return target(related=0.9, distinct=0.1) if row["relatedness"] >= KIN_IN_SICK else target(related=0.2, distinct=0.8)


def _kin(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """Map each sentence to the representative of its cluster of connected pairs."""
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            text = parent[text]
        return text

    for a, b in pairs:
        first, second = sorted((root(a), root(b)))
        parent[second] = first
    return root
