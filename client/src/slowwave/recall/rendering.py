"""Recalled text inside a prompt: fenced, so that a model does not read it as an instruction."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slowwave.invisible_characters import strip_invisible
from slowwave.prompt_notice import NOTICE

MIN_FENCE = 3
LONGEST_RUN = 8  # backticks in a row; one fence is longer than any run, so a longer run would cost every reader
# How models mark turns and roles in their own input: no text may hold such a mark whole.
_TURN_MARK = re.compile(
    r"<(?=[|\uff5c][^\s<>]{1,60}>)|<(?=/?(?:s|bos|eos|pad|unk|mask|sep|cls)>)|<(?=<?/?SYS>)|\[(?=/?(?:INST|SYS|BOS|EOS|"
    r"TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|IMG|PREFIX|SUFFIX|MIDDLE)\])|"
    r"<(?=/?(?:start|end)[_ ]of[_ ](?:turn|text|role|utterance|image|sentence|message)>)|"
    r"<(?=/?(?:im_start|im_end|endoftext|eot_id)>)",
    re.IGNORECASE,
)
# The labels of this project's own lines: "[said monday#1]", "(room:board) ".
_OUR_MARK = re.compile(r"\[(?=\s*(?:(?:said|memory|day)\b|K\d))", re.IGNORECASE)
_OUR_PLACE = re.compile(r"\((?=\s*(?:room|team|agent|user)\s*:)", re.IGNORECASE)
_BRACKETS = str.maketrans("()[]", "{}{}")
_BACKTICKS = re.compile(f"`{{{LONGEST_RUN + 1},}}")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading of this project's own, and lines that may hold anything."""

    heading: str
    lines: Sequence[str]


def fenced(blocks: Iterable[Block], exception: str = "") -> str:
    """Markdown of all blocks with lines, below one notice; "" without any.

    exception: a sentence about blocks that the notice does not cover.
    """
    text = fenced_blocks(blocks)
    notice = f"{NOTICE} {exception}" if exception else NOTICE
    return f"{notice}\n\n{text}" if text else ""


def fenced_blocks(blocks: Iterable[Block]) -> str:
    """The fenced blocks without the notice."""
    parts = [f"## {block.heading}\n\n{_fence(block.lines)}" for block in blocks if block.lines]
    return "\n\n".join(parts) + "\n" if parts else ""


def one_line(text: str) -> str:
    """The text on one visible line that can't pass for a line or a label of Slowwave.

    Each run of blanks and line ends, also of Unicode, becomes one blank; invisible characters are removed. A blank
    breaks a model's own marks ("<|im_end|>", "[INST]"), and Slowwave's labels in a text get other brackets.
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
    """A speaker's name in one line, without the brackets of our labels and without the colon that ends a name."""
    return label(speaker).replace(":", ";")


def label(name: str) -> str:
    """The name of a session or a scope in one line, without brackets, which delimit marks."""
    return one_line(name).translate(_BRACKETS)


def shorten(text: str, characters: int) -> str:
    """At most this many characters of a line: cut between two words if a gap is near, and marked with "…"."""
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
