"""Compare `RulesExtractor` with people on Multi-Session Chat: the utterances that each keeps, and the words of the
memories.

Keeping: an utterance counts as kept if it is a source of a candidate; this is right if a person wrote a memory for it.
The baselines are "keep everything" and "keep every utterance with a first-person verb".

Wording: ROUGE-L (F, stemmed) of the joined candidates against the memory that the person wrote; the baseline is the raw
utterance. People wrote "I like horses", the extractor "Maya likes horses", so the comparison has three forms:
unchanged, where each name for an "I" counts as an error; in the third person, where version 1 of the rules changes the
person of the written memory and of the raw utterance, sentence by sentence; and in the first person, where only the
extractor's names become "I" and "my". "kept" are utterances that a person and the extractor kept; "all" are all
utterances that a person kept, with an empty extraction counting 0.

The weights were fitted on the whole development file; `bench/fit_signals.py` shows the same metric on held-out
dialogues.
Run: python -m bench.msc [FILE]
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from rouge_score.rouge_scorer import RougeScorer

from bench.msc_data import NAMES, Utterance, data_file, dialogues
from bench.replay import FIRST_PERSON_VERB, Compared, memories
from bench.report import Row, note
from bench.rules_v1.person import Speaker, third_person
from bench.rules_v1.sentences import sentences
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.evaluation import Carried, carried
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor

FILE = "msc-memories-dev.jsonl"
START = datetime(2024, 3, 4, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Judged:
    """One utterance, its extraction, and True if its dialogue is in the first half (even)."""

    turn: Utterance
    said: str
    half: int


def events_of(turns: Sequence[Utterance]) -> tuple[Event, ...]:
    """Return a dialogue as events: the first speaker is the user, the second the assistant, both by name."""
    kinds: dict[str, EventKind] = dict(zip(NAMES.values(), ("user", "assistant"), strict=True))
    return tuple(
        Event(at, kinds.get(turn.speaker, "user"), "user", turn.text, START + timedelta(minutes=at), name=turn.speaker)
        for at, turn in enumerate(turns, 1)
    )


def extract(turns: Sequence[Utterance], extractor: Extractor) -> list[str]:
    """Return the extraction of each utterance of a dialogue, in order; "" if nothing is kept."""
    events = events_of(turns)
    found = memories(extractor, events, "helper")
    return [" ".join(one.content for one in found if event.seq in one.sources) for event in events]


def judge(every: Sequence[Sequence[Utterance]], extractor: Extractor) -> list[Judged]:
    """Return all utterances with their extractions."""
    return [
        Judged(turn, text, number % 2)
        for number, turns in enumerate(every)
        for turn, text in zip(turns, extract(turns, extractor), strict=True)
    ]


def measure(compared: Compared) -> dict[str, float]:
    """Return the figures of one extractor that `bench.extraction` puts in its table, by name."""
    judged = judge(list(dialogues(data_file(FILE))), compared.extractor)
    kept = keeping(judged, lambda one: one.said != "")
    words = sum((carried(one.turn.memory, (one.said,)) for one in judged if one.turn.memory), Carried())
    return {
        "utterances, F1": kept.f1,
        "utterances, precision": kept.precision,
        "utterances, recall": kept.recall,
        "words of gold memories in memories": words.share,
    }


class Kept(NamedTuple):
    """Precision and recall of a rule against the utterances that people keep."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    def __str__(self) -> str:
        return f"P {self.precision:.3f}  R {self.recall:.3f}  F1 {self.f1:.3f}"


def keeping(judged: Sequence[Judged], keeps: Callable[[Judged], bool]) -> Kept:
    """Return precision and recall of a rule that keeps utterances."""
    ours = [one for one in judged if keeps(one)]
    people = sum(one.turn.memory != "" for one in judged)
    hits = sum(one.turn.memory != "" for one in ours)
    return Kept(hits / len(ours), hits / people)


def in_third_person(text: str, speaker: str) -> str:
    """Return any text, sentence by sentence, with the change of person of version 1 of the rules."""
    other = next((name for name in NAMES.values() if name != speaker), None)
    return " ".join(third_person(sentence, Speaker(speaker, other)) for sentence in sentences(text))


