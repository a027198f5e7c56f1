"""Read the statements for training the judge, and those for measuring it.

    data/statements.jsonl   statements written for this project, or made by the rules from conversations written for it
    data/labels.jsonl       labels of statements that the rules make from the public data sets. A line names a
                            statement by its set and a hash, because the repository must not contain text of these
                            sets.
    gold of turns           MSC, RealMem and LoCoMo give for each turn the memories that people wrote. A statement that
                            shares words with them counts as good, a statement of a turn without any as bad, with less
                            weight.

Readers gave the labels: u (useful), m (marginal), j (junk). data/README.md has their instructions.

A fifth of the persons and dialogues of each public set is held out: training uses neither their labels nor their gold.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from bench import labelled
from bench.msc_data import data_file
from bench.replay import Compared, memories
from bench.session_data import FILES, Talk, talks
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.worth import Proposal

DATA = Path(__file__).parent.parent / "data"
USEFUL = {"u": 1.0, "m": 0.5, "j": 0.0}
HELD_OUT = frozenset(("Oliver_Smith", "conv-48"))
"""A person of RealMem and a conversation of LoCoMo."""
FIFTHS = {"msc": 1, "tau": 2}
"""Sets of which every fifth dialogue or task is held out, with the step between their numbers."""
GOLD_WEIGHT = 0.4
"""The weight of a statement with gold, relative to one with a reader's label."""
GOOD, BAD = 0.75, 0.1
"""Targets for a statement that shares words with the gold, and for one of a turn without gold."""
ALIKE = 0.35
"""The share of common content words (Dice) from which a statement equals the gold of its turn."""
MOST_OF_SET = 2500
"""The most statements with gold from one set: half of them good."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A statement with its label. about: "TALK, ROLE, TYPE"; part: the data set, which a split must not divide.

    label: one letter per reader, one or two letters; "" if only the gold of its turn is known. group: the person or
    conversation. useful: the training target, from 0 to 1.
    """

    text: str
    about: str
    label: str
    part: str
    group: str = ""
    useful: float = 0.0
    weight: float = 1.0

    @property
    def verdict(self) -> str:
        """Return one letter: the common label of its readers, else m."""
        return self.label[0] if len(set(self.label)) == 1 else "m"


def read(text: str, about: str, label: str, part: str, group: str = "") -> Labelled:
    """Read a statement with readers' labels."""
    return Labelled(text, about, label, part, group, sum(map(USEFUL.__getitem__, label)) / len(label))


def is_held_out(one: Labelled) -> bool:
    """Return True if a statement belongs to a held-out person or dialogue."""
    return is_held_out_group(one.part, one.group)


def is_held_out_group(part: str, group: str) -> bool:
    """Return True if a person or dialogue of a data set is held out."""
    return group in HELD_OUT or (part in FIFTHS and int(group.split("-")[1]) // FIFTHS[part] % 5 == 0)


def group_of(part: str, talk: Talk) -> str:
    """Return the person, conversation or dialogue to which a session of a data set belongs."""
    person, _, rest = talk.session.partition("/")
    return person if rest else talk.session if part in {"msc", "tau"} else talk.agent


class Recorder:
    """A judge that stores every statement and its inputs."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        self.asked |= {one.text: one.about for one in proposals}
        return [1.0] * len(proposals)


def read_labelled() -> list[Labelled]:
    """Return all statements whose text is available. Labels of missing data sets are skipped."""
    written = [json.loads(line) for line in (DATA / "statements.jsonl").read_text("utf-8").splitlines()]
    found = []
    for row in written:
        asked = Proposal(row["text"], row["talk"], row["role"], row["type"])
        found.append(read(asked.text, asked.about, row["label"], row["part"]))
    labels: dict[str, dict[str, str]] = {}
    for line in (DATA / "labels.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        labels.setdefault(row["set"], {})[row["id"]] = row["label"]
    for part, by_id in labels.items():
        if data_file(FILES[part]).is_file():
            found += _of_set(part, by_id)
    return found


def _of_set(part: str, labels: dict[str, str]) -> Iterator[Labelled]:
    for group, session, text, told in proposed(part):
        if label := labels.pop(statement_id(part, session, text), None):
            yield read(text, told, label, part, group)


def proposed(part: str, transcripts: Path | None = None) -> Iterator[tuple[str, str, str, str]]:
    """Yield the group, session, text and "TALK, ROLE, TYPE" of each statement that the rules make from a data set."""
    recorder = Recorder()
    extractor = Compared(RulesExtractor(recorder))
    for talk in talks(part, transcripts):
        recorder.asked.clear()
        list(talk.remembered(extractor))
        for text, about in recorder.asked.items():
            yield group_of(part, talk), talk.session, text, about


def read_gold(seed: int) -> list[Labelled]:
    """Return statements with the gold of their turns, as many good as bad ones from each set."""
    found = []
    for part in labelled.SETS:
        if data_file(FILES[part]).is_file():
            every = [one for one in _with_gold(part) if not is_held_out(one)]
            random_ = random.Random(seed)
            for useful in (GOOD, BAD):
                of_kind = [one for one in every if one.useful == useful]
                found += random_.sample(of_kind, min(MOST_OF_SET // 2, len(of_kind)))
    return found


def _with_gold(part: str) -> Iterator[Labelled]:
    recorder = Recorder()
    extractor = RulesExtractor(recorder)
    for turns in labelled.sessions(part):
        recorder.asked.clear()
        by_seq = {turn.event.seq: turn for turn in turns}
        agent = "assistant" if part == "realmem" else turns[0].group
        for memory in memories(extractor, [turn.event for turn in turns], agent):
            sources = [by_seq[seq] for seq in memory.sources]
            about = recorder.asked.get(memory.content)
            alike = max(turn.alike([memory.content])[0] for turn in sources)
            useful = BAD if not any(turn.gold for turn in sources) else GOOD if alike >= ALIKE else None
            if about is not None and useful is not None:
                yield Labelled(memory.content, about, "", part, turns[0].group, useful, GOLD_WEIGHT)


def statement_id(part: str, session: str, text: str) -> str:
    """Return the id of a statement whose text the repository must not contain."""
    return blake2b(f"{part}|{session}|{text}".encode(), digest_size=8).hexdigest()
