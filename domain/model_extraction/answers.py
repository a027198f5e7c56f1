"""From an answer to candidates: nothing of it is believed that the window doesn't bear out.

Who said a thing decides how far it is trusted, never what the model says of it. What is dropped is counted by why:

    outside    names an event that the model was not shown
    invented   holds a name, number or date that its sources don't
    known      repeats what the model was told beside the window
    malformed  is no memory at all
    over       is more than a window may give

Must not know: which model answered, and where candidates go.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any, cast
from zoneinfo import ZoneInfo

from slowwave.memory_types import MemoryType
from slowwave.recall.rendering import one_line
from slowwave_server.domain.candidates import Candidate, ExtractionContext
from slowwave_server.domain.dates import Mention, annotate, local_day, mentions
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.extraction.person import Speaker, third_person
from slowwave_server.domain.model_extraction.asking import MOST_MEMORIES, TYPES, Asked, Known, Said
from slowwave_server.domain.model_extraction.grounding import Evidence, repeats, says
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.statements import normal_form

MOST_READ = 3 * MOST_MEMORIES
"""So many memories of an answer are looked at: each takes a while, and a window has only so long."""
MAX_CONTENT = 400
"""Characters. A memory is a sentence; what is longer is a copy of the conversation."""
PLAIN = 0.5
"""Importance and confidence where the model gave no number."""
AGENT_MALUS = 0.1
_LOWEST, _HIGHEST = 0.05, 0.95
_TAIL = 60
_BEGINNING = 60
_OPENS_OTHERWISE = re.compile(r"[][#<>{}|:;\"]")
"""Marks with which no statement begins: what follows them may be a line that somebody forged."""
_FIRST_PERSON = frozenset("i i'm i've i'll i'd me my mine myself we we're we've we'll our ours us you your".split())


class UnusableAnswer(Exception):
    """The answer is no list of memories. The message holds none of its text."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is left of an answer. dropped: how many memories were not kept, by why."""

    candidates: tuple[Candidate, ...]
    dropped: Mapping[str, int]
    redactions: int = 0


class _Dropped(Exception):
    """One memory is not kept; the message is the reason's name."""


def read_answer(data: Any, asked: Asked, context: ExtractionContext, known: Known) -> Checked:
    """Check an answer's data (None: nothing to keep). Raises UnusableAnswer where it is of another shape.

    The same statement twice is one, with the sources of both.
    """
    dropped: Counter[str] = Counter()
    found: dict[tuple[str, str], Candidate] = {}
    redactions = 0
    reader = _Reader(asked, context, known)
    items = _items(data)
    for item in items[:MOST_READ]:
        try:
            candidate, secrets = reader.candidate(item)
        except _Dropped as why:
            dropped[str(why)] += 1
            continue
        redactions += secrets
        key = (candidate.type, normal_form(candidate.content))
        if (same := found.get(key)) is not None:
            candidate = replace(same, sources=tuple(sorted({*same.sources, *candidate.sources})))
        found[key] = candidate
    kept = sorted(found.values(), key=lambda candidate: -candidate.importance)[:MOST_MEMORIES]
    if over := len(found) - len(kept) + len(items[MOST_READ:]):
        dropped["over"] = over
    return Checked(tuple(sorted(kept, key=lambda candidate: candidate.sources)), dict(dropped), redactions)


def _items(data: Any) -> list[Any]:
    if data is None:
        return []
    memories = data.get("memories") if isinstance(data, Mapping) else data
    if not isinstance(memories, list):
        raise UnusableAnswer("the model's answer is no list of memories")
    return memories


