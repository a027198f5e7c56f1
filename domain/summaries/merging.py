"""Merge parts of a summary recursively in groups; each level is bounded, the last by the requested word limit."""

from collections.abc import Iterable, Sequence

from slowwave_server.domain.summaries.lines import HEADING_WORDS, DaySummary, Line, as_markdown, in_order, words_of
from slowwave_server.domain.summaries.picking import pick

GROUP = 8
"""Parts merged in one group: n parts take ceil(log8 n) levels, at least one."""
_WIDER = 3
"""Inner levels keep this multiple of the last level's words, so that the last level can choose among all groups; …"""
_WIDE_ENOUGH = 3000
"""… but at most this many words, unless the last level keeps more."""


def merge_lines(parts: Sequence[Sequence[Line]], *, max_words: int) -> DaySummary:
    """Merge the lines of all parts into one summary of at most `max_words` words.

    Words are split at white space and include headings and Markdown signs. The order of parts and of their lines does
    not affect the result.
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
    """Return the best lines that fit into `max_words` words with their bullets and facet headings."""
    return pick(lines, max_words, words_of, opening=HEADING_WORDS)
