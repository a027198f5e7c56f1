"""Choose what fits: offers in the order of their importance, a guaranteed share for each part, a bound that holds.

Must not know: what the offers are, or what a token is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

MAX_MISSES = 8
"""So many lines that don't fit are passed over for a shorter one: all of a thousand would be counted for nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A line that may be shown. part: whose share it may take; heading: the text above it, which costs once."""

    part: str
    heading: str
    text: str


class Fit:
    """Chooses among offers; what each costs is counted once, when it is first looked at.

    offers: of each part the most important first; shares: of each part, the most important first, its guaranteed share
    of the room (0..1, together at most 1); frame: what an answer without lines costs.
    """

    def __init__(
        self,
        offers: Sequence[Offer],
        shares: Mapping[str, float],
        *,
        count: Callable[[str], int],
        frame: int,
    ) -> None:
        self._offers = offers
        self._shares = shares
        self._count = count
        self._frame = frame
        self._line_costs: dict[int, int] = {}
        self._heading_costs: dict[str, int] = {}
        self._places: dict[str, list[int]] = {part: [] for part in shares}
        for place, offer in enumerate(offers):
            self._places[offer.part].append(place)

    def choose(self, room: int) -> set[int]:
        """Places of the offers to show so that their costs add up to at most `room`.

        Each part takes what its share holds; then, in the order of the parts, what is left over.
        """
        left = room - self._frame
        chosen: set[int] = set()
        opened: set[str] = set()
        for part, share in self._shares.items():
            left -= self._take(self._places[part], min(left, int((room - self._frame) * share)), chosen, opened)
        for part in self._shares:
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
        offer = self._offers[place]
        if place not in self._line_costs:
            self._line_costs[place] = self._count(offer.text)
        if offer.heading in opened:
            return self._line_costs[place]
        if offer.heading not in self._heading_costs:
            self._heading_costs[offer.heading] = self._count(offer.heading)
        return self._line_costs[place] + self._heading_costs[offer.heading]
