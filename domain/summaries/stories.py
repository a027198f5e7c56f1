"""Detect the turns in which a person and an agent play a role or tell a story, so that no statement is literal."""

import re
from collections.abc import Sequence

from slowwave_server.domain.extraction.acts import acts_of
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.summaries.prose import all_of

_SCRIPT = re.compile(
    r"^\s*(?:\*\*)?[A-Z][A-Z .'-]{1,30}(?:\*\*)?:?\s*(?:\n|\s)\s*\((?:[^()\n]{4,200})\)|^\s*\*[a-z][^*\n]{8,200}\*\s|"
    r"^\s*\[[A-Z][^\]\n]{15,300}\]"
)
"""A line of a play: a name in capitals with a stage direction, or an action between stars or brackets."""
_NARRATES = re.compile(
    r"(?:^|[.!?\n]\s*|\bas |, )you(?:r \w+)? (?:see|notice|find|enter|hear|approach|walk|step|reach|feel|spot|sense|"
    r"look|make your way|come across|arrive|follow|stand|turn|push|open|head|proceed|eventually|cautiously|quickly|"
    r"carefully|slowly|suddenly|begin|continue|move|draw|take a)\b",
    re.IGNORECASE,
)
_LEAST_NARRATED = 2
_LONG = 2_000
"""A longer text with quotes is not a mere reply in a story."""
_TO_THE_AGENT = re.compile(r"\b(?:can|could|would|will) you\b|\bplease\b|\bfrom now on\b", re.IGNORECASE)
_LIST = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)


def played(talk: Sequence[Speech]) -> frozenset[int]:
    """Return the seq numbers of the turns that play a role or continue a story."""
    found: set[int] = set()
    told = False
    for speech in talk:
        text = speech.event.content
        if speech.is_agent:
            goes_on = told and '"' in text and len(text) < _LONG
            told = _SCRIPT.search(text) is not None or _narrates(text) or goes_on
            if told:
                found.add(speech.event.seq)
        elif _SCRIPT.search(text) or (told and not _means_it(text)):
            found.add(speech.event.seq)
            told = True
        else:
            told = False
    return frozenset(found)


def _narrates(text: str) -> bool:
    return len(_NARRATES.findall(text)) >= _LEAST_NARRATED and len(_LIST.findall(text)) < _LEAST_NARRATED


def _means_it(text: str) -> bool:
    """Return True if a person leaves the story and makes a real request to the agent."""
    parts = all_of(text)
    return any(_TO_THE_AGENT.search(part) for part in parts) and "ask" in acts_of(parts, by_agent=False)
