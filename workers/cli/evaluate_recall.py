"""`slowwave evaluate recall FILE`: how often search and context find the evidence of questions, beside BM25."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.given_file import given_lines
from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND, USAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slowwave.settings import Settings
    from slowwave_server.domain.recall_figures import Estimate
    from slowwave_server.services.evaluation.recall import RecallEvaluation
    from slowwave_server.services.evaluation.recall_data import RecallAgent

EVENT_FORM = '{"agent": "…", "session": "…", "role": "user", "content": "…", "id": "…"}'
QUESTION_FORM = '{"agent": "…", "question": "…", "evidence": ["…"]}'
OF_CATEGORY = ("any@10", "all@20", "any in 1,000 tokens", "all in 2,000 tokens")


def recall(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A file with JSON lines of events and questions, or - for stdin.", show_default=False)
    ],
    *,
    as_json: Json = False,
) -> None:
    """Ask your questions, and count how often search and context find the events that answer them.

    A line is an event as for `slowwave import events`, with an id; or a question with agent, question, evidence (ids
    of events), optionally before (a session or a time: the question sees earlier events only) and category. Runs on
    temporary servers, and leaves nothing behind.
    """
    from slowwave_server.services.evaluation.bm25 import require_bm25s
    from slowwave_server.services.evaluation.recall import EvaluationFailed
    from slowwave_server.services.evaluation.recall_data import BadLine, read_recall

    require_bm25s()
    settings = shell_of(context).settings
    try:
        with given_lines(file) as lines:
            agents = read_recall(lines, settings.memory.tools)
    except BadLine as error:
        complain(
            f"line {error.number} of {file}: {error.reason}",
            f"correct the line; an event has the form {EVENT_FORM}, a question {QUESTION_FORM}",
        )
        raise typer.Exit(USAGE) from None
    if not agents:
        complain(f"{file} holds no question", f"add lines of the form {QUESTION_FORM}")
        raise typer.Exit(USAGE)
    try:
        with progress("evaluating"):
            found = _evaluated(settings, agents)
    except EvaluationFailed as error:
        complain(str(error), "remove the session from the file, and report the problem")
        raise typer.Exit(FOUND) from None
    if as_json:
        print_json(_document(found))
    else:
        _print(found, settings.memory.embeddings.driver)


def _evaluated(settings: "Settings", agents: "Sequence[RecallAgent]") -> "RecallEvaluation":
    from contextlib import ExitStack

    from slowwave.memory import Memory
    from slowwave.settings import Embeddings
    from slowwave_server.services.embeddings.indexing import Indexing
    from slowwave_server.services.evaluation.recall import Recorder, evaluate_recall
    from slowwave_server.services.evaluation.recall_ways import search_ways
    from slowwave_server.workers.scratch import rules_flusher, scratch_servers

    with ExitStack() as opened:
        own = opened.enter_context(scratch_servers(settings))
        flusher = opened.enter_context(rules_flusher(own))
        wordy = own.memory.model_copy(update={"embeddings": Embeddings()})
        words = opened.enter_context(Memory(own.model_copy(update={"memory": wordy})))
        ways, indexing = search_ways("words", words), None
        if own.memory.embeddings.driver != "none":
            vectors = opened.enter_context(Memory(own))
            ways |= search_ways("vectors", vectors)
            batch = own.memory.embeddings.batch_size
            indexing = Indexing(flusher.engine, vectors.store.embedders, batch, lambda: True)
        return evaluate_recall(agents, Recorder(words, flusher, indexing), ways)


def _document(found: "RecallEvaluation") -> dict[str, Any]:
    def told(category: str | None = None) -> dict[str, Any]:
        return {
            way: {
                name: {
                    "mean": round(one.mean, 4),
                    "standard_error": None if one.error is None else round(one.error, 4),
                    "questions": one.questions,
                }
                for name, one in figures.items()
            }
            for way, figures in found.means(category).items()
        }

    return {
        "agents": found.agents,
        "messages": found.messages,
        "memories": found.memories,
        "questions": len(found.judged),
        "ways": told(),
        "categories": {category: told(category) for category in found.categories},
    }


def _print(found: "RecallEvaluation", driver: str) -> None:
    from slowwave_server.domain.recall_figures import FIRST_HITS, WITHIN_TOKENS

    out = console()
    counts = (pluralize(found.agents, "agent"), pluralize(found.messages, "message"))
    told = f"{', '.join(counts)}, {pluralize(len(found.judged), 'question')}"
    made = pluralize(found.memories, "memory", "memories")
    vectors = "; no vectors (memory.embeddings.driver is none)" if driver == "none" else ""
    out.print(f"{told}; the rules made {made}{vectors}.", soft_wrap=True)
    means = found.means()
    for title, names in (("in the first hits", FIRST_HITS), ("within tokens", WITHIN_TOKENS)):
        short = [name.removesuffix(" tokens").replace(" in ", " ") for name in names]
        rows: list[tuple[str, ...]] = [(title, *short)]
        rows += [(way, *(_cell(by.get(name)) for name in names)) for way, by in means.items() if names[0] in by]
        out.print()
        print_rows(out, rows)
    if categories := found.categories:
        rows = [("category", "way", *(name.removesuffix(" tokens").replace(" in ", " ") for name in OF_CATEGORY))]
        for category in categories:
            of = found.means(category)
            asked = pluralize(next(iter(next(iter(of.values())).values())).questions, "question")
            for place, (way, by) in enumerate(of.items()):
                title = f"{category}, {asked}" if place == 0 else ""
                rows.append((title, way, *(_cell(by.get(name)) for name in OF_CATEGORY)))
        out.print()
        print_rows(out, rows)
    out.print("\nEach figure is the mean of all questions ± its standard error.", soft_wrap=True)


def _cell(one: "Estimate | None") -> str:
    if one is None:
        return ""
    return f"{one.mean:.3f}" if one.error is None else f"{one.mean:.3f} ±{one.error:.3f}"
