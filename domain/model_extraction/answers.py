"""Check a model's answer and turn it into candidates; only memories that the window supports are accepted.

The speaker of the sources decides the trust of a memory; the model's own claims do not. Dropped memories are counted by
reason:

    outside    cites an event that was not in the prompt
    invented   contains a name, number or date that its sources lack
    flipped    denies a claim of its sources, or states a claim that they deny
    known      repeats known context that the prompt contained beside the window
    malformed  does not have the form of a memory
    over       exceeds the maximum number of memories of a window
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from slowwave.memory_types import MemoryType
from slowwave_server.domain.candidates import Candidate, ExtractionContext
from slowwave_server.domain.dates import annotate, local_day, mentions
from slowwave_server.domain.model_extraction.asking import (
    CERTAINTY,
    IMPORTANCE,
    MOST_MEMORIES,
    TYPES,
    Asked,
    ShownEvent,
)
from slowwave_server.domain.model_extraction.denial import is_flipped
from slowwave_server.domain.model_extraction.grounding import Evidence, adds, repeats, says
from slowwave_server.domain.model_extraction.known import KnownContext
from slowwave_server.domain.model_extraction.since import Since, loose_days, since
from slowwave_server.domain.model_extraction.wording import (
    MAX_CONTENT,
    Dropped,
    asserted,
    attributed,
    clean_content,
    heard_by,
    in_third_person,
    names_in,
    resolved,
)
from slowwave_server.domain.similarity.tokens import tokenise
from slowwave_server.domain.statements import normal_form

MOST_READ = 3 * MOST_MEMORIES
"""Maximum memories checked in one answer: each check takes time, and a window has a time limit."""
PLAIN = 0.6
"""Importance and confidence of a memory whose own values are missing or not in the prompt's list."""
AGENT_MALUS = 0.1


class UnusableAnswer(Exception):
    """The answer is not a list of memories. The message contains no text of the answer."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The accepted candidates of an answer. dropped: number of dropped memories by reason."""

    candidates: tuple[Candidate, ...]
    dropped: Mapping[str, int]
    redactions: int = 0


def read_answer(data: Any, asked: Asked, context: ExtractionContext, known: KnownContext) -> Checked:
    """Check an answer's data and merge duplicates, with the sources of both. None means that there is nothing to keep.

    Raises UnusableAnswer if the answer has another shape.
    """
    dropped: Counter[str] = Counter()
    found: dict[tuple[str, str], Candidate] = {}
    redactions = 0
    reader = _Reader(asked, context, known)
    items = _items(data)
    for item in items[:MOST_READ]:
        try:
            candidate, secrets = reader.candidate(item)
        except Dropped as why:
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
        raise UnusableAnswer("the model's answer is not a list of memories")
    return memories


@dataclass(frozen=True, slots=True)
class _Borne:
    """The events that support a memory. by_agent: True if only the agent supports it."""

    sources: tuple[ShownEvent, ...]
    by_agent: bool


