"""Passages: the parts in which search indexes a long event.

A passage has about 100 tokens. It ends at the structure of the text: a heading, paragraph, list item, table row, code
fence or sentence. The library semantic-text-splitter finds these places.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from semantic_text_splitter import MarkdownSplitter

from slowwave_server.domain.long_text import pieces

PASSAGE_CHARACTERS = 400
WHOLE_CHARACTERS = 500
"""An event of at most this length is one passage."""
HEADING_CHARACTERS = 160
PIECE_CHARACTERS = 8_000
"""The splitter takes time quadratic in the length of a text, so it gets a longer text in pieces."""

_SPLITTER = MarkdownSplitter((PASSAGE_CHARACTERS // 2, PASSAGE_CHARACTERS))
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}[ \t]+(?P<hash>[^\n]+)|\*\*(?P<bold>[^*\n]{3,80})\*\*:?[ \t]*$)", re.MULTILINE)
_TABLE_HEADER = re.compile(r"^[ \t]*(?P<header>\|[^\n]*\|)[ \t]*\n[ \t]*\|[ \t]*:?-{2,}[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of an event: its number from 0, and its offsets in the event's text. heading: the heading above it, unless
    it contains it, with the header of its table; or "".
    """

    part: int
    begins: int
    ends: int
    heading: str = ""


def passages_of(text: str) -> Sequence[Passage]:
    """Cut the redacted text of an event into at least one passage, in linear time; only white space separates two
    passages.

    Example:
        >>> [passage.part for passage in passages_of("Short.")]
        [0]
    """
    if len(text) <= WHOLE_CHARACTERS:
        return (Passage(0, 0, len(text)),)
    headings, tables = _Marks(_HEADING, text), _Marks(_TABLE_HEADER, text)
    found = []
    for part, (begins, chunk) in enumerate(_chunks(text)):
        header = tables.above(begins) if chunk.lstrip().startswith("|") else ""
        heading = " ".join(mark for mark in (headings.above(begins), header) if mark)
        found.append(Passage(part, begins, begins + len(chunk), heading[:HEADING_CHARACTERS]))
    return tuple(found) or (Passage(0, 0, len(text)),)


def parts_of(text: str) -> dict[str, list[list[int | str]]]:
    """Return a text's passages for the database: {"parts": [[part, begins, ends, heading], …]}; {} for one passage."""
    found = passages_of(text)
    return {"parts": [[one.part, one.begins, one.ends, one.heading] for one in found]} if len(found) > 1 else {}


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Return the chunks of the splitter with their offsets."""
    begins = 0
    for piece in pieces(text, PIECE_CHARACTERS):
        for offset, chunk in _SPLITTER.chunk_indices(piece):
            yield begins + offset, chunk
        begins += len(piece)


class _Marks:
    """Positions in a text, such as headings, that describe the text below."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        found = list(pattern.finditer(text))
        self._places = [match.start() for match in found]
        self._texts = [next(filter(None, match.groups())).strip(" #|*:\t") for match in found]

    def above(self, place: int) -> str:
        """Return the last mark that begins before this position, or ""."""
        at = bisect_right(self._places, place - 1)
        return self._texts[at - 1] if at else ""
