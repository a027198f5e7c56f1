"""Choose what fits: offers in the order of their importance, a guaranteed share for each part, a bound that holds.

Must not know: what the offers are, or what a token is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

MAX_MISSES = 8
"""So many lines that don't fit are passed over for a shorter one: all of a thousand would be counted for nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A line that may be shown. part: whose share it may take; heading: what it stands under, which costs once."""

    part: str
    heading: str


class Fit:
    """Chooses among offers; what each costs is asked once, when it is first looked at: of a thousand, most never are.

    offers: of each part the most important first; shares: of each part, the most important first, its guaranteed share
    of the room (0..1, together at most 1); always: of each part that comes before all others, the share of the room
    that it may take first: the shares of the others are shares of what it leaves; frame: what an answer without lines
    costs; line: what the offer at a place costs; above: what a heading adds to that.
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
        """Places of the offers to show so that their costs add up to at most `room`.

        The parts that always stand take theirs first. Each other part takes what its share holds; then, in the order
        of the parts, what is left over, and the parts that always stand at last.
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
