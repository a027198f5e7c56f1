"""Group duplicate memories by complete linkage in a canonical order, and choose the surviving text of each group.

The order in which memories arrive does not matter.
"""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from slowwave_server.domain.consolidation.known import TRUSTS, MemoryRevision
from slowwave_server.domain.similarity import read

Mergeable = Callable[[MemoryRevision, MemoryRevision], bool]
Group = tuple[MemoryRevision, ...]


def groups(members: Iterable[MemoryRevision], mergeable: Mergeable) -> list[Group]:
    """Divide members into groups in which every pair may merge.

    Complete linkage means that all pairs must be similar: a chain of similar pairs is not a group. The oldest statement
    begins the first group; each further statement joins the first group that accepts it. For the same connected
    members, the result does not depend on their order (I9).
    """
    found: list[list[MemoryRevision]] = []
    for member in sorted(members, key=lambda memory: memory.order):
        home = next((group for group in found if all(mergeable(member, other) for other in group)), None)
        if home is None:
            found.append([member])
        else:
            home.append(member)
    return [tuple(group) for group in found]


def survivor(group: Group) -> MemoryRevision:
    """Return the memory whose text stays: the most trusted, then the one with most words, then the oldest."""
    return min(
        group,
        key=lambda memory: (TRUSTS.index(memory.own_trust), -len(set(read(memory.content).stems)), memory.order),
    )


def connected(start: Sequence[UUID], edges: Iterable[tuple[UUID, UUID]]) -> list[frozenset[UUID]]:
    """Return the ids that links connect with `start`, as groups of more than one id."""
    neighbours: dict[UUID, set[UUID]] = {}
    for a, b in edges:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    seen: set[UUID] = set()
    found: list[frozenset[UUID]] = []
    for first in start:
        if first in seen or first not in neighbours:
            continue
        component, waiting = set[UUID](), [first]
        while waiting:
            one = waiting.pop()
            if one not in component:
                component.add(one)
                waiting.extend(neighbours[one] - component)
        seen |= component
        found.append(frozenset(component))
    return found
