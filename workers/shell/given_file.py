"""The lines of a file that a command is given, or of standard input.

Must not know: any single command, what the lines hold.
"""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import typer

STDIN = "-"


@contextmanager
def given_lines(file: Path) -> Iterator[IO[str]]:
    """The lines of the file, split at line feeds alone. Raises BadParameter if there is no such file."""
    if str(file) != STDIN and not file.is_file():
        raise typer.BadParameter(f"the file {file} does not exist")
    with sys.stdin.buffer if str(file) == STDIN else file.open("rb") as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="\n")
