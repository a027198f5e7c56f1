"""Read the lines of a file argument, or of standard input."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import typer

STDIN = "-"


def check_given(file: Path) -> None:
    """Raise BadParameter if the file can't be read. A pipe (`<(command)` in a shell) counts as a file."""
    if str(file) != STDIN and not file.exists():
        raise typer.BadParameter(f"the file {file} does not exist")
    if file.is_dir():
        raise typer.BadParameter(f"FILE must be a file, or - for standard input; {file} is a folder")


@contextmanager
def given_lines(file: Path) -> Iterator[IO[str]]:
    """Yield the lines of the file, split only at line feeds. Raises BadParameter if the file does not exist.

    Bytes that are not UTF-8 become U+FFFD, because Postgres cannot store them.
    """
    check_given(file)
    with sys.stdin.buffer if str(file) == STDIN else file.open("rb") as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="\n")
