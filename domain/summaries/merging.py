"""Parts of a summary put together: recursively in groups, each level bounded, the last within the words asked for.

Must not know: events, and how lines are compared.
"""

from collections.abc import Iterable, Sequence

from slowwave_server.domain.summaries.lines import HEADING_WORDS, DaySummary, Line, as_markdown, in_order, words_of
from slowwave_server.domain.summaries.picking import pick

GROUP = 8
"""Parts that are merged at once: n parts take ceil(log8 n) levels, at least one."""
_WIDER = 3
"""Inner levels keep so many times the words of the last, which chooses among what all groups kept; …"""
_WIDE_ENOUGH = 3000
"""… but no more than so many, unless the last keeps more."""


def merge_lines(parts: Sequence[Sequence[Line]], *, max_words: int) -> DaySummary:
    """One summary of at most `max_words` words (split at white space, with headings and signs) from the lines of all
    parts; the order of parts and of the lines in them does not matter.
    """
    level = sorted((list(in_order(part)) for part in parts if part), key=_key)
    wide = max(max_words, min(_WIDER * max_words, _WIDE_ENOUGH))
    levels = 1
    while len(level) > GROUP:
        level = [_chosen(_flat(level[at : at + GROUP]), wide) for at in range(0, len(level), GROUP)]
        levels += 1
    lines = in_order(_chosen(_flat(level), max_words))
    return DaySummary(lines, as_markdown(lines), levels)


def _key(part: Sequence[Line]) -> list[tuple[object, ...]]:
    return [(line.place, line.facet, line.speaker, line.weight) for line in part]


def _flat(parts: Iterable[Sequence[Line]]) -> list[Line]:
    return [line for part in parts for line in part]


def _chosen(lines: Sequence[Line], max_words: int) -> list[Line]:
    """The best lines whose bullets, with the headings of their facets, have at most `max_words` words."""
    return pick(lines, max_words, words_of, opening=HEADING_WORDS)
