"""Documents, messages and the command line agree: every command is described, and every call that is named parses."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from slowwave_server.domain.waiting_facts import Reason
from slowwave_server.workers.cli.main import app
from slowwave_server.workers.cli.tree import TREE
from tests.support.tables import for_each

ROOT = Path(__file__).parent.parent.parent
ENDINGS = {".md", ".py", ".yaml", ".yml", ".sql", ".html", ".js", ".ts", ".service", ".timer", ".sh", ".toml", ""}
# The page that is made from the tree itself, figures of past measurements, and past releases.
LEFT_OUT = ("docs/reference/shell.md", "docs/proof/", "CHANGELOG.md", "tests/", "clients/typescript/node_modules/")
CODE = re.compile(r"`slowwave ((?:[^`\n]|\n(?!\n))+)`")
TYPED = re.compile(r"^\s*(?:\$ |>?\s*eval \"\$\()?slowwave ([a-z-][^#|;&>)\n]*)", re.MULTILINE)
PROGRAM: Any = typer.main.get_command(app)


@cache
def calls() -> tuple[tuple[str, str], ...]:
    """Every call of `slowwave` in a tracked file, with the name of the file."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(
        (name, call)
        for name in listed.splitlines()
        if not name.startswith(LEFT_OUT) and Path(name).suffix in ENDINGS and (ROOT / name).is_file()
        for call in _calls(ROOT / name)
    )


def _calls(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    joined = re.sub(r'"\s*\n\s*f?"', "", text) if file.suffix == ".py" else text
    yield from (" ".join(found.split()) for found in CODE.findall(joined))
    if file.suffix in {".md", ".yaml", ".service", ".sh"}:
        yield from (found.strip() for found in TYPED.findall(text))


def wrong(call: str) -> str | None:
    """What is wrong with a call: an unknown command or option; None if it parses."""
    words = _words(call.partition(" | ")[0])
    if words[:1] == ["--tenant"]:
        words = words[2:]
    command, path = PROGRAM, []
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name = words[0].strip("…,.:")
        if name not in command.commands:
            return None if re.fullmatch(r"[A-Z…{\[<].*|", name) else f"{' '.join(path) or 'slowwave'} has no {name!r}"
        command, path, words = command.commands[name], [*path, name], words[1:]
    known = {"-h", "--help"} | {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    options = [word.partition("=")[0].strip("…,.:]") for word in words if re.match(r"\[?--?[a-z]", word)]
    unknown = [option for option in options if option.lstrip("[") not in known]
    return None if path[:1] == ["hook"] or not unknown else f"{' '.join(path)} has no option {unknown[0]}"


def _words(call: str) -> list[str]:
    try:
        return shlex.split(call)
    except ValueError:
        return call.split()


def test_every_call_that_a_file_names_parses() -> None:
    found = {f"{file}: slowwave {call}: {problem}" for file, call in calls() if (problem := wrong(call))}
    assert found == set()


def test_an_old_or_misspelt_call_is_noticed() -> None:
    assert wrong("memories atlas") == "slowwave has no 'memories'"
    assert wrong("memory lst atlas") == "memory has no 'lst'"
    assert wrong("--tenant acme inbox list --teir low") == "inbox list has no option --teir"
    assert wrong("memory list AGENT --as-of 2026-03-05") is None


@for_each("name", sorted(TREE))
def test_every_command_is_described(name: str) -> None:
    described = {call.split()[0] for file, call in calls() if file.endswith(".md")}
    assert name in described


def test_every_reason_that_why_gives_is_described() -> None:
    page = (ROOT / "docs" / "operate" / "status.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `([a-z ]+)` \|", page, re.MULTILINE))
    assert {reason.value for reason in Reason} <= described
