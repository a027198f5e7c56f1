"""Lay out a graph as numbers for an SVG: nodes on a circle, names outside the circle, relations as curves inside it.

Names never overlap, however many entities the graph has: each name gets its own place on the circle and points away
from the centre. If the user asked for one entity, that entity is at the centre.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

ROOM = 26.0
"""The length along the circle that each name gets."""
LEAST_RADIUS = 130.0
PULL = 0.45
"""How far a curve bends towards the centre: 0 is a straight line, 1 goes through the centre."""
_QUARTER, _THREE_QUARTERS = 90.0, 270.0


@dataclass(frozen=True, slots=True)
class Spot(Generic[T]):
    """A node's position. turn: the rotation of its name, in degrees. end: True if the name ends at the position."""

    node: T
    x: float
    y: float
    turn: float
    end: bool
    central: bool


@dataclass(frozen=True, slots=True)
class Curve(Generic[T]):
    """One relation. path: the SVG attribute `d`. turn: the rotation of the words at (x, y), which follow the curve."""

    source: T
    target: T
    path: str
    x: float
    y: float
    turn: float
    spoke: bool


@dataclass(frozen=True, slots=True)
class GraphLayout(Generic[T]):
    """A graph with its positions and curves, in a picture of width and height `size`."""

    size: float
    spots: tuple[Spot[T], ...]
    curves: tuple[Curve[T], ...]


def lay_out_graph(
    nodes: Sequence[T], pairs: Iterable[tuple[T, T]], middle: T | None = None, *, margin: float = 190.0
) -> GraphLayout[T]:
    """Place `nodes`, the most important first, and draw a curve for each of `pairs`. middle: one of the nodes, or None.

    margin: the space around the circle, which must fit the longest name.
    """
    joined = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
    around = _beside_each_other([node for node in nodes if node != middle], joined)
    radius = max(LEAST_RADIUS, ROOM * len(around) / math.tau)
    centre = radius + margin
    spots = {node: _spot(node, place, len(around), radius, centre) for place, node in enumerate(around)}
    if middle is not None:
        spots[middle] = Spot(middle, centre, centre, 0.0, False, True)
    curves = tuple(_curve(spots[a], spots[b], centre) for a, b in joined)
    return GraphLayout(round(2 * centre, 1), tuple(spots.values()), curves)


def _beside_each_other(nodes: Sequence[T], pairs: Sequence[tuple[T, T]]) -> list[T]:
    """Order the nodes so that related nodes are close to each other: walk from each node to its related nodes."""
    neighbours: dict[T, list[T]] = {node: [] for node in nodes}
    for a, b in pairs:
        if a in neighbours and b in neighbours:
            neighbours[a].append(b)
            neighbours[b].append(a)
    return list(dict.fromkeys(found for node in nodes for found in _walk(node, neighbours)))


def _walk(start: T, neighbours: Mapping[T, Sequence[T]]) -> Iterable[T]:
    seen, ahead = {start}, [start]
    while ahead:
        node = ahead.pop()
        yield node
        fresh = [other for other in neighbours[node] if other not in seen]
        seen.update(fresh)
        ahead.extend(reversed(fresh))


def _spot(node: T, place: int, count: int, radius: float, centre: float) -> Spot[T]:
    degrees = 360.0 * place / max(1, count)
    angle = math.radians(degrees)
    x, y = centre + radius * math.cos(angle), centre + radius * math.sin(angle)
    left = _QUARTER < degrees < _THREE_QUARTERS
    turn = degrees - 180.0 if left else degrees - 360.0 if degrees >= _THREE_QUARTERS else degrees
    return Spot(node, round(x, 1), round(y, 1), round(turn, 1), left, False)


def _curve(a: Spot[T], b: Spot[T], centre: float) -> Curve[T]:
    if a.central or b.central:
        outer = b if a.central else a
        path = f"M {a.x} {a.y} L {b.x} {b.y}"
        # The control point is nearer to the circle than to the centre, because the lines are further apart there.
        x, y = centre + (outer.x - centre) * 0.66, centre + (outer.y - centre) * 0.66
        return Curve(a.node, b.node, path, round(x, 1), round(y, 1), outer.turn, True)
    bent_x, bent_y = (a.x + b.x) / 2, (a.y + b.y) / 2
    bent_x, bent_y = bent_x + (centre - bent_x) * PULL, bent_y + (centre - bent_y) * PULL
    path = f"M {a.x} {a.y} Q {bent_x:.1f} {bent_y:.1f} {b.x} {b.y}"
    return Curve(a.node, b.node, path, round(bent_x, 1), round(bent_y, 1), 0.0, False)