@dataclass(frozen=True, slots=True)
class _Reader:
    asked: Asked
    context: ExtractionContext
    known: Known

    def candidate(self, item: Any) -> tuple[Candidate, int]:
        """One memory as a candidate, and how many secrets were taken out of it. Raises _Dropped."""
        content, redactions = _content(item)
        sources = self._sources(item)
        named = _resolved(content, sources, self.context)
        content = annotate(content, named)
        sources = self._bearing(content, sources)
        content = _in_third_person(content, sources[-1].speech.speaker)
        if any(self._only_known(content, line, sources) for line in self.known.lines):
            raise _Dropped("known")
        content = _attributed(content, sources)
        if len(content) > MAX_CONTENT:
            raise _Dropped("malformed")
        by_agent = any(said.event.kind == "assistant" for said in sources)
        sure = _share(item.get("confidence")) - (AGENT_MALUS if by_agent else 0.0)
        people = tuple({said.name: None for said in self.asked.said.values()})
        kind = item.get("type")
        return Candidate(
            content=content,
            type=cast("MemoryType", kind) if kind in TYPES else "fact",
            importance=_bounded(_share(item.get("importance"))),
            confidence=_bounded(sure),
            valid_from=self._valid_from(item, sources, named),
            sources=tuple(said.event.seq for said in sources),
            entities=_names(content, item.get("entities"), people),
            trust="assistant" if by_agent else "user",
            signals=("model", *(("dated",) if named else ()), *(("agent",) if by_agent else ())),
        ), redactions

    def _sources(self, item: Mapping[str, Any]) -> tuple[Said, ...]:
        """The events it cites, in order. One that was not shown spoils it: who mixes these up guesses."""
        cited = item.get("sources")
        if not isinstance(cited, list) or not cited:
            raise _Dropped("outside")
        if not all(isinstance(seq, int) and not isinstance(seq, bool) and seq in self.asked.said for seq in cited):
            raise _Dropped("outside")
        return tuple(self.asked.said[seq] for seq in sorted(set(cited)))

    def _bearing(self, content: str, sources: tuple[Said, ...]) -> tuple[Said, ...]:
        """The sources that it rests on: those of users alone where these bear it, since an agent repeats what it hears.

        Raises _Dropped where all together don't.
        """
        users = tuple(said for said in sources if said.event.kind != "assistant")
        for some in (users, sources):
            if some and self._evidence(some).bears(content):
                return some
        raise _Dropped("invented")

    def _evidence(self, sources: tuple[Said, ...]) -> Evidence:
        days: set[date] = set()
        texts = [said.name for said in self.asked.said.values()]
        for said in sources:
            today = local_day(said.event.happened_at, self.context.time_zone)
            heard = _question(said)
            for text in (said.text, heard):
                found = mentions(text, today)
                days.update(mention.first for mention in found)
                texts.extend((text, *(mention.label for mention in found)))
            days.add(today)
        return Evidence.of((*texts, self.context.agent, "user"), days)

    def _only_known(self, content: str, line: str, sources: tuple[Said, ...]) -> bool:
        """Whether it is a known thing that its sources don't say: recalled, and no new evidence.

        What the agent says of it doesn't count either: it was told what is known.
        """
        apart = Evidence.of((*(said.name for said in self.asked.said.values()), "The user")).forms
        if not repeats(content, line, apart):
            return False
        users = [said.text for said in sources if said.event.kind != "assistant"]
        return not users or not says(self._own_words(sources, users), content, apart)

    def _own_words(self, sources: tuple[Said, ...], texts: list[str]) -> Evidence:
        return Evidence.of((*texts, *(_question(said) for said in sources if said.event.kind != "assistant")))

    def _valid_from(self, item: Mapping[str, Any], sources: tuple[Said, ...], named: tuple[Mention, ...]) -> datetime:
        """When it began to hold: a past day that the sources name, else when the last of them was said; never later."""
        at = max(said.event.happened_at for said in sources)
        days = [mention.first for mention in named if mention.past]
        given = _day(item.get("valid_from"))
        meant = {
            mention.first
            for said in sources
            for mention in mentions(said.text, local_day(said.event.happened_at, self.context.time_zone))
        }
        if given in meant and given is not None:
            days = [given]
        if not days:
            return at
        return min(at, datetime.combine(min(days), time.min, ZoneInfo(self.context.time_zone)))


def _content(item: Any) -> tuple[str, int]:
    if not isinstance(item, Mapping) or not isinstance(item.get("content"), str):
        raise _Dropped("malformed")
    if len(item["content"]) > 4 * MAX_CONTENT:
        raise _Dropped("malformed")
    clean = redact(one_line(item["content"]))
    if not clean.text:
        raise _Dropped("malformed")
    return clean.text, len(clean.kinds)


def _resolved(content: str, sources: tuple[Said, ...], context: ExtractionContext) -> tuple[Mention, ...]:
    """The dates that it names, as said by the source that names them so, else by the last one."""
    low = content.lower()
    today = local_day(sources[-1].event.happened_at, context.time_zone)
    for said in sources:
        day = local_day(said.event.happened_at, context.time_zone)
        text = said.text.lower()
        if any(text[mention.start : mention.end] in low for mention in mentions(said.text, day)):
            today = day
            break
    return mentions(content, today)


def _question(said: Said) -> str:
    """What the event answers, if it does: its words are the answer's too."""
    before = said.speech.before
    return redact(before).text if before is not None and "?" in before[-_TAIL:] else ""


def _in_third_person(content: str, speaker: Speaker) -> str:
    words = {word.strip(".,;:!?()").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for word in content.lower().split()}
    return third_person(content, speaker) if words & _FIRST_PERSON else content


def _attributed(content: str, sources: tuple[Said, ...]) -> str:
    """With a speaker's name at its beginning: what somebody said stays what somebody said."""
    begins = _OPENS_OTHERWISE.split(content[:_BEGINNING], maxsplit=1)[0].casefold()
    if any(name.casefold() in begins for said in sources for name in (said.name, said.name.split()[0])):
        return content
    return f"{sources[-1].name} said: {content}"


def _names(content: str, given: Any, people: tuple[str, ...]) -> tuple[str, ...]:
    found = dict.fromkeys(entities(content, people))
    for name in given if isinstance(given, list) else ():
        if isinstance(name, str) and len(name) > 1 and name in content and not any(name in longer for longer in found):
            found[name] = None
    return tuple(found)[:10]


def _share(value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and math.isnan(value))
    ):
        return PLAIN
    # Compared first: an int of JSON may be too large for a float.
    return float(min(1, max(0, value)))


def _bounded(value: float) -> float:
    """One utterance proves nothing for certain, and nothing is of no worth at all."""
    return round(min(_HIGHEST, max(_LOWEST, value)), 2)


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None
