"""Print for people into a pipe or a file without rich, whose import takes a sixteenth of a short command's time.

Rich prints what this module can't print in the same way: lines that rich would wrap, and signs that it would replace.
"""

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 120


def may_show_styles(stream: TextIO) -> bool:
    """Return True if the stream is a terminal, or if a variable lets rich take it for one."""
    return stream.isatty() or "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ


class Pipe:
    """Stands for rich's console, which it makes at the first use of anything but `print` and `is_terminal`."""

    is_terminal = False

    def __init__(self, stream: TextIO, make: Callable[[], "Console"]) -> None:
        self._stream = stream
        self._make = make

    @cached_property
    def _rich(self) -> "Console":
        return self._make()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rich, name)

    def print(self, *objects: Any, soft_wrap: bool = False, **options: Any) -> None:
        """Print texts as rich does without styles."""
        text = " ".join(map(str, objects))
        if options or not all(isinstance(one, str) for one in objects) or not _is_plain(text, soft_wrap=soft_wrap):
            self._rich.print(*objects, soft_wrap=soft_wrap, **options)
            return
        try:
            self._stream.write(f"{text}\n")
            self._stream.flush()
        except BrokenPipeError:
            self._rich.on_broken_pipe()


def _is_plain(text: str, *, soft_wrap: bool) -> bool:
    """Return True if rich would print the text unchanged. A character takes two cells at most."""
    lines = text.split("\n")
    fits = soft_wrap or max(map(len, lines)) * (1 if text.isascii() else 2) <= PIPE_WIDTH
    return fits and all(line.isprintable() for line in lines)
