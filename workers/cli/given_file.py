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


def check_given(file: Path) -> None:
    """Raises BadParameter if nothing can be read there; a pipe (`<(command)` of a shell) can be read like a file."""
    if str(file) != STDIN and not file.exists():
        raise typer.BadParameter(f"the file {file} does not exist")
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder: name a file, or - for standard input")


@contextmanager
def given_lines(file: Path) -> Iterator[IO[str]]:
    """The lines of the file, split at line feeds alone. Raises BadParameter if there is no such file.

    A byte that is no UTF-8 becomes U+FFFD, since Postgres can't keep it.
    """
    check_given(file)
    with sys.stdin.buffer if str(file) == STDIN else file.open("rb") as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="\n")
