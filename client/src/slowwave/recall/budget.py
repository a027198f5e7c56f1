"""Choose offers within a budget: in the order of importance, with a guaranteed share for each part.

Must not know: the offers, the unit of the costs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

MAX_MISSES = 8
"""So many lines that don't fit are passed over for a shorter one: all of a thousand would be counted for nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A line that may be shown. part: the part whose share it uses; heading: the heading above it, which costs once."""

    part: str
    heading: str


class Fit:
    """Chooses among offers. It computes the cost of an offer only when it considers it; most of a thousand never are.

    offers: those of each part, the most important first. shares: the guaranteed share of the room of each part (0..1,
    together at most 1), the most important part first. always: the share that each part with priority may use before
    the others; the shares of the others are shares of the remaining room. frame: the cost of an answer without lines;
    line: the cost of the offer at an index; above: the additional cost of a heading.
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
        """Indexes of the offers to show; their total cost is at most `room`.

        Parts with priority use their shares first. Each other part then uses its share; then the parts, in order, use
        the remaining room, those with priority last.
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
            opened.add(self._offers[place].heading)
        return taken

    def _cost(self, place: int, opened: set[str]) -> int:
        heading = self._offers[place].heading
        return self._line(place) + (0 if heading in opened else self._above(heading))
