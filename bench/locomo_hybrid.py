"""Do vectors help search find the turns that answer? LoCoMo's dev conversations through the real pipeline, by words,
by vectors, and by both; each beside the same method over the raw turns.

The conversations are ingested, flushed and indexed as in a deployment, with the local model; search is that of
`Memory`. The sources of a hit count as found. Raw turns are indexed unchanged, and with their date and the turn
before; both with BM25 (bm25s, stemmed), with the model's cosines, and with the sum of the z-scores of the two.
"mixed" takes the better of
each: words with date and turn before, vectors without.

No conversation is untouched. The parameters of ranking by words were chosen on two of the five (CHOSEN_ON of
bench/locomo.py), and tried on the others. The parameters of vectors (the embedded text, equal weights of both scores,
the least cosine and the least deviation) were compared on all five. So these are development results, not results on
unseen data; the raw turns had no parameter chosen except the better of their texts.

    .venv/bin/python -m bench.locomo_hybrid        (data: $SLOWWAVE_SHARED or ../shared, data/locomo-dev.json)
"""

import json
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import psycopg
import Stemmer

from bench.locomo import (
    CHOSEN_ON,
    STOPWORDS,
    Conversation,
    Source,
    conversations,
    flush,
    flusher_of,
    raw_texts,
    record,
    servers,
    texts_with_context,
)
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import Hit, estimate, search
from slowwave.recall.query_steps import run
from slowwave.recall.scopes import reader
from slowwave.recall.search import ScopeStats, find_steps, scope_stats_steps
from slowwave.settings import Embeddings, MemorySettings, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.embeddings.indexing import Indexing, index
from slowwave_server.services.search.statistics import refresh_statistics, scopes_to_refresh

DEPTHS = (5, 10, 20)
BUDGETS = (500, 1000)
DEEPEST = 60  # this many hits fill a thousand tokens
MULTI_HOP = 1

