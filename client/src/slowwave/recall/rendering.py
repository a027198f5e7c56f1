"""Text of conversations inside a prompt: fenced, so that nothing said there is read as an instruction.

Must not know: what the lines are about.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slowwave.notice import NOTICE

MIN_FENCE = 3
LONGEST_RUN = 8  # backticks in a row; one fence is longer than any run, so a longer run would cost every reader
# Control characters, marks of text direction, and characters that nobody sees but a model reads. The joiners of
# emoji and of Indian and Persian scripts stay.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]+"
)
_BACKTICKS = re.compile(f"`{{{LONGEST_RUN + 1},}}")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading of this project's own, and lines that may hold anything."""

    heading: str
    lines: Sequence[str]


def fenced(blocks: Iterable[Block], exception: str = "") -> str:
    """Markdown of all blocks that have lines, below one notice; "" where none has.

    exception: a sentence about blocks to which the notice does not apply.
    """
    text = fenced_blocks(blocks)
    notice = f"{NOTICE} {exception}" if exception else NOTICE
    return f"{notice}\n\n{text}" if text else ""


def fenced_blocks(blocks: Iterable[Block]) -> str:
    """The same without the notice, for where that is said elsewhere."""
    parts = [f"## {block.heading}\n\n{_fence(block.lines)}" for block in blocks if block.lines]
    return "\n\n".join(parts) + "\n" if parts else ""


def one_line(text: str) -> str:
    """The text on one line, and all of it to be seen: no part of it can pass for a line of ours.

    Every run of blanks and line ends, those of Unicode included, becomes one blank; what can't be seen goes.
    """
    flat = " ".join(text.split())
    if not flat.isascii() or not flat.isprintable():
        flat = " ".join(_UNSEEN.sub("", flat).split())
    return _BACKTICKS.sub("`" * LONGEST_RUN, flat) if "`" in flat else flat


def shorten(text: str, characters: int) -> str:
    """At most so many characters of a line: cut between two words where one ends near, and marked with "…"."""
    if len(text) <= characters:
        return text
    head = text[: max(0, characters - 1)]
    place = head.rfind(" ")
    return (head[:place] if place > len(head) // 2 else head).rstrip() + "…"


def _fence(lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(MIN_FENCE, longest + 1)
    return f"{fence}text\n{body}\n{fence}"
