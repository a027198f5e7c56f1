"""docs/reference/shell.md: every command of the shell with its arguments and options, as Typer writes it.

Must not know: what a command does.
"""

import re
from typing import Any

import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

from slowwave_server.workers.cli.main import app

HEAD = """# The shell, as the code has it

What the commands are good for, and what to do about what they find, stands in [operation](../operate/README.md).

"""


def shell_page() -> str:
    """The page as Markdown."""
    command = get_command(app)
    _say_whole_sentences(command)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="slowwave", indent=1)
    return HEAD + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _say_whole_sentences(command: Any) -> None:
    """Lists of commands show the first paragraph of each one's help, and not what fits into a terminal's line."""
    for inner in getattr(command, "commands", {}).values():
        inner.short_help = " ".join((inner.help or "").split("\n\n")[0].split())
        _say_whole_sentences(inner)