Found = list[tuple[set[Source], int]]
"""Hits, best first: the sources of each, and the tokens of its text with its date."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """For one question: any evidence in the first 5, 10, 20; all of it in 20; any within 500 and 1,000 tokens."""

    any_at: tuple[bool, ...]
    all_at_20: bool
    within: tuple[bool, ...]
    multi_hop: bool


def categories(folder: Path) -> dict[str, list[int]]:
    """The category of each question that `conversations` gives, in the same order."""
    found: dict[str, list[int]] = {}
    for entry in json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8")):
        said = entry["conversation"]
        turns = {line["dia_id"] for name in said if re.fullmatch(r"session_\d+", name) for line in said[name]}
        found[entry["sample_id"]] = [
            qa["category"]
            for qa in entry["qa"]
            if qa["category"] in {1, 2, 3, 4}
            and any(
                re.sub(r":0+", ":", name) in turns for raw in qa["evidence"] for name in re.findall(r"D\d+:\d+", raw)
            )
        ]
    return found


def judge(found: Found, evidence: frozenset[Source], *, multi_hop: bool) -> Outcome:
    """The evidence among the hits."""
    shown = [set().union(*(sources for sources, _ in found[:depth])) for depth in DEPTHS]
    within = []
    for budget in BUDGETS:
        seen: set[Source] = set()
        left = budget
        for sources, tokens in found:
            left -= tokens
            if left < 0:
                break
            seen |= sources
        within.append(bool(seen & evidence))
    return Outcome(tuple(bool(s & evidence) for s in shown), evidence <= shown[-1], tuple(within), multi_hop)


def z(scores: Any) -> Any:
    """Each row as standard deviations above its mean."""
    deviation = scores.std(axis=1, keepdims=True)
    return (scores - scores.mean(axis=1, keepdims=True)) / np.where(deviation > 0, deviation, 1)


def bm25(texts: Sequence[str], questions: Sequence[str]) -> Any:
    """The score of each text for each question."""
    stemmer = Stemmer.Stemmer("english")
    made = bm25s.BM25()
    made.index(bm25s.tokenize(texts, stopwords=STOPWORDS, stemmer=stemmer, show_progress=False), show_progress=False)
    scores = np.zeros((len(questions), len(texts)))
    for row, question in enumerate(questions):
        words = bm25s.tokenize([question], stopwords=STOPWORDS, stemmer=stemmer, show_progress=False, return_ids=False)[
            0
        ]
        if words:
            scores[row] = made.get_scores(words)
    return scores


def raw_ways(conversation: Conversation, embed: Callable[[Sequence[str]], list[list[float]]]) -> dict[str, list[Found]]:
    """Every method over raw turns: for each question the turns, best first."""
    questions = [question for question, _ in conversation.questions]
    asked = np.array(embed(questions))
    texts = {"raw": raw_texts(conversation.turns), "date+before": texts_with_context(conversation.turns)}
    words = {name: z(bm25(lines, questions)) for name, lines in texts.items()}
    near = {name: z(asked @ np.array(embed(lines)).T) for name, lines in texts.items()}
    ways = {f"words, turns {name}": scores for name, scores in words.items()}
    ways |= {f"vectors, turns {name}": scores for name, scores in near.items()}
    ways |= {f"both, turns {name}": words[name] + near[name] for name in texts}
    ways["both, turns mixed"] = words["date+before"] + near["raw"]
    shown = [
        ({turn.source}, estimate(f"({turn.at:%-d %b %Y}) {text}"))
        for turn, text in zip(conversation.turns, texts["raw"], strict=True)
    ]
    return {
        way: [[shown[place] for place in np.argsort(-row, kind="stable")[:DEEPEST]] for row in scores]
        for way, scores in ways.items()
    }


def of_hits(hits: Sequence[Hit]) -> Found:
    """The sources of hits, with tokens as in a prompt: date, speaker, text."""
    return [
        (
            set(hit.sources),
            estimate(f"({hit.valid_from:%-d %b %Y}) {f'{hit.speaker}: ' if hit.speaker else ''}{hit.content}"),
        )
        for hit in hits
    ]


class Asking:
    """The three searches of one agent, and the time of each."""

    def __init__(self, memory: Memory, connection: psycopg.Connection[Any]) -> None:
        self._memory, self._connection = memory, connection
        self.milliseconds: dict[str, list[float]] = {}

    def ways(self, conversation: Conversation) -> dict[str, list[Found]]:
        questions = [question for question, _ in conversation.questions]
        asks: dict[str, Callable[[str], Sequence[Hit]]] = {
            "words, search": lambda q: search(self._connection, "default", conversation.name, q, limit=DEEPEST),
            "vectors, search": lambda q: self._by_vectors(conversation.name, q),
            "both, search": lambda q: self._memory.search(conversation.name, q, DEEPEST, order="relevance"),
        }
        return {way: [self._timed(way, ask, question) for question in questions] for way, ask in asks.items()}

    def _timed(self, way: str, ask: Callable[[str], Sequence[Hit]], question: str) -> Found:
        begun = time.perf_counter()
        hits = ask(question)
        self.milliseconds.setdefault(way, []).append((time.perf_counter() - begun) * 1000)
        return of_hits(hits)

    def _by_vectors(self, agent: str, question: str) -> Sequence[Hit]:
        """The same search with a question that has no words, only its vector."""
        stats = run(self._connection, scope_stats_steps(reader("default", agent, ()), question))
        wordless = ScopeStats(stats.labels, stats.documents, stats.mean_length, ())
        vector = self._memory.store.source().questions.vector(self._memory.store.postgres.read, question)
        return run(self._connection, find_steps(wordless, limit=DEEPEST, vector=vector))


@contextmanager
def prepared() -> Iterator[tuple[Settings, psycopg.Connection[Any]]]:
    """Servers for this run with vectors switched on."""
    with servers() as plain:
        settings = plain.model_copy(update={"memory": MemorySettings(embeddings=Embeddings(driver="local"))})
        with psycopg.connect(settings.database_url, autocommit=True) as connection:
            yield settings, connection


def main() -> None:
    """Ingest, flush, index, search, print."""
    shared = Path(os.environ.get("SLOWWAVE_SHARED", Path(__file__).parent.parent.parent / "shared")) / "data"
    kinds = categories(shared)
    outcomes: dict[str, dict[str, list[Outcome]]] = {}
    with prepared() as (settings, connection), flusher_of(settings) as flusher, Memory(settings) as memory:
        asking = Asking(memory, connection)
        engine = make_engine(settings.database_url)
        embedder = memory.store.embedders.own
        if embedder is None:
            raise SystemExit("no embedder")
        for conversation in conversations(shared):
            stored = flush(flusher, conversation.name, record(memory, conversation))
            with flusher.engine.begin() as counting:
                for scope_id in scopes_to_refresh(counting):
                    refresh_statistics(counting, scope_id, datetime.now(UTC))
            begun = time.perf_counter()
            done = index(Indexing(engine, memory.store.embedders, 64, lambda: True))
            took = time.perf_counter() - begun
            made = done.memories + done.events
            print(f"{conversation.name}: {stored} memories, {made} vectors in {took:.0f} s", flush=True)
            for way, found in (asking.ways(conversation) | raw_ways(conversation, embedder.embed)).items():
                outcomes.setdefault(way, {})[conversation.name] = [
                    judge(hits, evidence, multi_hop=kind == MULTI_HOP)
                    for hits, (_, evidence), kind in zip(
                        found, conversation.questions, kinds[conversation.name], strict=True
                    )
                ]
        engine.dispose()
    report(outcomes)
    for way, times in asking.milliseconds.items():
        print(f"{way}: median {statistics.median(times):.1f} ms")


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The shares, by name."""
    hard = [outcome for outcome in outcomes if outcome.multi_hop]
    shares = {
        f"any evidence in the first {d}": statistics.mean(o.any_at[i] for o in outcomes) for i, d in enumerate(DEPTHS)
    }
    shares["all of a multi-hop question in the first 20"] = statistics.mean(o.all_at_20 for o in hard)
    shares |= {f"any within {b} tokens": statistics.mean(o.within[i] for o in outcomes) for i, b in enumerate(BUDGETS)}
    return shares


