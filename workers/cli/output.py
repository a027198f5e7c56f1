"""Prints results: one JSON document for programs, sentences and columns for people.

Conversation text is untrusted. Before it reaches a terminal, control characters, and characters that reorder or end a
line, are replaced by visible escapes.
"""

import json
import sys
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

from slowwave_server.workers.cli.pipe import PIPE_WIDTH, Pipe, may_show_styles
from slowwave_server.workers.shared.json_document import document

# Imported for terminals: JSON, help, errors and pipes need none of it.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_CONTROLS = [code for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"]
# Line and paragraph separators, marks that reorder a line, invisible letters.
_UNSEEN = [0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF, *range(0xE0000, 0xE0080)]
_VISIBLE = {code: f"\\x{code:02x}" for code in _CONTROLS} | {code: f"\\u{code:04x}" for code in _UNSEEN}
# JSON escapes of the same characters; json.dumps escapes only the first 32.
_ESCAPED = {code: json.dumps(chr(code))[1:-1] for code in (*range(128, 160), *_UNSEEN)} | {127: "\\u007f"}
XML_ESCAPED = {code: f"&#{code};" for code in _ESCAPED}
"""XML escapes of control characters, for `str.translate`."""


def console(*, stderr: bool = False) -> "Console":
    """A console that prints text literally, without markup or highlighting."""
    stream, make = sys.stderr if stderr else sys.stdout, partial(rich_console, stderr=stderr)
    return make() if may_show_styles(stream) else cast("Console", Pipe(stream, make))


def rich_console(*, stderr: bool = False) -> "Console":
    """The same console as rich makes it, for parts of rich such as progress bars."""
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else PIPE_WIDTH
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)


def safe(text: str) -> str:
    """Text that is safe for a terminal: control characters become hexadecimal escapes."""
    return text.translate(_VISIBLE)


def one_line(text: str, limit: int = 100) -> str:
    """The beginning of a text on one line."""
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class Styled(str):
    """Text with a style for terminals."""

    __slots__ = ("style",)
    style: str

    def __new__(cls, text: str, style: str = "") -> Self:
        made = super().__new__(cls, text)
        made.style = style
        return made

    def __rich__(self) -> "Text":
        """Return the text as rich prints it."""
        from rich.text import Text

        return Text(self, style=self.style)


def styled(text: str, style: str = "") -> Styled:
    """Safe text in a style."""
    return Styled(safe(text), style)


def print_json(value: Any) -> None:
    """Print one JSON document to stdout."""
    sys.stdout.write(json_text(document(value), indent=2) + "\n")


def json_text(value: Any, indent: int | None = None) -> str:
    """The JSON text of a document, with control characters escaped for terminals."""
    return json.dumps(value, ensure_ascii=False, indent=indent).translate(_ESCAPED)


def print_rows(out: "Console", rows: Iterable[tuple[str, ...]], *, indent: int = 0) -> None:
    """Print rows in aligned columns; on a terminal the last column wraps, in a pipe every row stays one line."""
    filled = [[cell if isinstance(cell, Styled) else styled(cell) for cell in row] for row in rows]
    widths = [max(map(_cells, column)) for column in [*zip(*filled, strict=True)][:-1]]
    if out.is_terminal:
        from rich.padding import Padding
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        for width in widths:
            table.add_column(no_wrap=True, width=width)
        table.add_column(overflow="fold")
        for row in filled:
            table.add_row(*row)
        out.print(Padding(table, (0, 0, 0, indent), expand=False))
        return
    margin = "\n" + " " * (indent + sum(width + 2 for width in widths))
    for *first, last in filled:
        aligned = [cell + " " * (width - _cells(cell) + 2) for cell, width in zip(first, widths, strict=True)]
        out.print(" " * indent + "".join(aligned) + last.replace("\n", margin), soft_wrap=True)


def _cells(text: str) -> int:
    """Return the width of a text in a terminal."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
