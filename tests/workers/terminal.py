"""A terminal that does what a page shows: commands of its console blocks, and whether they print what stands there.

What differs from run to run is not compared: ids, dates, times, durations, ports. `…` stands for the rest of a line,
or, alone on its line, for any number of lines. An id or a run's number that a page names in a later command is the one
that stood in that place of the real output.

Commands of `slowwave` itself are called in this process, as tests of the shell do, since each would begin by importing
for a second or two; whatever else a page says is bash's.
"""

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slowwave.settings import PREFIX
from slowwave_server.workers.cli.main import app
from tests.support.documents import Block
from tests.support.shelling import CliRunner

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# A run's or a question's number: where it is named, and at the beginning of a line of their list.
_NUMBER = r"(?<=\b[Rr]un )\d+|(?<=\bundo )\d+|\bq\d+\b|^ *\d+(?=  )"
_NAMED = re.compile(f"(?P<id>{_UUID})|(?P<number>{_NUMBER})")
_VARYING = (
    r"\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}(?::\d{2})?)?(?: UTC)?",
    r"\d{2}:\d{2}(?::\d{2})?(?: UTC)?",
    r"\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)?",
    r"(?<=:)\d{4,5}\b",
)
# What a long command prints while it runs; on a slow machine more commands are long.
_PROGRESS = re.compile(r"[a-z][\w ()./-]*, \d+(?:\.\d+)? (?:s|min)\b.*")
# A plain call, without anything of bash's.
_OURS = re.compile(r"slowwave [^$|<>;&\n]*")
_TOKEN = re.compile(
    f"{_NAMED.pattern}|{'|'.join(f'(?P<varying{at}>{one})' for at, one in enumerate(_VARYING))}|(?P<rest>…)"
)


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a console block, with the lines that the page shows after it."""

    command: str
    expected: tuple[str, ...]


def steps(block: Block) -> list[Step]:
    """The commands of a block: lines after `$ `, carried on by lines after `> `."""
    found: list[tuple[list[str], list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") or line == ">":
            found[-1][0].append(line[2:])
        else:
            found[-1][1].append(line.rstrip())
    return [Step("\n".join(command), tuple(lines)) for command, lines in found]


class Terminal:
    """One bash: what a command sets, the next one sees. The process must be in the same folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._names: dict[str, str] = {}
        self._environment = dict(environment)
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def close(self) -> None:
        assert self._bash.stdin
        self._bash.stdin.close()
        self._bash.wait(timeout=30)
        assert self._bash.stdout
        self._bash.stdout.close()

    def run(self, command: str) -> str:
        """What it printed, on either of its streams."""
        assert self._bash.stdin
        assert self._bash.stdout
        self._bash.stdin.write(f"{command}\necho; echo END-OF-COMMAND\n")
        self._bash.stdin.flush()
        lines = []
        while (line := self._bash.stdout.readline()) != "END-OF-COMMAND\n":
            assert line, f"bash has ended in: {command}"
            lines.append(line.rstrip())
        # `echo` begins a new line where the command has not ended its last one; else that line is empty.
        return "".join(f"{line}\n" for line in (lines if lines[-1] else lines[:-1]))

    def _call(self, command: str) -> str:
        """The same, of a command of ours."""
        result = CliRunner().invoke(app, shlex.split(command)[1:], env=self._environment, catch_exceptions=False)
        lines = (line.rstrip() for line in result.output.splitlines() if not _PROGRESS.fullmatch(line))
        return "".join(f"{line}\n" for line in lines)

    def follow(self, step: Step) -> None:
        """Do what a page says, and compare what it prints with what the page shows."""
        command = _NAMED.sub(lambda match: self._names.get(match[0], match[0]), step.command)
        printed = self._call(command) if _OURS.fullmatch(command) else self.run(command)
        if command.startswith(("export ", "eval ")):
            given = (line.partition("=") for line in self.run("env").splitlines())
            self._environment |= {name: value for name, _, value in given if name.startswith(PREFIX)}
        pattern, names = _pattern(step.expected)
        match = re.fullmatch(pattern, printed)
        shown = "\n".join(step.expected)
        assert match, f"$ {step.command}\n\nThe page shows:\n{shown}\n\nIt printed:\n{printed}"
        self._names |= {name: actual.strip() for name, actual in zip(names, match.groups(), strict=True)}


def _pattern(lines: tuple[str, ...]) -> tuple[str, list[str]]:
    """What the lines of a page match, and the ids and numbers in them, a group each."""
    names: list[str] = []
    parts = []
    for line in lines:
        if line == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        at = 0
        for token in _TOKEN.finditer(line):
            parts.append(_literal(line[at : token.start()]))
            if token.lastgroup in {"id", "number"}:
                names.append(token[0].strip())
                parts.append(f"({_UUID})" if token.lastgroup == "id" else r"( *q?\d+)")
            else:
                parts.append(".*" if token["rest"] else f"(?:{'|'.join(_VARYING)})")
            at = token.end()
        parts.append(_literal(line[at:]) + r"\n")
    return "".join(parts), names


def _literal(text: str) -> str:
    """Just these words; how wide the gaps between columns are depends on what else stands in them."""
    return re.sub(r"(?:\\ )+", " +", re.escape(text))
