"""Count found secrets and damaged sentences."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from proof.redaction.cases import Case, left

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Recall:
    """The numbers of secrets and of found ones, by each name of a grouping such as "kind"."""

    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, case: Case, *, found: bool) -> None:
        """Count a case under all its names."""
        names = [("all", "all"), ("kind", case.kind), ("language", case.language), ("spelling", case.spelling)]
        if case.core:
            names += [("core", "core"), ("core language", case.language), ("core spelling", case.spelling)]
        self.told.update(names)
        self.found.update(names if found else [])

    def rate(self, grouping: str, name: str) -> float:
        """Return the share of found secrets."""
        return self.found[grouping, name] / self.told[grouping, name]

    def names(self, grouping: str) -> list[str]:
        """Return the names of a grouping, in the order of their arrival."""
        return [name for group, name in self.told if group == grouping]


@dataclass(frozen=True, slots=True)
class Alarms:
    """Ordinary sentences of one origin, and the damaged ones with their redacted text."""

    origin: str
    sentences: int
    spoilt: tuple[str, ...]
    seconds: float
    characters: int

    @property
    def per_thousand(self) -> float:
        """Return the false alarms per thousand sentences."""
        return 1000 * len(self.spoilt) / max(1, self.sentences)


def measure_recall(cases: Iterable[Case], redact: Callable[[str], str]) -> Recall:
    """Redact every case, and count those of which nothing is left."""
    recall = Recall()
    for case in cases:
        recall.add(case, found=not left(case, redact(case.text)))
    return recall


def measure_alarms(origin: str, sentences: Iterable[str], redact: Callable[[str], str]) -> Alarms:
    """Redact every ordinary sentence, and keep those that changed. seconds: CPU seconds."""
    told = list(sentences)
    began = time.process_time()
    shown = [redact(text) for text in told]
    seconds = time.process_time() - began
    spoilt = tuple(after for before, after in zip(told, shown, strict=True) if before != after)
    return Alarms(origin, len(told), spoilt, seconds, sum(map(len, told)))
