"""Turn a kept statement into a candidate: dates, third person, type, confidence and importance."""

import re
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from slowwave.memory_types import MemoryType
from slowwave_server.domain.candidates import Candidate, ExtractionContext
from slowwave_server.domain.dates import annotate, local_day, mentions
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.extraction.kinds import kind_of
from slowwave_server.domain.extraction.person import Speaker, third_person
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.weights import confidence, importance_of
from slowwave_server.domain.extraction.wording import is_clear, quoted
from slowwave_server.domain.extraction.years import with_years

SAID = "said"
"""The signal of a passage (`said`), which keeps its original words."""
_REMEMBER = re.compile(
    r"^(?:(?:please|and|also|so|hey|ok|okay)[\s,]{1,3}){0,3}(?:remember|note|don't forget|keep in mind|make a note|"
    r"for the record|fyi|for future reference|important|reminder)\b[\s,:-]{0,4}(?:that\b|of\b)?[\s,:]{0,3}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence to keep, in its original words, with its signals and log-odds.

    Attributes:
        type: the type, or None if the signals decide.
        worded: True if the sentence is already a statement in the third person.
        sources: further events that say the same, besides the sentence's own event.
        asked: the question that the sentence answers.
    """

    said: str
    fired: tuple[str, ...]
    score: float
    type: MemoryType | None = None
    worded: bool = False
    sources: tuple[int, ...] = ()
    asked: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A statement with its candidate."""

    statement: ScoredSentence
    candidate: Candidate


def without_wish(said: str) -> str:
    """Return the text to remember without "please remember that"."""
    told = _REMEMBER.sub("", said) or said
    return f"I asked to remember {told}" if told.lower().startswith("to ") else told


def made(passed: ScoredSentence, speech: Speech, context: ExtractionContext) -> ScoredCandidate:
    """Build the candidate of a statement."""
    event, speaker = speech.event, speech.speaker
    of_document = passed.worded and passed.type in {"result", "decision"}  # a document keeps its dates in its own words
    today = local_day(event.happened_at, context.time_zone)
    named = () if of_document else with_years(mentions(passed.said, today), passed.said, event.content, today)
    over = [mention.first for mention in named if mention.past]
    fired = (*passed.fired, *(("dated",) if named else ()), *(("agent",) if speech.is_agent else ()))
    said = annotate(passed.said, named)
    if "remember" in fired and not speech.is_agent:
        said = without_wish(said)
    told = said if passed.worded else third_person(said, speaker)
    valid_from = event.happened_at
    if over and passed.type is None:
        valid_from = min(valid_from, datetime.combine(min(over), time.min, ZoneInfo(context.time_zone)))
    kind = passed.type or kind_of(said, fired, past_date=bool(over))
    people = tuple(name for name in (speaker.name, speaker.addressee) if name)
    one = Candidate(
        content=told if _is_told(passed, said, speaker) else quoted(said, speaker, passed.asked),
        type=kind,
        importance=importance_of(told, kind, fired, people),
        confidence=confidence(fired),
        valid_from=valid_from,
        sources=tuple(sorted({event.seq, *passed.sources})),
        entities=entities(told, people),
        trust="assistant" if event.kind == "assistant" else "user",
        signals=fired,
    )
    return ScoredCandidate(passed, one)


def _is_told(passed: ScoredSentence, said: str, speaker: Speaker) -> bool:
    """Return True if a statement is put in the third person; not passages, which may be about several people."""
    return passed.worded or (SAID not in passed.fired and is_clear(said, speaker))
