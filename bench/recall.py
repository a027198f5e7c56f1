"""Measure how often search and context find the evidence of questions: three data sets, one run, one table, standard
errors.

The baselines on the same events: BM25 over messages, BM25 over chunks of 400 characters, the recipe of
bench/recall_recipe.py, and the search of another clone of Slowwave, if one is named.

Run: python -m bench.recall [--beside CLONE] [--sets RealMem] [--agents 2 [--seed 7]] [--markdown FILE]
A clone needs its environment in CLONE/.venv. The temporary folder keeps embeddings, and the clone's answers of each
agent, so an interrupted run continues, and the next one is faster. With few agents, the standard errors say what the
others could change. The data sets: bench/recall_sets.py. The embeddings are those of the local model.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.recall_memories import recall_memories
from bench.recall_recipe import RECIPE, recipe
from bench.recall_sets import FILES, SETS
from bench.report import Row, note
from slowwave_server.domain.recall_figures import FIRST_HITS, WITHIN_TOKENS, Estimate, Shown, judge_hits
from slowwave_server.services.evaluation.recall import RecallEvaluation, evaluate_recall
from slowwave_server.services.evaluation.recall_data import RecallAgent, questions_at, read_recall
from slowwave_server.services.evaluation.recall_ways import Way, bm25_ways, search_ways

BESIDE_VARIABLE = "BENCH_BESIDE"
ALL = 100
"""More agents than any data set has."""
WORDS, VECTORS = "search, words", "search, vectors"
CONTEXT = {"context, words": WORDS, "context, vectors": VECTORS}
BOUNDS: Mapping[str, Sequence[tuple[str, str, float]]] = {
    "RealMem": (
        *((WORDS, "any@10", 1.1), (WORDS, "any in 1,000 tokens", 1.2), (VECTORS, "any@10", 1.25)),
        *((VECTORS, "any in 1,000 tokens", 1.5), (VECTORS, "all in 2,000 tokens", 1.3)),
    ),
}
"""The minimum ratio to the best of BM25 and the other clone's search."""
LEAST = {
    "LoCoMo": ((WORDS, "any@10", 0.81), (VECTORS, "any@10", 0.83)),
    "tau-bench": ((WORDS, "any@5", 0.9), (VECTORS, "any@5", 0.9)),
}
"""The minimum share."""


def beside_ways(clone: Path, agents: Sequence[RecallAgent]) -> dict[str, Way]:
    """Return the searches of another clone: each agent runs once in a separate process, then answers from its
    output.
    """
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout
    told = [answer for agent in agents for answer in _answers(clone, revision, agent)]
    questions = [question for agent in agents for _, asked in questions_at(agent) for question in asked]
    by_question = dict(zip(((q.agent, q.text, q.sees) for q in questions), told, strict=True))

    def way(kind: str) -> Way:
        return lambda question, _ids: judge_hits(
            [
                Shown(frozenset(ids), tokens)
                for ids, tokens in by_question[question.agent, question.text, question.sees][kind]
            ],
            question.evidence,
        )

    return {f"{revision[:7]}, {kind}": way(kind) for kind in ("words", "vectors")}


