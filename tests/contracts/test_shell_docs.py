"""The documents and the shell agree: every command is described, and every command that is named exists."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from slowwave_server.domain.waiting_facts import Reason
from slowwave_server.workers.cli.main import app

ROOT = Path(__file__).parent.parent.parent
# Not the pages that are made from the shell itself.
WRITTEN = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "reference"]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted(WRITTEN)]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
# In code: `slowwave session why AGENT`, or a line of a console that begins with it.
NAMED = re.findall(
    r"(?:`|\$ |\$\(|&& |^)slowwave (?:--tenant \S+ )?([a-z][a-z0-9-]*)(?: ([a-z][a-z-]*))?", TEXT, re.MULTILINE
)
SHELL: Any = typer.main.get_command(app)
COMMANDS = {name: set(getattr(command, "commands", ())) for name, command in SHELL.commands.items()}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_described(name: str) -> None:
    assert name in {first for first, _ in NAMED}


@pytest.mark.parametrize(("first", "second"), sorted(set(NAMED)))
def test_every_command_that_a_page_names_exists(first: str, second: str) -> None:
    assert first in COMMANDS
    assert not COMMANDS[first] or not second or second in COMMANDS[first]


def test_every_reason_that_why_gives_is_described() -> None:
    page = (ROOT / "docs" / "operate" / "status.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `([a-z ]+)` \|", page, re.MULTILINE))
    assert {reason.value for reason in Reason} <= described
