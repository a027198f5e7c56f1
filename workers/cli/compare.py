"""`slowwave memory compare`: how consolidation would judge two statements."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.output import console, json_text, one_line, print_rows, styled
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import USAGE
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.domain.similarity import Judgement

SHOWN = 60
STDIN = "-"


def compare(
    context: typer.Context,
    a: Annotated[str | None, typer.Argument(help="A statement.", show_default=False)] = None,
    b: Annotated[str | None, typer.Argument(help="Another statement.", show_default=False)] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file", metavar="FILE", help="JSON lines with `a` and `b` instead of two statements; - for stdin."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per pair, each on a line, in the order of the input.")
    ] = False,
) -> None:
    """Show whether two statements repeat, contradict or concern each other, with a similarity score and reasons.

    Uses the thresholds and the model of memory.consolidation. Needs no server.
    """
    if file is None and (a is None or b is None):
        raise typer.BadParameter("give two statements A and B, or --file with pairs")
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
    from slowwave_server.services.consolidation.meaning import pair_judge

    rules = shell.settings.memory.consolidation
    thresholds = Thresholds(
        rules.merge_threshold, rules.synthesize_threshold, rules.link_threshold, rules.duplicate_threshold
    )
    return judge(read(a), read(b), thresholds=thresholds, meaning=pair_judge(rules))


def _pairs_of(name: str) -> list[tuple[str, str]]:
    """Read all pairs of a file. Exits at the first line without a pair, before any comparison."""
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
        return "the line is not UTF-8", None
    except ValueError as error:
        return f"the line is not JSON: {error}", None
    if not isinstance(row, dict):
        return f"the line must be a JSON object, got {type(row).__name__}", None
    for key in ("a", "b"):
        if key not in row:
            return f"`{key}` is missing", None
        if not isinstance(row[key], str):
            return f"`{key}` must be a text, got {json.dumps(row[key])[:SHOWN]}", None
    return "", (row["a"], row["b"])


def _print_line(judgement: "Judgement") -> None:
    told: dict[str, object] = {
        "verdict": judgement.verdict,
        "score": round(judgement.score, 4),
        "reasons": list(judgement.reasons),
    }
    if judgement.meaning is not None:
        names = ("duplicate", "conflict", "update", "related", "distinct")
        told["model"] = {name: round(getattr(judgement.meaning, name), 4) for name in names}
    sys.stdout.write(json_text(told) + "\n")


def _print_one(judgement: "Judgement") -> None:
    why = "; ".join(judgement.reasons)
    console().print(styled(judgement.verdict, "bold"), f"{judgement.score:.2f}", styled(why), soft_wrap=True)


def _print_row(a: str, b: str, judgement: "Judgement") -> None:
    why = "; ".join(judgement.reasons)
    cells = (f"{judgement.verdict:10}", f"{judgement.score:.2f}", f"{one_line(a, SHOWN)} | {one_line(b, SHOWN)}  {why}")
    print_rows(console(), [cells])
