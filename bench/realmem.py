"""Measure RealMem: the turns that become memories, and whether memories alone answer later questions.

Turns: precision, recall and F1 of the turns that are the source of a memory, against those with a gold memory, over
all persons together.

Later questions: for a question with evidence in earlier sessions, BM25 with stemming searches only the memories of
those sessions, over their text with its date. Found: one of the first ten memories has a source that is a gold turn of
the question; or one of those that fit in 1,000 tokens, best first, each counted with its date. This search stands in
for the real one, which `python -m bench.realmem_search` measures.

Run: python -m bench.extraction --sets realmem
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.msc_data import data_file
from bench.realmem_data import FILE, Person, Question, Source, people
from bench.replay import Compared, memories
from slowwave.recall import estimate
from slowwave_server.domain.candidates import Candidate, Extractor
from slowwave_server.domain.evaluation import Agreement, Carried, agreement, carried
from slowwave_server.services.evaluation.bm25 import PrefixIndex

AGENT = "assistant"
FIRST = 10
BUDGET = 1000
DEEPEST = 100
"""The number of hits to read; more than fit in 1,000 tokens."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memories of one person's sessions, in the order of the sessions."""

    person: Person
    by_session: tuple[tuple[Candidate, ...], ...]


def remember(person: Person, extractor: Extractor) -> Remembered:
    """Extract every session of a person."""
    return Remembered(person, tuple(tuple(memories(extractor, s.events, AGENT)) for s in person.sessions))


def turns(remembered: Remembered, role: str | None = None) -> Agreement:
    """Return how well the turns agree with the gold turns. role: only the turns of user or assistant."""
    total = Agreement()
    for session, found in zip(remembered.person.sessions, remembered.by_session, strict=True):
        counted = {event.seq for event in session.events if role in {None, event.kind}}
        kept = {seq for memory in found for seq in memory.sources}
        total += agreement(frozenset(kept & counted), frozenset(session.gold.keys() & counted))
    return total


def gold_words(remembered: Remembered) -> Carried:
    """Return how many content words of gold memories occur in the memories of their turns."""
    total = Carried()
    for session, found in zip(remembered.person.sessions, remembered.by_session, strict=True):
        for seq, golds in session.gold.items():
            said = [memory.content for memory in found if seq in memory.sources]
            total = sum((carried(gold, said) for gold in golds), total)
    return total


@dataclass(frozen=True, slots=True)
class Answer:
    """True if a question's evidence is among the first ten memories, and True if it is within 1,000 tokens."""

    first: bool
    within: bool


def questions(remembered: Remembered) -> list[Answer]:
    """Search each question of a person in the earlier memories."""
    texts: list[str] = []
    sources: list[set[Source]] = []
    begins = [0]
    for session, found in zip(remembered.person.sessions, remembered.by_session, strict=True):
        texts += [f"({memory.valid_from:%-d %B %Y}) {memory.content}" for memory in found]
        sources += [{(session.name, seq) for seq in memory.sources} for memory in found]
        begins.append(len(texts))
    index = PrefixIndex(texts)
    tokens = [estimate(text) for text in texts]
    return [
        judged([(sources[at], tokens[at]) for at in index.best(asked.text, begins[asked.before], DEEPEST)], asked)
        for asked in remembered.person.questions
    ]


def judged(hits: Sequence[tuple[set[Source], int]], asked: Question) -> Answer:
    """Return the position of the evidence among hits, best first: the sources of each, and the tokens of its text."""
    within, left = False, BUDGET
    for sources, tokens in hits:
        left -= tokens
        if left < 0:
            break
        within = within or bool(sources & asked.evidence)
    return Answer(any(sources & asked.evidence for sources, _ in hits[:FIRST]), within)


def measure(compared: Compared) -> dict[str, float]:
    """Return all figures of one extractor, by name."""
    remembered = [remember(person, compared.extractor) for person in people(data_file(FILE))]
    agreed = {role: sum((turns(one, role) for one in remembered), Agreement()) for role in (None, "user", "assistant")}
    words = sum((gold_words(one) for one in remembered), Carried())
    answers = [answer for one in remembered for answer in questions(one)]
    sizes = [len(found) for one in remembered for found in one.by_session]
    return {
        "turns, F1": agreed[None].f1,
        "turns, precision": agreed[None].precision,
        "turns, recall": agreed[None].recall,
        "user turns, F1": agreed["user"].f1,
        "assistant turns, F1": agreed["assistant"].f1,
        "words of gold memories in memories": words.share,
        "later questions, any@10": statistics.mean(answer.first for answer in answers),
        "later questions, any in 1,000 tokens": statistics.mean(answer.within for answer in answers),
        "memories a session": statistics.mean(sizes),
    }