@dataclass(frozen=True, slots=True)
class _Reader:
    asked: Asked
    context: ExtractionContext
    known: KnownContext

    def candidate(self, item: Any) -> tuple[Candidate, int]:
        """Return one memory as a candidate, and the number of secrets redacted from it. Raises Dropped."""
        content, redactions = clean_content(item)
        cited = self._cited(item)
        named = resolved(content, cited, self.context)
        content = annotate(content, named)
        ended = self._ended(item, content, cited)
        borne = self._borne(item, content, cited, ended)
        sources = borne.sources
        content = in_third_person(content, sources[-1].speech.speaker)
        if is_flipped(content, (said.text for said in sources), self._people):
            raise Dropped("flipped")
        if any(line != ended and self._only_known(content, line, sources) for line in self.known.lines):
            raise Dropped("known")
        repeats = self._repeated(item, content, sources)
        corrects = None if repeats is not None else self._corrected(item, content, borne)
        content = attributed(content, sources)
        if len(content) > MAX_CONTENT:
            raise Dropped("malformed")
        begins = since(item, sources, map(heard_by, sources), self.context.time_zone)
        sure = CERTAINTY.get(_word(item, "certainty"), PLAIN) - (AGENT_MALUS if borne.by_agent else 0.0)
        return Candidate(
            content=content,
            type=_kind(item, borne),
            importance=IMPORTANCE.get(_word(item, "importance"), PLAIN),
            confidence=round(sure, 2),
            valid_from=begins.at,
            sources=tuple(said.event.seq for said in sources),
            entities=self._entities(content, item),
            trust="assistant" if borne.by_agent else "user",
            signals=_signals(begins, borne, corrects),
            repeats=repeats,
            corrects=corrects,
        ), redactions

    @property
    def _people(self) -> frozenset[str]:
        """Return the names of all speakers, as forms and stems, which are not evidence for a statement."""
        return Evidence.of((*(said.name for said in self.asked.said.values()), "The user", self.context.agent)).forms

    def _cited(self, item: Mapping[str, Any]) -> tuple[ShownEvent, ...]:
        """Return the cited events in order; a citation of an unshown event shows guessing. Raises Dropped."""
        cited = item.get("sources")
        if not isinstance(cited, list) or not cited:
            raise Dropped("outside")
        if not all(isinstance(seq, int) and not isinstance(seq, bool) and seq in self.asked.said for seq in cited):
            raise Dropped("outside")
        return tuple(self.asked.said[seq] for seq in sorted(set(cited)))

    def _ended(self, item: Mapping[str, Any], content: str, cited: tuple[ShownEvent, ...]) -> str:
        """Return the known memory that a person corrects, "" if none; the new memory may repeat its valid parts.

        The correction counts only if the window adds something to the known memory.
        """
        memory = self.known.named(item.get("corrects"))
        people = Evidence.of(asserted(said.text) for said in cited if said.event.kind != "assistant")
        return memory.content if memory is not None and adds(people, content, memory.content) else ""

    def _borne(self, item: Mapping[str, Any], content: str, cited: tuple[ShownEvent, ...], ended: str) -> _Borne:
        """Return the supporting events: only people's events if they suffice, because an agent repeats what people say.

        A question supports nothing. If a person answers or accepts a text of the agent, the agent's cited events count
        as the person's words, too. Raises Dropped if all events together do not support the memory.
        """
        day = since(item, cited, map(heard_by, cited), self.context.time_zone).day
        people = tuple(said for said in cited if said.event.kind != "assistant")
        by_agent = len(people) < len(cited)
        if not self._evidence(cited, day, ended, heard=True).bears(content):
            raise Dropped("invented")
        if not people or (by_agent and self._is_agents_own(item, content, cited)):
            return _Borne(cited, by_agent)
        told = says(Evidence.of((*(asserted(said.text) for said in people), ended)), content, self._people)
        if (told or not by_agent) and self._evidence(people, day, ended, heard=False).bears(content):
            return _Borne(people, by_agent=False)
        return _Borne(cited, by_agent and not self._evidence(people, day, ended, heard=True).bears(content))

    def _is_agents_own(self, item: Mapping[str, Any], content: str, cited: tuple[ShownEvent, ...]) -> bool:
        """Return True if the memory is about the agent's own act or statement. A request for an act proves none."""
        if _word(item, "kind") == "instruction":
            return False
        names = {said.name.casefold() for said in cited if said.event.kind == "assistant"}
        is_last = cited[-1].event.kind == "assistant"
        return content.casefold().startswith(tuple(names)) or (_word(item, "kind") == "result" and is_last)

    def _evidence(self, sources: tuple[ShownEvent, ...], day: date | None, ended: str, *, heard: bool) -> Evidence:
        days: set[date] = set() if day is None else {day}
        texts = [ended, *(said.name for said in self.asked.said.values())]
        texts.extend(f"{one:%Y-%m}" for one in days)
        for said in sources:
            today = local_day(said.event.happened_at, self.context.time_zone)
            for text in (said.text, heard_by(said) if heard else ""):
                found = mentions(text, today)
                days.update(mention.first for mention in found)
                days.update(loose_days(text, today))
                texts.extend((text, *(mention.label for mention in found)))
            days.add(today)
        return Evidence.of((*texts, self.context.agent, "user"), days)

    def _only_known(self, content: str, line: str, sources: tuple[ShownEvent, ...]) -> bool:
        """Return True if a memory repeats known context without evidence in its sources, so that the model only
        recalled it.

        The agent's words are not evidence either, because the agent knew the context.
        """
        return repeats(content, line, self._people) and not self._say(sources, content)

    def _say(self, sources: tuple[ShownEvent, ...], content: str) -> bool:
        """Return True if the people among the sources state the memory."""
        people = [said for said in sources if said.event.kind != "assistant"]
        words = Evidence.of((*(said.text for said in people), *(heard_by(said) for said in people)))
        return bool(people) and says(words, content, self._people)

    def _repeated(self, item: Mapping[str, Any], content: str, sources: tuple[ShownEvent, ...]) -> UUID | None:
        """Return the known memory that the item repeats by its own field, if it adds nothing to this memory."""
        memory = self.known.named(item.get("repeats"))
        if memory is None or memory.id is None or not self._say(sources, content):
            return None
        words = Evidence.of((memory.content, *(said.name for said in self.asked.said.values()), "user"))
        same = words.bears(content) and says(words, content, self._people)
        return memory.id if same and not is_flipped(content, (memory.content,), self._people) else None

    def _corrected(self, item: Mapping[str, Any], content: str, borne: _Borne) -> UUID | None:
        """Return the known memory that the item ends. An agent can't end one, and both must share a content word."""
        memory = self.known.named(item.get("corrects"))
        if memory is None or memory.id is None or borne.by_agent:
            return None
        common = {token.stem for token in tokenise(content) if token.carries_content} & {
            token.stem for token in tokenise(memory.content) if token.carries_content
        }
        return memory.id if common else None

    def _entities(self, content: str, item: Mapping[str, Any]) -> tuple[str, ...]:
        people = tuple({said.name: None for said in self.asked.said.values()})
        given = item.get("entities")
        return names_in(content, [item.get("subject"), *(given if isinstance(given, list) else ())], people)


def _kind(item: Mapping[str, Any], borne: _Borne) -> MemoryType:
    """Return the item's type. An unknown type becomes a fact, and so does an agent's instruction to itself."""
    kind = _word(item, "kind")
    if kind not in TYPES or (kind == "instruction" and borne.by_agent):
        return "fact"
    return kind


def _signals(begins: Since, borne: _Borne, corrects: UUID | None) -> tuple[str, ...]:
    dated = () if begins.day is None else (f"dated by the {begins.precision}",)
    agent = ("agent",) if borne.by_agent else ()
    return ("model", *dated, *agent, *(("correction",) if corrects else ()))


def _word(item: Mapping[str, Any], field: str) -> str:
    value = item.get(field)
    return value if isinstance(value, str) else ""
