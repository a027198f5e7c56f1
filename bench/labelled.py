"""Turns with gold labels from MSC, RealMem and LoCoMo, for fitting a score on several data sets.

People labelled turns, not sentences. A turn is positive if a gold memory names it. At least one of its sentences is
then worth keeping, but the label does not say which (multiple-instance labels). `alike` says how much each sentence
shares with the gold memories of its turn: a hint, not a label.

    rows(turns("realmem"), features)       the input of a fit, with any features
    leave_one_out(("msc", …), fit, judge)  F1 on each set, fitted on all sets and on the others alone

Run: python -m bench.labelled        counts of each set, and both F1 scores for the signals of version 1
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from bench import convert_locomo, fit_signals, msc, msc_data, realmem_data
from bench.msc_data import data_file
from bench.rules_v1.noise import without_machinery
from bench.rules_v1.sentences import sentences
from bench.rules_v1.signals import Seen, signals
from bench.session_data import LOCOMO, talks_of
from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries.ranking import terms

Model = TypeVar("Model")
Features = tuple[str, ...]
Row = fit_signals.Row
"""One turn: the features of each sentence, its similarity to the gold memories, and whether the turn is gold."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn with its label. group: the person or conversation, which a split must not divide; gold: its memories."""

    group: str
    event: Event
    before: Event | None
    gold: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Return its sentences, without code and logs."""
        return list(sentences(without_machinery(self.event.content)))

    def alike(self, parts: Sequence[str]) -> list[float]:
        """Return the similarity of each part to its nearest gold memory: Dice of content words."""
        golds = [terms(gold) for gold in self.gold]
        return [max((_dice(terms(part), gold) for gold in golds), default=0.0) for part in parts]


def _dice(a: frozenset[str], b: frozenset[str]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def turns(name: str) -> Iterator[Turn]:
    """Return the labelled turns of a data set: msc, realmem or locomo."""
    yield from SETS[name]()


def sessions(name: str) -> Iterator[list[Turn]]:
    """Return the same turns, session by session."""
    found: list[Turn] = []
    for turn in turns(name):
        if turn.before is None and found:
            yield found
            found = []
        found.append(turn)
    if found:
        yield found


def rows(labelled: Iterator[Turn], features: Callable[[Turn, str, int], Features]) -> list[Row]:
    """Return the input of a fit. features: a function of a turn, one of its sentences, and the sentence's position in
    the turn.
    """
    found: list[Row] = []
    for turn in labelled:
        if parts := turn.sentences:
            fired = [features(turn, part, place) for place, part in enumerate(parts)]
            found.append((fired, turn.alike(parts), bool(turn.gold)))
    return found


def signals_v1(turn: Turn, sentence: str, place: int) -> Features:
    """Return the signals of version 1."""
    before = turn.before.content if turn.before else None
    return signals(sentence, Seen.after(before) if place == 0 else Seen())


@dataclass(frozen=True, slots=True)
class Held:
    """F1 on one data set. seen: fitted on all sets; unseen: fitted on the other sets."""

    seen: float
    unseen: float


def leave_one_out(
    sets: Mapping[str, list[Row]], fit: Callable[[list[Row]], Model], judge: Callable[[Model, list[Row]], float]
) -> dict[str, Held]:
    """Return F1 on each data set of a model fitted on all sets, and of one fitted without this set."""
    whole = fit([row for found in sets.values() for row in found])
    held = {}
    for name, found in sets.items():
        others = fit([row for other, rows_of in sets.items() if other != name for row in rows_of])
        held[name] = Held(judge(whole, found), judge(others, found))
    return held


def _pairs(group: str, events: Sequence[Event], gold: Mapping[int, tuple[str, ...]]) -> Iterator[Turn]:
    for before, event in pairwise((None, *events)):
        if event is not None:
            yield Turn(group, event, before, gold.get(event.seq, ()))


def _msc() -> Iterator[Turn]:
    for number, said in enumerate(msc_data.dialogues(data_file(msc.FILE))):
        gold = {seq: (turn.memory,) for seq, turn in enumerate(said, 1) if turn.memory}
        yield from _pairs(f"dialogue-{number}", msc.events_of(said), gold)


def _realmem() -> Iterator[Turn]:
    for person in realmem_data.people(data_file(realmem_data.FILE)):
        for session in person.sessions:
            yield from _pairs(person.name, session.events, session.gold)


def _locomo() -> Iterator[Turn]:
    for entry in json.loads(data_file(LOCOMO).read_text(encoding="utf-8")):
        facts = _facts(entry)
        for talk in talks_of(list(convert_locomo.events(entry))):
            number = talk.session.removeprefix("session_")
            gold = {event.seq: facts.get(f"D{number}:{event.seq}", ()) for event in talk.events}
            yield from _pairs(talk.agent, talk.events, gold)


def _facts(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the facts that people observed, by the dia_id of their turn; a fact may name several turns."""
    facts: dict[str, tuple[str, ...]] = {}
    for by_speaker in entry["observation"].values():
        for told in by_speaker.values():
            for fact, where in told:
                for dia_id in re.findall(r"D\d+:\d+", str(where)):
                    facts[dia_id] = (*facts.get(dia_id, ()), fact)
    return facts


SETS: Mapping[str, Callable[[], Iterator[Turn]]] = {"msc": _msc, "realmem": _realmem, "locomo": _locomo}
"""By name: the turns of a data set."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A fitted model of version 1's kind with the best threshold on its training data."""

    names: list[str]
    values: Any = field(repr=False)
    threshold: float = 0.0


def fit_v1(data: list[Row]) -> Weights:
    """Fit the weights of signals, and take the best threshold."""
    names = sorted({name for parts, _, _ in data for fired in parts for name in fired} - fit_signals.HAND_SET.keys())
    weights = fit_signals.fit(data, names)
    steps = [step / 4 for step in range(-12, 13)]
    best = max(steps, key=lambda threshold: fit_signals.judge(data, names, weights, threshold)[2])
    return Weights(names, weights, best)


def judge_v1(model: Weights, data: list[Row]) -> float:
    """Return F1 of turns on a data set."""
    return fit_signals.judge(data, model.names, model.values, model.threshold)[2]


def main() -> int:
    """Print the counts, and F1 of the signals of version 1 on each set, seen and unseen."""
    sets = {name: rows(turns(name), signals_v1) for name in SETS}
    for name, found in sets.items():
        positive = sum(kept for _, _, kept in found) / len(found)
        told = f"{sum(len(parts) for parts, _, _ in found):,} sentences"
        print(f"{name:<10}{len(found):,} turns, {positive:.1%} with a gold memory, {told}", flush=True)
    for name, held in leave_one_out(sets, fit_v1, judge_v1).items():
        print(f"{name:<10}F1 fitted on all sets {held.seen:.3f}, on the others {held.unseen:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
