"""Turn a sentence in another language into a candidate: the original words after the speaker's name.

    Maya: "Ich bin gegen Erdnüsse allergisch."
    Maya, asked "Wann haben Sie Geburtstag?": "Am 3. Mai."

The words stay unchanged, so that no rule has to guess the grammar, and search finds them in their own language. The
quotation marks protect them from later rules, which read English.
"""

import re
from collections.abc import Sequence
from datetime import datetime, time
from zoneinfo import ZoneInfo

from slowwave.memory_types import MemoryType
from slowwave_server.domain.candidates import Candidate, ExtractionContext
from slowwave_server.domain.dates import Mention, annotate, local_day
from slowwave_server.domain.endings.recognise import recognise_lift
from slowwave_server.domain.endings.wording import told
from slowwave_server.domain.extraction.entities import MAX_ENTITIES, entities
from slowwave_server.domain.extraction.foreign import KeptSentence, kept, without_lead
from slowwave_server.domain.extraction.languages import Language, weights
from slowwave_server.domain.extraction.languages.dating import mentions
from slowwave_server.domain.extraction.languages.splitting import sentences
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.weights import confidence
from slowwave_server.domain.periods import Tense

MAX_PER_EVENT = 6
_AHEAD = frozenset(("plan", "deadline", "decision"))
_NOT_ONE_DAY = frozenset(("past", "change", "outcome", "standing", "habit", "correction"))
"""With one of these signals, a day without a year or a bare weekday may be past or recurring."""
_LATIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9.+-]{1,30}(?: [A-Z0-9][A-Za-z0-9.+-]{0,30}){0,3}")
_TYPES: dict[str, MemoryType] = {
    "instruction": "instruction",
    "decision": "decision",
    "result": "result",
    "task": "task",
    "preference": "preference",
    "event": "event",
}


def candidates(
    speech: Speech, text: str, language: Language, context: ExtractionContext, *, to_agent: bool
) -> list[Candidate]:
    """Return a turn's candidates in order: if more than `MAX_PER_EVENT`, those with the highest scores."""
    lifted = _lifted(speech, text, language) if to_agent and not speech.is_agent else {}
    found = [
        one for one in kept(speech, text, language, to_agent=to_agent) if not any(said in one.said for said in lifted)
    ]
    ranked = sorted(range(len(found)), key=lambda at: (-found[at].score, at))[:MAX_PER_EVENT]
    made = [_candidate(found[at], speech, language, context) for at in sorted(ranked)]
    return [*made, *lifted.values()]


def _lifted(speech: Speech, text: str, language: Language) -> dict[str, Candidate]:
    """Map each sentence that lifts an instruction to the candidate that records the lift."""
    found = {}
    for said in sentences(text, language):
        ending = recognise_lift(without_lead(said, language))
        if ending is None:
            continue
        fired = ("ends", language.code)
        found[said] = Candidate(
            content=told(ending, speech.speaker.name),
            type="decision",
            importance=_importance(fired),
            confidence=confidence(fired),
            valid_from=speech.event.happened_at,
            sources=(speech.event.seq,),
            entities=(speech.speaker.name,),
            trust="user",
            signals=fired,
        )
    return found


def _candidate(one: KeptSentence, speech: Speech, language: Language, context: ExtractionContext) -> Candidate:
    event, name = speech.event, speech.speaker.name
    named = mentions(one.said, local_day(event.happened_at, context.time_zone), language.code, _tense(one.fired))
    over = [mention.first for mention in named if mention.past]
    fired = (
        *one.fired,
        *(("dated",) if named and "dated" not in one.fired else ()),
        *(("agent",) if speech.is_agent else ()),
        language.code,
    )
    kind = _type(fired, past=bool(over))
    valid_from = event.happened_at
    if over and kind in {"event", "fact"}:
        valid_from = min(valid_from, datetime.combine(min(over), time.min, ZoneInfo(context.time_zone)))
    asked = speech.before_seq if one.asked is not None else None
    return Candidate(
        content=_content(one, name, named),
        type=kind,
        importance=_importance(fired),
        confidence=confidence(fired),
        valid_from=valid_from,
        sources=tuple(sorted({event.seq, *(() if asked is None else (asked,))})),
        entities=_entities(one.said, name, language),
        trust="assistant" if event.kind == "assistant" else "user",
        signals=fired,
    )


def _content(one: KeptSentence, name: str, named: tuple[Mention, ...]) -> str:
    said = annotate(one.said, named).replace('"', "'")
    if one.asked is None:
        return f'{name}: "{said}"'
    asked = one.asked.replace('"', "'")
    return f'{name}, asked "{asked}": "{said}"'


def _tense(fired: Sequence[str]) -> Tense:
    """Return "future" for a day without a year if the sentence clearly plans something, else "unclear"."""
    return "unclear" if _AHEAD.isdisjoint(fired) or not _NOT_ONE_DAY.isdisjoint(fired) else "future"


def _type(fired: Sequence[str], *, past: bool) -> MemoryType:
    """Return the memory type of the first fired signal that has one, in the order of the weights. A task that is over
    is skipped, and an event needs a signal of a change or a past date.
    """
    for name, weight in weights().signals.items():
        if name not in fired or weight.type is None:
            continue
        if weight.type == "task" and past:
            continue
        if name == "past" and not past:
            continue
        return _TYPES[weight.type]
    return "fact"


def _importance(fired: Sequence[str]) -> float:
    """Return the importance of a statement by its signals."""
    known = weights()
    told = sum(known.signals[name].importance for name in set(fired) if name in known.signals)
    return round(min(0.95, max(0.05, known.importance + told)), 2)


def _entities(said: str, name: str, language: Language) -> tuple[str, ...]:
    """Return the speaker and the names in a sentence; if nouns have capitals, only names of several words."""
    if not language.spaced:
        return tuple(dict.fromkeys((name, *_LATIN_NAME.findall(said))))[:MAX_ENTITIES]
    others = [other for other in entities(said, ()) if not (said.startswith(other) and other[-1].isdigit())]
    if not language.capital_names:
        others = [other for other in others if " " in other and not said.startswith(other)]
    return tuple(dict.fromkeys((name, *others)))[:MAX_ENTITIES]
