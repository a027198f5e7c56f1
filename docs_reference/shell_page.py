"""docs/reference/shell.md: every command with its arguments, options and examples, as its help shows them."""

import re
from typing import Any

import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

from slowwave_server.workers.cli.main import app

HEAD = """# Command line

All commands of `slowwave`, generated from their help texts. [Operate](../operate/README.md) says which command to use
when. Every command also has `-h` and `--help`.

"""
_HELP = re.compile(r"^\* `-h, --help.*\n", re.MULTILINE)
_INNER = re.compile(r"(^#{3,} .*\n(?:(?!#).*\n)*?)\*\*Commands\*\*:\n\n(?:\* .*\n)+", re.MULTILINE)
_EXAMPLES = re.compile(r"^(Examples?):\n\n((?:\$ slowwave .*\n+)+)", re.MULTILINE)


def shell_page() -> str:
    """The page as Markdown."""
    command = get_command(app)
    _use_whole_sentences(command)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="slowwave", indent=1)
    text = _EXAMPLES.sub(_as_console, _HELP.sub("", text))
    text = _INNER.sub(r"\1", text)  # the section of each command follows
    text = re.sub(r"\*\*Options\*\*:\n\n(?!\*)", "", text)
    return HEAD + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _as_console(found: re.Match[str]) -> str:
    calls = "\n".join(line for line in found[2].splitlines() if line)
    return f"**{found[1]}**:\n\n```console\n{calls}\n```\n\n"


def _use_whole_sentences(command: Any) -> None:
    """In lists of commands, print the whole first paragraph of each help text."""
    for inner in getattr(command, "commands", {}).values():
        inner.short_help = " ".join((inner.help or "").split("\n\n")[0].split())
        _use_whole_sentences(inner)
