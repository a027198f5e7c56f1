"""Compare an extractor's memories with memories that people wrote: counts, and ratios of the counts."""

from collections.abc import Iterable
from dataclasses import dataclass

from slowwave_server.domain.summaries.ranking import terms


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of messages: sources of a kept memory, messages for which a person wrote one, and those in both groups."""

    kept: int = 0
    gold: int = 0
    both: int = 0

    @property
    def precision(self) -> float:
        """The share of kept messages with a gold memory; 0 if no message was kept."""
        return self.both / self.kept if self.kept else 0.0

    @property
    def recall(self) -> float:
        """The share of messages with a gold memory that was kept; 0 without gold memories."""
        return self.both / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if no message was kept and none has a gold memory."""
        return 2 * self.both / (self.kept + self.gold) if self.kept + self.gold else 0.0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.kept + other.kept, self.gold + other.gold, self.both + other.both)


def agreement(kept: Iterable[int], gold: Iterable[int]) -> Agreement:
    """Count the messages of one conversation, given by their numbers."""
    ours, people = frozenset(kept), frozenset(gold)
    return Agreement(len(ours), len(people), len(ours & people))


@dataclass(frozen=True, slots=True)
class Carried:
    """Counts of words. gold: content words and numbers of gold memories; carried: those that the memories contain."""

    gold: int = 0
    carried: int = 0

    @property
    def share(self) -> float:
        """The share of the words of gold memories that the memories contain; 0 without gold memories."""
        return self.carried / self.gold if self.gold else 0.0

    def __add__(self, other: "Carried") -> "Carried":
        return Carried(self.gold + other.gold, self.carried + other.carried)


def carried(gold: str, memories: Iterable[str]) -> Carried:
    """Count the content words and numbers of one gold memory, by stem, and how many of them the memories contain."""
    wanted = terms(gold)
    said = frozenset[str]().union(*(terms(memory) for memory in memories))
    return Carried(len(wanted), len(wanted & said))
