"""The baseline recipe for search: thirty lines over raw messages, without any memory.

Every message is cut into chunks of 400 characters; the text of a chunk is followed by the previous message of its
session. A chunk's score is the sum of two z-scores, of BM25 and of the cosine of MiniLM, over the chunks that the
question may see. The best chunk of each message comes first, then the other chunks. A hit shows only the chunk.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from slowwave.recall import estimate
from slowwave_server.domain.recall_figures import Figures, Shown, judge_hits
from slowwave_server.services.evaluation.bm25 import PrefixIndex
from slowwave_server.services.evaluation.recall_data import RecallAgent, RecallQuestion
from slowwave_server.services.evaluation.recall_ways import LIMIT, Ids, Way, chunks

RECIPE = "recipe: chunks, BM25 + MiniLM"


def z(scores: Any) -> Any:
    """Return scores as standard deviations above their mean."""
    return (scores - scores.mean()) / (scores.std() or 1.0)


def recipe(agent: RecallAgent, embedder: Any) -> dict[str, Way]:
    """Return the recipe over one agent's events."""
    texts: list[str] = []
    shown: list[Shown] = []
    ends = [0]
    before: dict[str, str] = {}
    for event in agent.events:
        for piece in chunks(event):
            texts.append(f"{event.speaker}: {piece}\n{before.get(event.session, '')}".strip())
            tokens = estimate(f"({event.at:%-d %b %Y}) {event.speaker}: {piece}")
            shown.append(Shown(frozenset((event.id,)), tokens))
        before[event.session] = event.text
        ends.append(len(texts))
    index, vectors = PrefixIndex(texts), np.array(embedder.embed(texts))

    def ask(question: RecallQuestion, _ids: Ids) -> Figures:
        size = ends[question.sees]
        if not size:
            return judge_hits([], question.evidence)
        near = vectors[:size] @ np.array(embedder.embed([question.text])[0])
        scores = z(index.scores(question.text, size)) + z(near)
        return judge_hits(
            each_message_first([shown[at] for at in np.argsort(-scores, kind="stable")]), question.evidence
        )

    return {RECIPE: ask}


def each_message_first(ranked: Sequence[Shown]) -> list[Shown]:
    """Return the best chunk of each message, then the other chunks."""
    seen: set[frozenset[str]] = set()
    first, rest = [], []
    for hit in ranked:
        (rest if hit.sources in seen else first).append(hit)
        seen.add(hit.sources)
    return [*first, *rest][:LIMIT]
