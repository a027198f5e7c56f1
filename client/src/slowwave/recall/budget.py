"""Choose lines of a text within a size budget: the most important first, with a guaranteed share for each part.

A part is a section of a context, such as its days or its memories. An offer is a line that may be chosen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

MAX_MISSES = 8
"""After this many lines of a part that don't fit, the search for a shorter line ends, to save the cost of counting."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A line that may be chosen. part: its section, of whose share it takes; headings: each paid once by its lines."""

    part: str
    headings: tuple[str, ...]


class Fit:
    """Chooses lines, the most important of each part first; computes the cost of a line only when it considers the
    line.

    shares: the guaranteed share of the budget for each part (together at most 1), most important part first. always:
    the share that parts with priority may use before the others, whose shares are then of the rest. frame: the cost of
    a text without lines. line, above: compute the cost of the offer at an index, and the additional cost of a heading.
    """

    def __init__(
        self,
        offers: Sequence[Offer],
        shares: Mapping[str, float],
        *,
        always: Mapping[str, float] | None = None,
        frame: int,
        line: Callable[[int], int],
        above: Callable[[str], int],
    ) -> None:
        self._offers = offers
        self._shares = shares
        self._always = always or {}
        self._frame = frame
        self._line = cache(line)
        self._above = cache(above)
        self._places: dict[str, list[int]] = {part: [] for part in (*self._always, *shares)}
        for place, offer in enumerate(offers):
            self._places[offer.part].append(place)

    def choose(self, room: int) -> set[int]:
        """Return the indexes of the offers to show. Their total cost is at most `room`.

        Parts with priority use their shares first. Each other part then uses its share. Then the parts use the
        remaining room in order; parts with priority come last.
        """
        left = room - self._frame
        chosen: set[int] = set()
        opened: set[str] = set()
        for part, share in self._always.items():
            left -= self._take(self._places[part], min(left, int((room - self._frame) * share)), chosen, opened)
        rest = left
        for part, share in self._shares.items():
            left -= self._take(self._places[part], min(left, int(rest * share)), chosen, opened)
        for part in (*self._shares, *self._always):
            left -= self._take(self._places[part], left, chosen, opened)
        return chosen

    def _take(self, places: Iterable[int], room: int, chosen: set[int], opened: set[str]) -> int:
        taken = misses = 0
        for place in places:
            if misses == MAX_MISSES:
                break
            if place in chosen:
                continue
            cost = self._cost(place, opened)
            if cost > room - taken:
                misses += 1
                continue
            taken += cost
            chosen.add(place)
            opened.update(self._offers[place].headings)
        return taken

    def _cost(self, place: int, opened: set[str]) -> int:
        new = (heading for heading in self._offers[place].headings if heading not in opened)
        return self._line(place) + sum(map(self._above, new))
