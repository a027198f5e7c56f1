"""`slowwave compare`: what two statements have to do with each other, as a pass over memories would judge them.

Must not know: how statements are compared.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import OPERATE
from slowwave_server.workers.cli.output import console, json_text, one_line, print_rows, styled
from slowwave_server.workers.cli.sentences import USAGE, complain
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from slowwave_server.domain.similarity import Judgement

SHOWN = 60
STDIN = "-"


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=OPERATE)(compare)


def compare(
    context: typer.Context,
    a: Annotated[str | None, typer.Argument(help="A statement.", show_default=False)] = None,
    b: Annotated[str | None, typer.Argument(help="Another one.", show_default=False)] = None,
    *,
    file: Annotated[
        str | None, typer.Option("--file", help="Pairs instead: a JSON object with `a` and `b` a line; - is stdin.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a pair and line, in the same order.")
    ] = False,
) -> None:
    """Say whether two statements repeat, contradict or concern each other, how alike they are, and why."""
    if file is None and (a is None or b is None):
        raise typer.BadParameter('give two statements, "A" "B", or --file with pairs')
    if file is not None and a is not None:
        raise typer.BadParameter("give two statements or --file, not both")
    pairs = [(a or "", b or "")] if file is None else _pairs_of(file)
    shell = shell_of(context)
    for left, right in pairs:
        judgement = _judge(shell, left, right)
        if as_json:
            _print_line(judgement)
        elif file is None:
            _print_one(judgement)
        else:
            _print_row(left, right, judgement)


def _judge(shell: Shell, a: str, b: str) -> "Judgement":
    from slowwave_server.domain.similarity import Thresholds, judge, read

    rules = shell.settings.memory.consolidation
    thresholds = Thresholds(
        rules.merge_threshold, rules.synthesize_threshold, rules.link_threshold, rules.duplicate_threshold
    )
    return judge(read(a), read(b), thresholds=thresholds)


def _pairs_of(name: str) -> list[tuple[str, str]]:
    """All pairs of a file. Ends the command where a line holds none: nothing is judged then."""
    lines = (sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()).split(b"\n")
    pairs = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        wrong, pair = _pair_of(line)
        if pair is None:
            complain(f"line {number} of {name}: {wrong}", 'a pair is one line: {"a": "…", "b": "…"}')
            raise typer.Exit(USAGE)
        pairs.append(pair)
    return pairs


def _pair_of(line: bytes) -> tuple[str, tuple[str, str] | None]:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return "it is not UTF-8", None
    except ValueError as error:
        return f"no JSON: {error}", None
    if not isinstance(row, dict):
        return f"a JSON object is wanted, not {type(row).__name__}", None
    for key in ("a", "b"):
        if key not in row:
            return f"`{key}` is missing", None
        if not isinstance(row[key], str):
            return f"`{key}` is {json.dumps(row[key])[:SHOWN]}, not a text", None
    return "", (row["a"], row["b"])


def _print_line(judgement: "Judgement") -> None:
    told = {"verdict": judgement.verdict, "score": round(judgement.score, 4), "reasons": list(judgement.reasons)}
    sys.stdout.write(json_text(told) + "\n")


def _print_one(judgement: "Judgement") -> None:
    why = "; ".join(judgement.reasons)
    console().print(styled(judgement.verdict, "bold"), f"{judgement.score:.2f}", styled(why), soft_wrap=True)


def _print_row(a: str, b: str, judgement: "Judgement") -> None:
    why = "; ".join(judgement.reasons)
    cells = (f"{judgement.verdict:10}", f"{judgement.score:.2f}", f"{one_line(a, SHOWN)} | {one_line(b, SHOWN)}  {why}")
    print_rows(console(), [cells])
