"""Let a model merge two sentences into one: the prompt, and the check whether the sentence may replace both."""

from slowwave.recall.rendering import Block, fenced, one_line
from slowwave_server.domain.grounding import not_said
from slowwave_server.domain.model_calls import Answer, Prompt
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.domain.similarity import judge, read

VERSION = "synthesize/1"
NONE = "NONE"
_LONGER = 60
"""The most characters that a sentence may have beyond the two together."""
_LOST = frozenset({"conflict", "distinct"})
_KEPT = 0.75
"""The share of each statement's content words that the sentence must keep, …"""
_NEW = 3
"""… and the most other words that it may add."""


def question(first: str, second: str) -> Prompt:
    """Ask for one sentence with the content of both. The two sentences are fenced."""
    notes = fenced([Block("The notes", [one_line(first), one_line(second)])])
    return Prompt("synthesize", VERSION, prompt_text(VERSION), notes)


def sentence_of(answer: Answer) -> str | None:
    """Return the sentence on one line, or None if the model found none."""
    said = one_line(answer.text)
    return None if not said or said.upper().rstrip(".") == NONE else said


def may_stand_for(sentence: str, first: str, second: str) -> bool:
    """Return True if the sentence may replace both: it loses no name, number or "not", and adds none."""
    both = (first, second)
    if len(sentence) > len(first) + len(second) + _LONGER or not_said(sentence, both):
        return False
    if any(not_said(text, [sentence]) for text in both):
        return False
    said, all_words = read(sentence), set[str]()
    for text in both:
        stems = read(text).distinct_stems
        all_words |= stems
        if len(stems & said.distinct_stems) < _KEPT * len(stems):
            return False
    if len(said.distinct_stems - all_words) > _NEW:
        return False
    if said.negated != any(read(text).negated for text in both):
        return False
    return all(judge(said, read(text)).verdict not in _LOST for text in both)
