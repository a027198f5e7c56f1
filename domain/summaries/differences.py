"""Compare two versions of a day's summary line by line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

Standing = Literal["same", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Differing:
    """One line of a comparison. line: the line as in its version, with `facet`, `text` and sources."""

    standing: Standing
    line: Mapping[str, Any]


def compare_lines(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[Differing]:
    """Return the lines of both versions in one order: unchanged, removed and added lines.

    Two lines are the same if they have the same text and facet. Their sources may differ; the result then has the
    sources of the later version.
    """
    matcher = SequenceMatcher(None, [_said(line) for line in before], [_said(line) for line in after], autojunk=False)
    told: list[Differing] = []
    for what, i, j, k, m in matcher.get_opcodes():
        if what == "equal":
            told += [Differing("same", line) for line in after[k:m]]
        else:
            told += [Differing("gone", line) for line in before[i:j]]
            told += [Differing("new", line) for line in after[k:m]]
    return told


def _said(line: Mapping[str, Any]) -> tuple[Any, Any]:
    return line.get("facet"), line.get("text")
