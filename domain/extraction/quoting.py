"""How a sentence of another language becomes a candidate: as it was said, behind the name of its speaker.

    Maya: "Ich bin gegen Erdnüsse allergisch."
    Maya, asked "Wann haben Sie Geburtstag?": "Am 3. Mai."

The words stay those of the speaker, so that no grammar is guessed, and search finds them in their own language.
Quotation marks keep later rules, which read English, from changing them.

Must not know: why a sentence was kept.
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
"""Signals beside which a day without a year or a bare weekday may be over, or may come again and again."""
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
    """The candidates of a turn in order: of more than `MAX_PER_EVENT`, those with the highest scores."""
    lifted = _lifted(speech, text, language) if to_agent and not speech.is_agent else {}
    found = [
        one for one in kept(speech, text, language, to_agent=to_agent) if not any(said in one.said for said in lifted)
    ]
    ranked = sorted(range(len(found)), key=lambda at: (-found[at].score, at))[:MAX_PER_EVENT]
    made = [_candidate(found[at], speech, language, context) for at in sorted(ranked)]
    return [*made, *lifted.values()]


def _lifted(speech: Speech, text: str, language: Language) -> dict[str, Candidate]:
    """The sentences that lift an instruction, and the statements that say so."""
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
    """Where a day without a year lies: ahead, if the sentence surely plans something, else it stays as it was said."""
    return "unclear" if _AHEAD.isdisjoint(fired) or not _NOT_ONE_DAY.isdisjoint(fired) else "future"


def _type(fired: Sequence[str], *, past: bool) -> MemoryType:
    """The type of the first signal that has one; what is over is no task, and no event without a change or a date."""
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
    """How much a statement matters, by what its signals say."""
    known = weights()
    told = sum(known.signals[name].importance for name in set(fired) if name in known.signals)
    return round(min(0.95, max(0.05, known.importance + told)), 2)


def _entities(said: str, name: str, language: Language) -> tuple[str, ...]:
    """The speaker and the names in a sentence; in a language whose nouns have capitals, only names of several words."""
    if not language.spaced:
        return tuple(dict.fromkeys((name, *_LATIN_NAME.findall(said))))[:MAX_ENTITIES]
    others = [other for other in entities(said, ()) if not (said.startswith(other) and other[-1].isdigit())]
    if not language.capital_names:
        others = [other for other in others if " " in other and not said.startswith(other)]
    return tuple(dict.fromkeys((name, *others)))[:MAX_ENTITIES]
