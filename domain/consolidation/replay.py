"""Make questions from the evidence of memories, to prove whether a pass helped, and compare the evidence in their
answers.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest
from statistics import fmean

from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.similarity import read

BUDGETS = (500, 1000)
"""The token budgets of an answer. An answer is better if it holds the evidence within fewer tokens."""
WORDS = 8
"""The largest number of words of a question."""
LEAST_SHARED = 2
_ENDS = re.compile(r"[.!?;\n]+")
_STEM = 4
"""Words with the same beginning of so many characters count as one word."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The answers to one question.

    held_before, held_after: the share of BUDGETS within which the answer contains the evidence, without and with the
    changes of a pass.
    """

    held_before: float
    held_after: float


def make_question(said: str, memory: str) -> str | None:
    """Make a question from an event that is evidence of a memory; None if the two have too few words in common.

    The question does not repeat the memory: at most half of its words occur in the memory, the others only in the
    event. All come from the sentence of the event that shares most words with the memory. The name of the person whom
    the memory is about is excluded, because every memory of the scope may contain it. The choice of words depends only
    on the texts.
    """
    person = {name[:_STEM].lower() for name in read(memory).doer.names}
    known = {word[:_STEM] for word in content_words(memory)}
    sentences = [_words(sentence, person) for sentence in _ENDS.split(said)]
    words = max(sentences, key=lambda words: sum(word[:_STEM] in known for word in words))
    shared = [word for word in words if word[:_STEM] in known]
    other = [word for word in words if word[:_STEM] not in known]
    if len(shared) < LEAST_SHARED:
        return None
    pairs = zip_longest(by_hash(shared)[: WORDS // 2], by_hash(other)[: WORDS // 2])
    return " ".join(word for pair in pairs for word in pair if word)


def _words(sentence: str, left_out: Collection[str]) -> list[str]:
    return [word for word in dict.fromkeys(content_words(sentence)) if word[:_STEM] not in left_out]


def by_hash(texts: Iterable[str]) -> list[str]:
    """Sort texts by a hash, so that a sample of them depends neither on their order nor on their arrival."""
    return sorted(texts, key=lambda text: blake2b(text.encode(), digest_size=8).digest())


def held(replays: Sequence[Replay]) -> tuple[float, float]:
    """Return the mean share of the evidence in the answers, without and with the changes."""
    return fmean(one.held_before for one in replays), fmean(one.held_after for one in replays)


def lost(replays: Sequence[Replay]) -> float:
    """Return the share of the evidence that the answers lost by the changes, minus the share that they gained; negative
    for a gain.
    """
    before, after = held(replays) if replays else (0.0, 0.0)
    return before - after
