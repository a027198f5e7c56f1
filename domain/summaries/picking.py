"""Choose lines: drop outdated lines, keep the best line of each facet, then choose by weight and novelty."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from slowwave_server.domain.summaries.lines import Line
from slowwave_server.domain.summaries.ranking import Item, choose, terms
from slowwave_server.domain.summaries.weights import EARLY_STATE, LEAST, SHARES, SUPERSEDED, SURE

_MILESTONE = re.compile(r"Run (queued|finished|failed|blocked): (.*)", re.DOTALL)
_OF_OUTCOMES = terms(
    "run task job queued started running finished completed complete done ok success successfully failed failure "
    "error errors blocked waiting retry again succeeded passed ready"
)
_GOES_ON = re.compile(r"[^\w\s]|(?:has |is |was )?(?:failed|blocked|finished|done|completed?|queued|started)\b")
_NAMED = re.compile(r"(.{3,120}?)(?::| [-\N{EN DASH}\N{EM DASH}]) .")
_NAMES = 3
"""Minimum words before a colon that name the task of a milestone; the outcome then follows the colon."""
_SAME_TASK = 0.6
"""Minimum Jaccard similarity of two milestones of the same task."""


def pick(lines: Sequence[Line], budget: int, cost: Callable[[Line], int], *, opening: int = 0) -> list[Line]:
    """Choose lines with a total cost within `budget`; the order has no meaning, the choice is deterministic.

    opening: the extra cost of the first line of each facet.
    """
    known = _without_repeats(_settled(sorted(lines, key=_key)))
    said = {line: terms(line.text) for line in known}
    telling = [line for line in known if _tells(line, said[line])]
    # If no line of the day reaches the minimum weight, choose the best lines nevertheless.
    able = [line for line in telling if line.weight >= LEAST] or telling
    items = [
        Item(line.weight - _too_early(line, at / len(able)), said[line], line.facet, cost(line), line.session)
        for at, line in enumerate(able)
    ]
    return [able[at] for at in choose(items, budget, opening=opening, first=_sure(items, budget, opening))]


def _sure(items: Sequence[Item], budget: int, opening: int) -> list[int]:
    """Return lines that take precedence: each ending, the best line of each facet, then each facet's share."""
    endings: list[int] = []
    best: list[int] = []
    others: list[int] = []
    for facet, share in SHARES.items():
        places = [at for at, item in enumerate(items) if item.kind == facet and item.weight >= SURE]
        if places:
            top = max(range(len(places)), key=lambda at: items[places[at]].weight)
            chosen = choose([items[at] for at in places], int(share * budget), opening=opening, first=(top,))
            best.append(places[top])
            kept = endings if facet == "ended" else others
            kept += [places[at] for at in chosen]
    return endings + best + others


def _key(line: Line) -> tuple[object, ...]:
    return (line.place, line.facet, line.speaker, line.weight)


def _too_early(line: Line, share: float) -> float:
    """Return the penalty of a state line that later events may have changed. share: the day before it, 0 to 1."""
    return EARLY_STATE * (1 - share) if line.facet == "state" else 0.0


def _tells(line: Line, said: frozenset[str]) -> bool:
    """Return True if a line says more than names: "Maya: Jonas!" does not."""
    if _MILESTONE.match(line.text):
        return True
    # A text in a script without spaces counts as one long word.
    size = sum(1 if term.isascii() else max(1, len(term) - 4) for term in said - terms(line.speaker))
    return size > (1 if line.text.startswith(f"{line.speaker}: ") else 0)


def _without_repeats(lines: Sequence[Line]) -> list[Line]:
    """Keep only the first of lines with the same text."""
    seen: dict[str, Line] = {}
    for line in lines:
        seen.setdefault(line.text.casefold(), line)
    return list(seen.values())


def _settled(lines: Sequence[Line]) -> list[Line]:
    """Keep the last outcome of each task and the last ending of each conversation.

    An earlier failure becomes history ("executed"); an earlier start is dropped.

    lines: sorted by time. Milestones belong to one run if their run ids are equal; if a run id is missing, the words of
    the milestones are compared.
    """
    last = {line.session: line for line in lines if line.facet == "ended"}
    lines = [line for line in lines if line.facet != "ended" or last[line.session] is line]
    later: list[_Told] = []
    kept: list[Line] = []
    for line in reversed(lines):
        found = _MILESTONE.match(line.text)
        if found is None:
            kept.append(line)
            continue
        told = _Told(found[2].casefold().rstrip(". "), terms(found[2]) - _OF_OUTCOMES, line.run)
        ended_so = found[1] == "finished"
        if not any(told.is_of(other) or (not ended_so and told.is_named_as(other)) for other in later):
            later.append(told)
            kept.append(line)
        elif found[1] in {"failed", "blocked"}:
            kept.append(replace(line, facet="executed", weight=SUPERSEDED))
    return kept[::-1]


@dataclass(frozen=True, slots=True)
class _Told:
    """The text of a milestone and the words in it that name the task."""

    text: str
    task: frozenset[str]
    run: str | None

    def is_of(self, other: "_Told") -> bool:
        """Return True if two milestones are of one run: same id, similar words, or the same text plus a cause."""
        if self.run is not None and other.run is not None:
            return self.run == other.run
        short, long = sorted((self.text, other.text), key=len)
        rest = long.removeprefix(short).lstrip()
        goes_on = rest != long and _GOES_ON.match(rest) is not None
        common = len(self.task & other.task)
        alike = common > 0 and common >= _SAME_TASK * len(self.task | other.task)
        return short == long or goes_on or alike

    def is_named_as(self, other: "_Told") -> bool:
        """Return True if both milestones name the same task before a colon."""
        if self.run is not None and other.run is not None:
            return False
        name = self._name()
        return name is not None and name == other._name()  # noqa: SLF001 - of its own kind

    def _name(self) -> str | None:
        found = _NAMED.match(self.text)
        return found[1] if found is not None and len(terms(found[1]) - _OF_OUTCOMES) >= _NAMES else None
