"""How well an extractor's memories agree with memories that people wrote: counts, and the shares that follow.

Must not know: where conversations come from, which extractor ran, and how figures are printed.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """Messages counted. kept: those that are the source of a memory; gold: those for which a person wrote one; both:
    those that are both.
    """

    kept: int = 0
    gold: int = 0
    both: int = 0

    @property
    def precision(self) -> float:
        """Of the kept messages, the share with a gold memory; 0 if none was kept."""
        return self.both / self.kept if self.kept else 0.0

    @property
    def recall(self) -> float:
        """Of the messages with a gold memory, the share that was kept; 0 if there is none."""
        return self.both / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.both / (self.kept + self.gold) if self.kept + self.gold else 0.0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.kept + other.kept, self.gold + other.gold, self.both + other.both)


def agreement(kept: frozenset[int], gold: frozenset[int]) -> Agreement:
    """Count the messages of one conversation, by their numbers."""
    return Agreement(len(kept), len(gold), len(kept & gold))