def report(outcomes: dict[str, dict[str, list[Outcome]]]) -> None:
    """Print all methods over the conversations for choosing the words' parameters, over the others, and over all; note
    the comparison over all.
    """
    print(
        "\nOf words, the numbers were chosen on the first part; of vectors, settings were compared on all of them: no"
        " part is untouched."
    )
    parts: dict[str, Callable[[str], bool]] = {
        "words chosen on": lambda name: name in CHOSEN_ON,
        "others": lambda name: name not in CHOSEN_ON,
        "all": bool,
    }
    every: dict[str, dict[str, float]] = {}
    for part, belongs in parts.items():
        print(f"\n{part:<28} any@5 any@10 any@20  multi-hop all@20  500 tokens 1000 tokens")
        for way, by in outcomes.items():
            every[way] = figures([o for name, rows in by.items() if belongs(name) for o in rows])
            print(f"{way:<28} " + "  ".join(f"{share:.3f}" for share in every[way].values()))
    raw = [way for way in every if way.startswith("both, turns")]
    for what, ours in every["both, search"].items():
        best = max(raw, key=lambda way: every[way][what])
        bound = {"any evidence in the first 10": ">= 1", "any evidence in the first 20": ">= 1"}.get(what, "")
        if what.startswith("all of"):
            bound = ">= 1.1"
        beside = every[best][what]
        note(Row("LoCoMo, vectors", what, ours, best, beside, "", ours / beside, bound))


if __name__ == "__main__":
    main()
