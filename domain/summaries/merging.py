"""Parts of a summary put together: recursively in groups, each level bounded, the last within the words asked for.

Must not know: events, and how the lines of a part were chosen.
"""

import math
from collections.abc import Iterable, Sequence

from domain.summaries.lines import HEADING_WORDS, DaySummary, Line, as_markdown, in_order, words_of
from domain.summaries.ranking import choose, vectors

GROUP = 8
"""Parts that are merged at once: n parts take ceil(log8 n) levels, at least one."""
_WIDER = 3
"""Inner levels keep so many times the words of the last, which chooses among what all groups kept."""


def merge_lines(parts: Sequence[Sequence[Line]], *, max_words: int) -> DaySummary:
    """One summary of at most `max_words` words (split at white space, with headings and signs) from the lines of all
    parts; the order of parts and the order of lines in them do not matter.
    """
    level = sorted((sorted(part, key=_key) for part in parts if part), key=lambda part: [_key(line) for line in part])
    levels = 1
    while len(level) > GROUP:
        level = [_chosen(_flat(level[at : at + GROUP]), _WIDER * max_words) for at in range(0, len(level), GROUP)]
        levels += 1
    lines = in_order(_chosen(_flat(level), max_words))
    return DaySummary(lines, as_markdown(lines), levels)


def most_levels(parts: int) -> int:
    """How many levels merging so many parts takes at most."""
    return max(1, math.ceil(math.log(max(1, parts), GROUP)))


def _key(line: Line) -> tuple[object, ...]:
    return (line.place, line.facet, line.speaker, line.weight)


def _flat(parts: Iterable[Sequence[Line]]) -> list[Line]:
    return sorted({line for part in parts for line in part}, key=_key)


def _chosen(lines: Sequence[Line], max_words: int) -> list[Line]:
    """The best lines whose bullets, with the headings of their facets, have at most `max_words` words."""
    budget = max_words - HEADING_WORDS * len({line.facet for line in lines})
    units = vectors([line.text for line in lines])
    chosen = choose([line.weight for line in lines], units, [words_of(line) for line in lines], budget)
    return [lines[at] for at in chosen]
