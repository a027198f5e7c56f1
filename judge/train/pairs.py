"""A pair of statements that is learned from or judged.

Must not know: where it comes from.
"""

from dataclasses import dataclass, replace

OUTPUTS = ("duplicate", "conflict", "update", "updated", "related", "distinct")
"""What is told apart, in the order of the network's outputs. update: the second says that the first has ended or
changed; updated: the first says so of the second."""
SWAPPED = (0, 1, 3, 2, 4, 5)
"""Where the outputs stand if the two statements change places."""


def target(**shares: float) -> tuple[float, ...]:
    """What is true of a pair, by the name of the output."""
    return tuple(shares.get(name, 0.0) for name in OUTPUTS)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements. target: how much of each of OUTPUTS is true of them; of captions, where one order counts,
    how much follows, may be, or is another scene.

    part: the data set; group: what a split must not cut.
    """

    first: str
    second: str
    target: tuple[float, ...]
    weight: float = 1.0
    part: str = ""
    group: str = ""

    def swapped(self) -> "Pair":
        """The same pair in the other order."""
        return replace(
            self, first=self.second, second=self.first, target=tuple(self.target[place] for place in SWAPPED)
        )

    @property
    def label(self) -> str:
        """The output that is most true."""
        return OUTPUTS[max(range(len(OUTPUTS)), key=lambda place: self.target[place])]

    @property
    def length(self) -> int:
        """Characters of both."""
        return len(self.first) + len(self.second)
