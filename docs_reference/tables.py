"""Cells and tables of Markdown."""

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with these columns; its lines end in a newline."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell(text) for text in line)} |\n" for line in lines)


def cell(text: str) -> str:
    """A text that fits into one cell: on one line, with its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """A code span; nothing for nothing."""
    return f"`{text}`" if text else ""


def paragraphs(docstring: str) -> str:
    """A docstring as paragraphs of Markdown: lines joined, empty lines kept, attributes as a list."""
    parts = [_attributes(part) or " ".join(part.split()) for part in docstring.split("\n\n")]
    return "\n\n".join(part for part in parts if part)


def _attributes(part: str) -> str:
    head, _, rows = part.partition("\n")
    joined = re.sub(r"\n {8,}", " ", rows)
    return re.sub(r"(?m)^ {4}(\w+): ", r"- `\1`: ", joined) if head == "Attributes:" else ""
