"""A pair of statements for training or for measuring."""

from dataclasses import dataclass, replace

OUTPUTS = ("duplicate", "conflict", "update", "updated", "related", "distinct")
"""The relations, in the order of the network's outputs. update: the second says that the first has ended or changed;
updated: the first says so of the second.
"""
SWAPPED = (0, 1, 3, 2, 4, 5)
"""The order of the outputs if the two statements swap places."""


def target(**shares: float) -> tuple[float, ...]:
    """Return the target of a pair with one true output, by the output's name."""
    return tuple(shares.get(name, 0.0) for name in OUTPUTS)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements. target: the probability of each of OUTPUTS; for captions, whose order matters, the probabilities
    that the second follows, may be true, or describes another scene.

    part: the data set; group: the unit that a split must not divide.
    """

    first: str
    second: str
    target: tuple[float, ...]
    weight: float = 1.0
    part: str = ""
    group: str = ""

    def swapped(self) -> "Pair":
        """Return the same pair in the other order."""
        return replace(
            self, first=self.second, second=self.first, target=tuple(self.target[place] for place in SWAPPED)
        )

    @property
    def label(self) -> str:
        """Return the output with the highest target."""
        return OUTPUTS[max(range(len(OUTPUTS)), key=lambda place: self.target[place])]

    @property
    def length(self) -> int:
        """Return the number of characters of both statements."""
        return len(self.first) + len(self.second)