def has_first_person_verb(one: Judged) -> bool:
    """Return True if a text has a first-person verb: the second baseline."""
    return FIRST_PERSON_VERB.search(one.turn.text) is not None


def in_first_person(text: str, speaker: str) -> str:
    """Return the extractor's text with "I" and "my" for the speaker's name; the verbs stay in the third person."""
    return text.replace(f"{speaker}'s", "my").replace(speaker, "I")


class Said(NamedTuple):
    """Mean ROUGE-L of the extractor and of the raw utterance: over kept utterances, and over all."""

    label: str
    rules: float
    raw: float
    rules_all: float
    raw_all: float

    def __str__(self) -> str:
        return (
            f"ROUGE-L {self.label:20}  kept: rules {self.rules:.3f}  raw {self.raw:.3f}"
            f"   all: rules {self.rules_all:.3f}  raw {self.raw_all:.3f}"
        )


def saying(judged: Sequence[Judged]) -> list[Said]:
    """Compare the extractor's words and the raw utterance with the written memory, by change of person."""
    scorer = RougeScorer(["rougeL"], use_stemmer=True)

    def alike(reference: str, text: str) -> float:
        return float(scorer.score(reference, text)["rougeL"].fmeasure)

    def same(text: str, _speaker: str) -> str:
        return text

    found = []
    for label, both, ours in (
        ("as it is", same, same),
        ("in the third person", in_third_person, same),
        ("in the first person", same, in_first_person),
    ):
        scores = [
            (
                alike(both(one.turn.memory, one.turn.speaker), ours(one.said, one.turn.speaker)),
                alike(both(one.turn.memory, one.turn.speaker), both(one.turn.text, one.turn.speaker)),
                one.said != "",
            )
            for one in judged
            if one.turn.memory
        ]
        kept = [(rules, raw) for rules, raw, said in scores if said]
        means = (mean(a for a, _ in kept), mean(b for _, b in kept))
        found.append(Said(label, *means, mean(a for a, _, _ in scores), mean(b for _, b, _ in scores)))
    return found


def tell(judged: Sequence[Judged]) -> None:
    """Note the rows of the common table."""
    rules = keeping(judged, lambda one: one.said != "").f1
    for than, keeps in (("keep everything", lambda _: True), ("first-person verb", has_first_person_verb)):
        beside = keeping(judged, keeps).f1
        note(Row("MSC", "F1 of what is kept", rules, than, beside, "", rules / beside, ">= 1"))
    for said in saying(judged):
        what = f"ROUGE-L of what is said, {said.label}"
        # In the unchanged form, the persons differ by design (a memory names its speaker): reported, without a bound.
        bound = "" if said.label == "as it is" else ">= 1"
        note(Row("MSC", what, said.rules, "raw utterance", said.raw, "", said.rules / said.raw, bound))


def report(judged: Sequence[Judged], title: str) -> None:
    """Print the figures of a set of utterances."""
    print(f"{title}: {len(judged)} utterances, people kept {sum(one.turn.memory != '' for one in judged)}")
    print(f"  rules                     {keeping(judged, lambda one: one.said != '')}")
    print(f"  keep everything           {keeping(judged, lambda _: True)}")
    print(f"  first-person verb         {keeping(judged, has_first_person_verb)}")
    for line in saying(judged):
        print(f"  {line}")


def main() -> None:
    """Print the figures of all dialogues, and of each half."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else data_file(FILE)
    if not path.exists():
        sys.exit(f"{path} is not there: set SLOWWAVE_SHARED to the folder that holds data/")
    every = list(dialogues(path))
    began = time.perf_counter()
    judged = judge(every, RulesExtractor())
    taken = time.perf_counter() - began
    report(judged, "all dialogues")
    tell(judged)
    report([one for one in judged if one.half == 0], "even dialogues")
    report([one for one in judged if one.half == 1], "odd dialogues")
    print(f"{taken / len(judged) * 1000:.3f} ms an utterance")


if __name__ == "__main__":
    main()