def _answers(clone: Path, revision: str, agent: RecallAgent) -> list[Any]:
    """Return the clone's answers to an agent's questions; a file keeps them, so that an interrupted run continues."""
    script = Path(__file__).with_name("recall_beside.py")
    job = json.dumps([{"name": agent.name, "steps": _steps(agent)}])
    name = hashlib.sha256(f"{revision}{script.read_text()}{job}".encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir()) / "slowwave-bench"
    folder.mkdir(parents=True, exist_ok=True)
    answers = folder / f"beside-{name}.jsonl"
    if not answers.exists():
        asked, draft = folder / f"job-{name}.json", answers.with_suffix(".draft")
        asked.write_text(job, encoding="utf-8")
        python = clone.resolve() / ".venv" / "bin" / "python"
        environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        command = [str(python), "-P", str(script), str(asked), str(draft), str(script.parent)]
        subprocess.run(command, cwd=clone, env=environment, check=True)
        draft.rename(answers)
        asked.unlink()
    return [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


def _steps(agent: RecallAgent) -> list[dict[str, Any]]:
    steps, done = [], 0
    for sees, questions in questions_at(agent):
        news = [{"id": e.id, "session": e.session, "message": dict(e.message)} for e in agent.events[done:sees]]
        steps.append({"record": news, "ask": [question.text for question in questions]})
        done = sees
    return steps


def chosen(name: str, number: int, seed: int | None) -> list[RecallAgent]:
    """Return so many agents of a data set: the first ones, or with a seed ones drawn at random, in their order."""
    agents = read_recall(json.dumps(line) for line in SETS[name](number if seed is None else ALL))
    if seed is None or number >= len(agents):
        return agents
    drawn = set(random.Random(seed).sample(range(len(agents)), number))
    return [agent for place, agent in enumerate(agents) if place in drawn]


def measure(agents: Sequence[RecallAgent], clone: Path | None) -> RecallEvaluation:
    """Measure all methods over the agents of one data set."""
    beside = {} if clone is None else beside_ways(clone, agents)
    with recall_memories() as (words, vectors, recorder, models):
        ways = search_ways("words", words) | search_ways("vectors", vectors) | beside

        def told(agent: RecallAgent) -> None:
            print(f"{agent.name} done", file=sys.stderr, flush=True)

        return evaluate_recall(agents, recorder, ways, lambda a: {**bm25_ways(a), **recipe(a, models.own)}, told)


def table(means: Mapping[str, Mapping[str, Estimate]]) -> str:
    """Return all metrics of all methods, for a document."""
    names = (*FIRST_HITS, *WITHIN_TOKENS)
    lines = ["| way | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    for way, by in means.items():
        cells = (f"{by[name].mean:.3f} ± {by[name].error or 0:.3f}" if name in by else "" for name in names)
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def tell(part: str, found: RecallEvaluation) -> None:
    """Note the rows of the common table."""
    means = found.means()
    plain = [way for way in means if way.startswith("BM25")]
    others = [
        way for way in means if way not in plain and way.split(",")[0] not in {"search", "context", "memories alone"}
    ]
    for ours in (WORDS, VECTORS):
        for figure, mean in means[ours].items():
            bound = next((least for way, name, least in BOUNDS.get(part, ()) if (way, name) == (ours, figure)), None)
            older = [way for way in others if way != RECIPE]
            best = max([*plain, *older], key=lambda way: means[way][figure].mean)
            beside = [best, *(way for way in (RECIPE, *older) if way != best)]
            for way in beside:
                other = means[way][figure].mean
                required = f">= {bound}" if bound and way == best else ""
                note(
                    Row(
                        f"Recall, {part}",
                        f"{ours}: {figure}",
                        mean.mean,
                        way,
                        other,
                        "",
                        mean.mean / (other or 1),
                        required,
                    )
                )
    for way, figure, least in LEAST.get(part, ()):
        mean = means[way][figure].mean
        note(Row(f"Recall, {part}", f"{way}: {figure}", mean, "required", least, "", mean / least, ">= 1"))
    figure = WITHIN_TOKENS[2]
    for way, search in CONTEXT.items():
        mean, other = means[way][figure].mean, means[search][figure].mean
        note(Row(f"Recall, {part}", f"{way}: {figure}", mean, search, other, "", mean / (other or 1), ">= 1"))


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=[*SETS], default=[*SETS])
    parser.add_argument("--agents", type=int, default=ALL, help="so many persons, conversations or trials of each set")
    parser.add_argument("--seed", type=int, help="draw these agents at random; default: the first ones")
    parser.add_argument("--beside", type=Path, default=os.environ.get(BESIDE_VARIABLE), help="another clone")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file too")
    options = parser.parse_args()
    written = []
    for name in options.sets:
        if not FILES[name].is_file():
            print(f"left out: no {FILES[name]}")
            continue
        agents = chosen(name, options.agents, options.seed)
        found = measure(agents, options.beside)
        parts = [(f"## {name}: {len(found.judged)} questions, {found.memories:,} memories", table(found.means()))]
        parts += [(f"### {name}, {category}", table(found.means(category))) for category in found.categories]
        written += [f"{title}\n\n{rows}\n" for title, rows in parts]
        print("\n".join(written[-len(parts) :]), flush=True)
        tell(name, found)
    if options.markdown:
        options.markdown.write_text("\n".join(written), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
