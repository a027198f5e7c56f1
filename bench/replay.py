"""Run an extractor over a session as flushes would, without a database; and the list of compared extractors.

Windows are those of a flush after the session's last event, with the default settings
(`services/evaluation/extraction.py`).

`keep all` and `first person` are the two baselines, as extractors: a memory for each event, and a memory for each
sentence with a first-person verb, both verbatim.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bench import rules_v1
from bench.rules_v1.sentences import sentences
from slowwave.settings import AutoFlush
from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Extractor, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.services.evaluation.extraction import extract_session
from slowwave_server.services.extraction.judging import installed_judge

FIRST_PERSON_VERB = re.compile(
    r"\b(?:i'm|im|i've|ive|i'll|i'd|(?:i|we) (?:\w+ly |also |just |never |always )?[a-z']{2,})\b", re.IGNORECASE
)
BOUNDS = AutoFlush().extractor


def memories(extractor: Extractor, events: Sequence[Event], agent: str) -> list[Candidate]:
    """Return the candidates of one session, window after window. events: the whole session, seq 1 to n."""
    return extract_session(extractor, events, agent, BOUNDS)


@dataclass(frozen=True, slots=True)
class Quotes:
    """An extractor that keeps the parts of each event verbatim."""

    name: str
    parts: Callable[[str], Sequence[str]]
    version: str = "1"

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:  # noqa: ARG002
        """Return one candidate for each part."""
        return Extraction(tuple(_quote(event, part) for event in window.events for part in self.parts(event.content)))


def _quote(event: Event, text: str) -> Candidate:
    return Candidate(text, "fact", 0.5, 0.5, event.happened_at, (event.seq,))


def first_person_sentences(text: str) -> list[str]:
    """Return the sentences of a text that have a first-person verb."""
    return [sentence for sentence in sentences(text) if FIRST_PERSON_VERB.search(sentence)]


@dataclass(frozen=True, slots=True)
class Compared:
    """An extractor of the comparison. sees_tools: True if its events include tool calls and their answers."""

    extractor: Extractor
    sees_tools: bool = True


def compared() -> dict[str, Compared]:
    """Return the compared extractors by the names of their columns. Version 1 and the speech baseline see no tool
    events.

    signals: the rules without a judge of meaning; present: the rules with the judge, as `make setup` installs them.
    """
    return {
        "keep all": Compared(Quotes("keep all", lambda text: [text] if text.strip() else [])),
        "first person": Compared(Quotes("first person", first_person_sentences), sees_tools=False),
        "version 1": Compared(rules_v1.RulesExtractor(), sees_tools=False),
        "signals": Compared(RulesExtractor()),
        "present": Compared(RulesExtractor(installed_judge())),
    }
