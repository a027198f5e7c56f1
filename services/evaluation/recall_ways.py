"""The search methods that an evaluation of recall compares: search, context, and BM25 over the raw messages.

Search and context are those of `Memory`, which every host calls. BM25 is the simple method that needs no memory system:
a method of Slowwave that finds less is not worth its cost.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from slowwave.memory import Memory
from slowwave.recall import Hit, estimate
from slowwave_server.domain.recall_figures import BUDGETS, Figures, Shown, judge_budgets, judge_hits
from slowwave_server.services.evaluation.bm25 import PrefixIndex
from slowwave_server.services.evaluation.recall_data import RecallAgent, RecallEvent, RecallQuestion

LIMIT = 100
"""Hits of a search: the most that it gives, and more than 2,000 tokens hold of sentences."""
CHUNK_CHARACTERS = 400

Ids = Mapping[tuple[str, int], str]
"""The id of each event in the data set, by its session and its number there."""


class Way(Protocol):
    """Returns the figures of one question. ids: the events of its agent that are recorded so far."""

    def __call__(self, question: RecallQuestion, ids: Ids, /) -> Figures: ...


def shown_hit(hit: Hit, ids: Ids) -> Shown:
    """Return a hit with the number of tokens that it takes in a prompt: date, speaker, text."""
    speaker = f"{hit.speaker}: " if hit.speaker else ""
    sources = frozenset(ids[source] for source in hit.sources if source in ids)
    return Shown(sources, estimate(f"({hit.valid_from:%-d %b %Y}) {speaker}{hit.content}"))


def search_ways(name: str, memory: Memory) -> dict[str, Way]:
    """Return the methods: search, search in memories only, context. name: names the index, such as "words"."""
    last: dict[tuple[RecallQuestion, int], list[Hit]] = {}

    def found(question: RecallQuestion, ids: Ids) -> list[Hit]:
        """Return the hits of a question. Both figures of one question come from one search."""
        if (question, len(ids)) not in last:
            last.clear()
            # In the order of time, the first of so many hits would be the oldest ones.
            last[question, len(ids)] = memory.search(question.agent, question.text, LIMIT, order="relevance")
        return last[question, len(ids)]

    def search(question: RecallQuestion, ids: Ids) -> Figures:
        return judge_hits([shown_hit(hit, ids) for hit in found(question, ids)], question.evidence)

    def memories(question: RecallQuestion, ids: Ids) -> Figures:
        hits = [hit for hit in found(question, ids) if hit.kind == "memory"]
        return judge_hits([shown_hit(hit, ids) for hit in hits], question.evidence)

    def context(question: RecallQuestion, ids: Ids) -> Figures:
        shown = {
            budget: frozenset(
                ids[source]
                for source in named_sources(
                    memory.context(question.agent, query=question.text, max_tokens=budget).to_json()
                )
                if source in ids
            )
            for budget in BUDGETS
        }
        return judge_budgets(shown, question.evidence)

    return {f"search, {name}": search, f"memories alone, {name}": memories, f"context, {name}": context}


def named_sources(shown: Any) -> Iterator[tuple[str, int]]:
    """Return the (session, number) of every event that any part of a context in JSON names."""
    if isinstance(shown, Mapping):
        if isinstance(session := shown.get("session"), str) and isinstance(seq := shown.get("seq"), int):
            yield session, seq
        for name, value in shown.items():
            if name == "sources":
                yield from ((source[0], source[1]) for source in value)
            else:
                yield from named_sources(value)
    elif isinstance(shown, (list, tuple)):
        for value in shown:
            yield from named_sources(value)


def bm25_ways(agent: RecallAgent) -> dict[str, Way]:
    """Return the methods that use BM25 over an agent's messages, and over chunks of 400 characters."""
    return {
        "BM25, messages": _bm25(agent.events, whole),
        f"BM25, chunks of {CHUNK_CHARACTERS}": _bm25(agent.events, chunks),
    }


def whole(event: RecallEvent) -> Iterable[str]:
    """Return the text of an event as one piece."""
    return (event.text,)


def chunks(event: RecallEvent) -> Iterable[str]:
    """Return the text of an event in pieces of 400 characters."""
    return (event.text[at : at + CHUNK_CHARACTERS] for at in range(0, len(event.text), CHUNK_CHARACTERS))


def _bm25(events: Sequence[RecallEvent], cut: Callable[[RecallEvent], Iterable[str]]) -> Way:
    texts: list[str] = []
    shown: list[Shown] = []
    ends = [0]
    for event in events:
        for piece in cut(event):
            texts.append(f"{event.speaker}: {piece}")
            shown.append(Shown(frozenset((event.id,)), estimate(f"({event.at:%-d %b %Y}) {event.speaker}: {piece}")))
        ends.append(len(texts))
    index = PrefixIndex(texts)

    def ask(question: RecallQuestion, _ids: Ids) -> Figures:
        best = index.best(question.text, ends[question.sees], LIMIT)
        return judge_hits([shown[place] for place in best], question.evidence)

    return ask
