"""Show changes and contradictions together: after ranking, add to each memory the memories that belong to it.

    found                  shown
    a current memory       this memory, then the memory that it replaced last ("… until 2025-05-02")
    a memory that ended    the memory that is valid today, then the ended one
    one side of an open    both sides in sequence; each names the other in `contradicts`
    conflict

Companions count towards the limit of the search. If only one place is left, one side of a conflict is not shown alone,
unless nothing else was found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from slowwave.recall.hits import Hit, hit_of
from slowwave.recall.query_steps import Query, Row, Steps, statement

_PAIR = statement("pair_memories")

Labels = Mapping[int, str | None]
Key = tuple[str, int | None]
"""A hit: passages of one event share its id."""


def pairing_steps(hits: Sequence[Hit], labels: Labels, limit: int) -> Steps[list[Hit]]:
    """Return the same hits with their companions, at most `limit`. Sends one query, or none if no memory was found."""
    memories = [hit.id for hit in hits if hit.kind == "memory"]
    if not memories:
        return list(hits[:limit])
    rows = yield Query(_PAIR, {"scopes": sorted(labels), "ids": memories})
    return paired(hits, rows, labels, limit)


def paired(hits: Sequence[Hit], rows: Sequence[Row], labels: Labels, limit: int) -> list[Hit]:
    """Return hits in rank order, each with its companions. rows: rows of slowwave.pair_memories."""
    pairs = _Pairs(hits, rows, labels)
    shown: dict[Key, Hit] = {}
    for hit in hits:
        if len(shown) >= limit:
            break
        if _is_told(hit, shown):
            continue
        # A memory that is shown as a companion of an earlier hit may still lack its own companions.
        unit = [one for one in pairs.unit(hit) if _key(one) not in shown]
        if len(shown) + len(unit) > limit:
            unit = _what_fits(unit, limit - len(shown), alone=not shown)
        shown |= {_key(one): one for one in unit}
    return list(shown.values())


class _Pairs:
    """Found memories and their companions by id, and the pairs between them."""

    def __init__(self, hits: Sequence[Hit], rows: Sequence[Row], labels: Labels) -> None:
        self._hits = {hit.id: hit for hit in hits if hit.kind == "memory"}
        self._beside: dict[str, dict[str, list[str]]] = {}
        for row in rows:
            found, relation = row["found"], row["relation"]
            if relation == "self":
                self._hits[found] = replace(self._hits[found], valid_to=row["valid_to"])
                continue
            if row["id"] not in self._hits:
                score = self._hits[found].score if found in self._hits else 0.0
                self._hits[row["id"]] = hit_of(row, score, labels)
            self._beside.setdefault(found, {}).setdefault(relation, []).append(row["id"])
            if relation == "conflict":
                self._contradicts(found, row["id"])

    def unit(self, hit: Hit) -> list[Hit]:
        """Return a hit with its companions: the valid memory first, then what contradicts it, then the ended ones."""
        if hit.kind == "event":
            return [hit]
        current = self._of(hit.id, "current")
        holding = list(current or [hit.id])
        for one in tuple(holding):
            holding += self._of(one, "conflict")
        ended = [hit.id] if current else self._of(hit.id, "replaced")
        return [self._hits[one] for one in dict.fromkeys((*holding, *ended))]

    def _of(self, memory: str, relation: str) -> list[str]:
        return self._beside.get(memory, {}).get(relation, [])

    def _contradicts(self, one: str, other: str) -> None:
        for side, against in ((one, other), (other, one)):
            hit = self._hits.get(side)
            if hit is not None and against not in hit.contradicts:
                self._hits[side] = replace(hit, contradicts=(*hit.contradicts, against))


def _key(hit: Hit) -> Key:
    return hit.id, hit.part


def _what_fits(unit: Sequence[Hit], room: int, *, alone: bool) -> list[Hit]:
    """Return the most important part of a unit: current statements first, no side of a conflict without the other."""
    kept = ([one for one in unit if one.valid_to is None] or list(unit))[:room]
    ids = {one.id for one in kept}
    divided = any(not ids.issuperset(one.contradicts) for one in kept)
    return kept if alone or not divided else []


def _is_told(hit: Hit, shown: Mapping[Key, Hit]) -> bool:
    """Return True if shown memories already cover an event."""
    if hit.kind == "memory":
        return False
    told = {source for one in shown.values() if one.kind == "memory" for source in one.sources}
    return set(hit.sources) <= told
