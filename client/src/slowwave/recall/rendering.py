"""Fence recalled text inside a prompt, so that a model does not read it as an instruction."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slowwave.invisible_characters import strip_invisible
from slowwave.lazy_patterns import lazy_pattern
from slowwave.prompt_notice import NOTICE

MIN_FENCE = 3
# the longest run of backticks; a fence is longer than any run, so a longer run would lengthen the fence for every
# reader
LONGEST_RUN = 8
# Marks of turns and roles in models' own input: no text may contain such a mark unchanged.
_TURN_MARK = lazy_pattern(
    r"<(?=[|\uff5c][^\s<>]{1,60}>)|<(?=/?(?:s|bos|eos|pad|unk|mask|sep|cls)>)|<(?=<?/?SYS>)|\[(?=/?(?:INST|SYS|BOS|EOS|"
    r"TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|IMG|PREFIX|SUFFIX|MIDDLE)\])|"
    r"<(?=/?(?:start|end)[_ ]of[_ ](?:turn|text|role|utterance|image|sentence|message)>)|"
    r"<(?=/?(?:im_start|im_end|endoftext|eot_id)>)",
    re.IGNORECASE,
)
# The labels of Slowwave's own lines: "[said monday#1]", "(room:board) ".
_OUR_MARK = re.compile(r"\[(?=\s*(?:(?:said|memory|day)\b|K\d))", re.IGNORECASE)
_OUR_PLACE = re.compile(r"\((?=\s*(?:room|team|agent|user)\s*:)", re.IGNORECASE)
_BRACKETS = str.maketrans("()[]", "{}{}")
_BACKTICKS = re.compile(f"`{{{LONGEST_RUN + 1},}}")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading of Slowwave, and lines with any content."""

    heading: str
    lines: Sequence[str]


def fenced(blocks: Iterable[Block], exception: str = "") -> str:
    """Return Markdown of the blocks with lines below one notice; exception: names the blocks that it does not cover."""
    text = fenced_blocks(blocks)
    notice = f"{NOTICE} {exception}" if exception else NOTICE
    return f"{notice}\n\n{text}" if text else ""


def fenced_blocks(blocks: Iterable[Block]) -> str:
    """Return the fenced blocks without the notice."""
    parts = [f"## {block.heading}\n\n{_fence(block.lines)}" for block in blocks if block.lines]
    return "\n\n".join(parts) + "\n" if parts else ""


def one_line(text: str) -> str:
    """Return the text as one visible line that can't imitate a line or a label of Slowwave.

    Each run of blanks and line ends, including those of Unicode, becomes one blank; invisible characters are removed. A
    blank is inserted into a model's own marks ("<|im_end|>", "[INST]"). Slowwave's labels in the text get other
    brackets.
    """
    flat = " ".join(text.split())
    if not flat.isascii() or not flat.isprintable():
        flat = " ".join(strip_invisible(flat).split())
    if "`" in flat:
        flat = _BACKTICKS.sub("`" * LONGEST_RUN, flat)
    if "<" in flat or "[" in flat:
        flat = _OUR_MARK.sub("(", _TURN_MARK.sub(r"\g<0> ", flat))
    return _OUR_PLACE.sub("{", flat) if "(" in flat else flat


def one_name(speaker: str) -> str:
    """Return a speaker's name as one line, without the brackets of labels and without the colon that ends a name."""
    return label(speaker).replace(":", ";")


def label(name: str) -> str:
    """Return the name of a session or a scope as one line, without brackets, which delimit marks."""
    return one_line(name).translate(_BRACKETS)


def shorten(text: str, characters: int) -> str:
    """Cut a line to at most this many characters, between two words if a gap is near, and mark the cut with "…"."""
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
