"""`slowwave evaluate extraction FILE`: the memories of the rules against gold memories."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.given_file import given_lines
from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import USAGE

if TYPE_CHECKING:
    from slowwave_server.domain.evaluation import Agreement
    from slowwave_server.services.evaluation.extraction import Evaluation

FORM = '{"session": "…", "messages": [{"role": "user", "content": "…", "memory": "…"}]}'


def extraction(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A file with one JSON conversation per line, or - for stdin.", show_default=False)
    ],
    *,
    as_json: Json = False,
) -> None:
    """Compare the memories that the rules make with memories that people wrote.

    A line has session and messages; a message has role, content, optionally name and at, and memory: the statement
    that a person would remember, or an empty text. Needs no server, and stores nothing.
    """
    from slowwave_server.services.evaluation.extraction import evaluate, read_conversations
    from slowwave_server.services.evaluation.recall_data import BadLine
    from slowwave_server.services.extraction.judging import rules_extractor

    settings = shell_of(context).settings
    try:
        with given_lines(file) as lines:
            found = evaluate(read_conversations(lines), rules_extractor(settings), settings.memory.auto_flush.extractor)
    except BadLine as error:
        complain(f"line {error.number} of {file}: {error.reason}", f"correct the line; its form is {FORM}")
        raise typer.Exit(USAGE) from None
    if not found.all_messages.gold:
        complain(f"no message in {file} has a gold memory", 'add "memory": "…" to the messages that are worth keeping')
        raise typer.Exit(USAGE)
    if as_json:
        print_json(_document(found))
    else:
        _print(found)


def _figures(one: "Agreement") -> dict[str, float | int]:
    shares = {"precision": round(one.precision, 4), "recall": round(one.recall, 4), "f1": round(one.f1, 4)}
    return shares | {"kept": one.kept, "gold": one.gold, "both": one.both}


def _document(found: "Evaluation") -> dict[str, Any]:
    return {
        "conversations": found.conversations,
        "messages": found.messages,
        "memories": found.memories,
        "all": _figures(found.all_messages),
        "by_role": {role: _figures(one) for role, one in sorted(found.by_role.items())},
        "gold_words": found.words.gold,
        "gold_words_carried": found.words.carried,
        "gold_words_share": round(found.words.share, 4),
    }


def _print(found: "Evaluation") -> None:
    out = console()
    told = ", ".join((pluralize(found.conversations, "conversation"), pluralize(found.messages, "message")))
    made = pluralize(found.memories, "memory", "memories")
    out.print(f"{told}, {found.all_messages.gold:,} with a gold memory; the rules made {made}.", soft_wrap=True)
    rows: list[tuple[str, ...]] = [("messages", "precision", "recall", "F1", "kept", "gold", "both")]
    for role, one in (("all", found.all_messages), *sorted(found.by_role.items())):
        shares = (f"{share:.3f}" for share in (one.precision, one.recall, one.f1))
        rows.append((role, *shares, f"{one.kept:,}", f"{one.gold:,}", f"{one.both:,}"))
    print_rows(out, rows)
    words = found.words
    told = f"{words.carried:,} of {words.gold:,} content words and numbers of the gold memories"
    out.print(f"{told} appear in the memories of their messages ({words.share:.1%}).", soft_wrap=True)
