"""The default extractor: rules alone, offline, the same answer for the same window every time.

noise out → secrets out → sentences → signals → keep or drop → third person → dates → a candidate.

No text of a conversation is an instruction to this code.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, time
from zoneinfo import ZoneInfo

from bench.rules_v1.answers import statement
from bench.rules_v1.edges import without_vocative
from bench.rules_v1.entities import entities
from bench.rules_v1.kinds import kind_of
from bench.rules_v1.noise import is_chatter, is_noise, without_machinery
from bench.rules_v1.person import third_person
from bench.rules_v1.sentences import MAX_SENTENCE, sentences
from bench.rules_v1.signals import Seen, signals
from bench.rules_v1.speech import Speech, speeches
from bench.rules_v1.weights import FURTHER_THRESHOLD, THRESHOLD, confidence, importance, keep_score
from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Window
from slowwave_server.domain.dates import annotate, local_day, mentions
from slowwave_server.domain.events import Event
from slowwave_server.domain.redaction import redact

MAX_PER_EVENT = 12
"""Candidates. A pasted document must not flood the memory: the candidates with the highest scores stay."""

_AGENT_SAYS = frozenset(("decision", "commitment", "result", "remember"))
_REMEMBER = re.compile(
    r"^(?:(?:please|and|also|so|hey|ok|okay)[\s,]{1,3}){0,3}(?:remember|note|don't forget|keep in mind|make a note|"
    r"for the record|fyi|for future reference|important|reminder)\b[\s,:-]{0,4}(?:that\b|of\b)?[\s,:]{0,3}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence that passed: its original words, its signals and its log-odds."""

    said: str
    fired: tuple[str, ...]
    score: float


class RulesExtractor:
    """Extractor (see `domain.candidates.Extractor`): signals of language, weighed; no model, no state."""

    name = "rules"
    version = "1"

    def extract(
        self,
        window: Window,
        context: ExtractionContext,
        now: datetime,  # noqa: ARG002 - the contract's: dates here are those of the events
    ) -> Extraction:
        """Candidates in the order in which they were said; the same statement twice is one, with both sources.

        An unknown time zone raises `zoneinfo.ZoneInfoNotFoundError`.
        """
        found: dict[tuple[str, str], Candidate] = {}
        redactions = noise = dropped = 0
        talk = {speech.event.seq: speech for speech in speeches(window.events, context.preceding, context.agent)}
        for event in window.events:
            clean = redact(event.content)
            redactions += len(clean.kinds)
            text = "" if is_noise(event) else without_machinery(clean.text)
            if not text.strip() or is_chatter(text):
                noise += 1
                continue
            if event.kind == "task":
                _add(found, _milestone(event, text))
                continue
            passed = _statements(talk[event.seq], text)
            dropped += max(0, len(passed) - MAX_PER_EVENT)
            for one in _best(passed):
                _add(found, _candidate(one, talk[event.seq], context))
        notes = (f"{dropped} statements of long events left out",) if dropped else ()
        return Extraction(tuple(found.values()), noise=noise, redactions=redactions, notes=notes)


def _statements(speech: Speech, text: str) -> list[_Statement]:
    """The sentences worth keeping; a short answer is replaced by the statement that it makes of its question."""
    found: list[_Statement] = []
    for at, spoken in enumerate(sentences(text)):
        sentence = without_vocative(spoken, speech.speaker.addressee)
        seen = Seen.after(speech.before) if at == 0 else Seen()
        if at == 0 and (answered := _answer(speech.before, sentence)) is not None:
            fired = (*signals(answered, Seen()), "completed")
            passed = _Statement(answered, fired, keep_score(fired))
        else:
            fired = signals(sentence, seen)
            passed = _Statement(sentence, fired, keep_score(fired))
        if passed.score >= THRESHOLD and not (speech.is_agent and _AGENT_SAYS.isdisjoint(fired)):
            found.append(passed)
    best = max((passed.score for passed in found), default=0.0)
    return [passed for passed in found if passed.score >= FURTHER_THRESHOLD or passed.score == best]


def _answer(before: str | None, sentence: str) -> str | None:
    if before is None or "?" not in before[-60:]:
        return None
    asked = [part for part in sentences(redact(before[-MAX_SENTENCE:]).text) if part.endswith("?")]
    return statement(asked[-1], sentence) if asked else None


def _candidate(passed: _Statement, speech: Speech, context: ExtractionContext) -> Candidate:
    event, speaker = speech.event, speech.speaker
    named = mentions(passed.said, local_day(event.happened_at, context.time_zone))
    over = [mention.first for mention in named if mention.past]
    fired = (*passed.fired, *(("dated",) if named else ()), *(("agent",) if speech.is_agent else ()))
    said = annotate(passed.said, named)
    if "remember" in fired:
        said = _REMEMBER.sub("", said) or said
        said = f"I asked to remember {said}" if said.lower().startswith("to ") else said
    content = third_person(said, speaker)
    valid_from = event.happened_at
    if over:
        valid_from = min(valid_from, datetime.combine(min(over), time.min, ZoneInfo(context.time_zone)))
    people = tuple(name for name in (speaker.name, speaker.addressee) if name)
    return Candidate(
        content=content,
        type=kind_of(said, fired, past_date=bool(over)),
        importance=importance(fired),
        confidence=confidence(fired),
        valid_from=valid_from,
        sources=(event.seq,),
        entities=entities(content, people),
        trust="assistant" if event.kind == "assistant" else "user",
        signals=fired,
    )


def _milestone(event: Event, text: str) -> Candidate:
    """The outcome of a run. The statement names the outcome, because the text alone ("Nightly import") does not."""
    outcome = str(event.metadata["event"])
    told = " ".join(text.split())
    cut = told if len(told) <= MAX_SENTENCE else told[:MAX_SENTENCE].rsplit(" ", 1)[0] + " …"
    fired = ("milestone", outcome)
    return Candidate(
        content=f"{outcome.replace('_', ' ').capitalize()}: {cut}",
        type="task",
        importance=importance(fired),
        confidence=confidence(fired),
        valid_from=event.happened_at,
        sources=(event.seq,),
        entities=entities(cut, ()),
        trust="task",
        signals=fired,
    )


def _best(passed: list[_Statement]) -> list[_Statement]:
    """At most `MAX_PER_EVENT`, in the order in which they were said."""
    if len(passed) <= MAX_PER_EVENT:
        return passed
    ranked = sorted(range(len(passed)), key=lambda at: (-passed[at].score, at))
    return [passed[at] for at in sorted(ranked[:MAX_PER_EVENT])]


def _add(found: dict[tuple[str, str], Candidate], candidate: Candidate) -> None:
    key = (candidate.type, candidate.content.casefold())
    known = found.get(key)
    if known is None:
        found[key] = candidate
        return
    sources = tuple(sorted({*known.sources, *candidate.sources}))
    found[key] = replace(known, sources=sources, valid_from=min(known.valid_from, candidate.valid_from))
