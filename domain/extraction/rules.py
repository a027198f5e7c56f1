"""The default extractor: only rules, offline, deterministic for the same window.

remove noise → redact secrets → find speakers → split sentences → acts and signals → keep or drop → third person → dates
→ a candidate.

Candidates have three origins: statements of people (`by_people`), reports and deliveries of agents (`by_agents`), and
calls of tools (`by_tools`).

No text of a conversation is an instruction to this code.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial

from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import by_agents, by_people, by_tools, quoting, said
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.extraction.keeping import ALONE, WORTH, WORTH_PERHAPS, Turn, kept
from slowwave_server.domain.extraction.languages import language
from slowwave_server.domain.extraction.making import ScoredSentence, made
from slowwave_server.domain.extraction.naming import with_names
from slowwave_server.domain.extraction.outsiders import is_listing
from slowwave_server.domain.extraction.pasted import is_agents_log, without_echo, without_older_mail
from slowwave_server.domain.extraction.person import UNNAMED
from slowwave_server.domain.extraction.plain_facts import PLAIN, only_tells, plain_facts
from slowwave_server.domain.extraction.sentences import MAX_SENTENCE, sentences
from slowwave_server.domain.extraction.speech import Speech, speeches
from slowwave_server.domain.extraction.tone import (
    has_long_turn,
    is_about_code,
    is_of_channel,
    is_personal,
    is_technical,
    says_little,
)
from slowwave_server.domain.extraction.tools import calls, is_tool
from slowwave_server.domain.extraction.turns import worth as worth_of_turn
from slowwave_server.domain.extraction.weights import confidence, importance
from slowwave_server.domain.extraction.worth import Worth
from slowwave_server.domain.languages import DEFAULT, detect_each
from slowwave_server.domain.long_text import at_most
from slowwave_server.domain.noise import is_chatter, is_noise, without_machinery
from slowwave_server.domain.redaction import redact

VERSION = "2"
MAX_PER_EVENT = 6
"""Maximum candidates of an event of ordinary length; a longer event may have a few times as many.

`long_text.at_most` gives the number. The cap keeps a pasted document from flooding the memory; the candidates with the
highest scores stay.
"""

SENTENCES_ALONE = 2
"""Maximum sentences of a person's turn that only states something."""
SETTLED_ABROAD = frozenset("dated deadline decision outcome".split())
"""Signals of the statements that an impersonal talk keeps in languages that the judge does not know."""
IMPORTANT_ABROAD = 0.5
"""Minimum importance of the other statements of an impersonal talk with an agent."""


class RulesExtractor:
    """An extractor (see `domain.candidates.Extractor`) that weighs language signals. It has no state.

    Args:
        worth: the judge that decides what to keep; without a judge, signals decide.
        weigh: a function that returns the log-odds that a careful reader keeps part of a turn, given by its place.
    """

    name = "rules"

    def __init__(
        self, worth: Worth | None = None, weigh: Callable[[Sequence[Speech], int], float] = worth_of_turn
    ) -> None:
        self._worth = worth
        self._weigh = weigh
        self.version = VERSION if worth is None else f"{VERSION}, {worth.name}"

    def extract(
        self,
        window: Window,
        context: ExtractionContext,
        now: datetime,  # noqa: ARG002 - the contract has it; dates here come from the events
    ) -> Extraction:
        """Return candidates in the order of the events; duplicates are merged with the sources of both.

        An unknown time zone raises `zoneinfo.ZoneInfoNotFoundError`.
        """
        parts: list[Turn | Candidate] = []
        redactions = noise = dropped = 0
        talk = list(speeches(window.events, context.preceding, context.agent))
        spoken = detect_each([one.event.content for one in talk], [one.content for one in context.preceding])
        by_seq = {speech.event.seq: at for at, speech in enumerate(talk)}
        to_agent = _has_agent(talk, context)
        impersonal = _is_impersonal(talk, spoken, context, to_agent=to_agent)
        nobodys = {one.event.seq for one in talk if _is_nobodys(one, to_agent=to_agent)}
        for event in window.events:
            if is_tool(event):
                continue  # by_tools reads calls together with their answers
            clean = redact(event.content)
            redactions += len(clean.kinds)
            text = "" if is_noise(event) else without_machinery(without_older_mail(clean.text))
            if not text.strip() or is_chatter(text) or event.seq in nobodys:
                noise += 1
                continue
            if event.kind == "task":
                parts.append(_milestone(event, text))
                continue
            at = by_seq[event.seq]
            if spoken[at] != DEFAULT:
                parts += _quoted(talk[at], text, spoken[at], context, to_agent=to_agent, impersonal=impersonal)
            else:
                turn, too_many = self._read(talk, at, text, context, to_agent=to_agent)
                parts.append(replace(turn, impersonal=impersonal))
                dropped += too_many
        found: dict[tuple[str, str], Candidate] = {}
        for one in _with_tools(kept(parts, self._worth), window, context):
            _add(found, one)
        notes = (f"{dropped} statements of long events left out",) if dropped else ()
        return Extraction(tuple(found.values()), noise=noise, redactions=redactions, notes=notes)

    def _read(
        self, talk: list[Speech], at: int, text: str, context: ExtractionContext, *, to_agent: bool
    ) -> tuple[Turn, int]:
        """Return the statements of an English turn, and the number of statements above the cap."""
        weigh = cache(partial(self._weigh, talk, at))
        if to_agent and not talk[at].is_agent:
            text = without_echo(text, talk[at].before)
        if not to_agent and talk[at].has_others and is_listing(text):
            return Turn((), talk[at].event.role, to_agent, weigh), 0
        # Repetitions in a long turn do not count against the cap.
        passed = list(dict.fromkeys(_statements(talk[at], text, weigh, to_agent=to_agent)))
        room = at_most(MAX_PER_EVENT, len(text))
        chosen = _best(passed, room)
        if self._worth is not None:
            chosen += _further(talk, at, text, weigh, {one.said for one in passed}, to_agent=to_agent)
            if _tells_plainly(talk, at, text, to_agent=to_agent):
                chosen = [replace(one, fired=(*one.fired, PLAIN)) for one in chosen or said.whole(text)]
            elif not chosen and _is_alone(talk, at) and _only_states(text) and only_tells(text):
                chosen = [replace(one, fired=(*one.fired, ALONE)) for one in said.of_person(talk[at], text, ())]
        best = [made(one, talk[at], context) for one in chosen if not talk[at].is_anothers(one.said)]
        return Turn(best, talk[at].event.role, to_agent, weigh), max(0, len(passed) - room)


def _has_agent(talk: list[Speech], context: ExtractionContext) -> bool:
    """Return True if one of the speakers is the agent itself."""
    return any(one.is_agent for one in talk) or any(e.kind == "assistant" and not e.name for e in context.preceding)


def _with_tools(spoken: Iterable[Candidate], window: Window, context: ExtractionContext) -> Iterable[Candidate]:
    """Return what was said, with the names that calls of tools tell, and then the results of the calls."""
    heard = (*context.preceding, *window.events)
    done = list(calls(event for event in heard if is_tool(event)))
    inside = frozenset(event.seq for event in window.events)
    return (*with_names(spoken, done, heard), *by_tools.candidates(done, heard, inside))


def _is_nobodys(speech: Speech, *, to_agent: bool) -> bool:
    """Return True if the speaker is a heading or a program, or if a person's turn to an agent is the agent's own."""
    if to_agent or speech.speaker.name == UNNAMED:
        return not speech.is_agent and is_agents_log(speech.event.content)
    return not speech.is_person


def _is_impersonal(talk: list[Speech], spoken: Sequence[str], context: ExtractionContext, *, to_agent: bool) -> bool:
    """Return True for a talk with an agent about code, and for one among people about technical work, in a channel, in
    long turns or without personal words; also for long impersonal speech of a named person if no second one speaks.

    spoken: the language of each turn. A window with few English sentences is read with the turns before it.
    """
    said = [one.event.content for one in talk]
    if to_agent:
        return is_about_code(said)
    english = [text for text, code in zip(said, spoken, strict=True) if code == DEFAULT]
    names = {one.speaker.name for one in talk}
    if not any(one.has_others for one in talk):
        return UNNAMED not in names and has_long_turn((" ".join(english),)) and not is_personal(english)
    if len(english) == len(said) and says_little(said):
        said = english = [*(one.content for one in context.preceding if one.is_spoken), *said]
    return is_technical(said) or is_of_channel(said, names) or has_long_turn(english) or not is_personal(english)


def _quoted(
    speech: Speech, text: str, code: str, context: ExtractionContext, *, to_agent: bool, impersonal: bool
) -> Iterable[Candidate]:
    """Return the candidates of a turn in another language; none if the language has no rules.

    The judge cannot score them, so of an impersonal talk or a group's talk only choices, deadlines and dated facts are
    kept, and what a person tells an agent if its signals make it important.
    """
    known = language(code)
    found = () if known is None else quoting.candidates(speech, text, known, context, to_agent=to_agent)
    if not impersonal and (to_agent or not speech.in_group):
        return found
    return [
        one
        for one in found
        if not SETTLED_ABROAD.isdisjoint(one.signals) or (to_agent and one.importance >= IMPORTANT_ABROAD)
    ]


def _statements(speech: Speech, text: str, weigh: Callable[[], float], *, to_agent: bool) -> list[ScoredSentence]:
    if not to_agent:
        return by_people.among_people(speech, text)
    if speech.is_agent:
        return by_agents.statements(speech, text, lambda: weigh() >= WORTH)
    return by_people.to_agent(speech, text)


def _further(
    talk: list[Speech], at: int, text: str, weigh: Callable[[], float], known: set[str], *, to_agent: bool
) -> list[ScoredSentence]:
    """Return passages of a turn for the judge; in a talk with an agent, only if the turn is worth remembering or if a
    person only states something.
    """
    speech = talk[at]
    if not to_agent:
        found = said.among_people(talk, at, text, known)
        return [replace(one, fired=(*one.fired, "group")) for one in found] if speech.in_group else found
    if speech.is_agent:
        return said.of_agent(text, known) if weigh() >= WORTH else []
    is_read = weigh() >= WORTH_PERHAPS or (not known and _only_states(text))
    return said.of_person(speech, text, known) if is_read else []


def _only_states(text: str) -> bool:
    """Return True for a turn of a few sentences without a question. Its words have too few signals to be weighed."""
    return "?" not in text and len(list(sentences(text))) <= SENTENCES_ALONE


def _tells_plainly(talk: list[Speech], at: int, text: str, *, to_agent: bool) -> bool:
    """Return True if a person says a few sentences to an agent, or alone, and one of them states a plain fact."""
    is_listened_to = to_agent or _is_alone(talk, at)
    return is_listened_to and not talk[at].is_agent and _only_states(text) and bool(plain_facts(text))


def _is_alone(talk: list[Speech], at: int) -> bool:
    """Return True if nobody else speaks: a person who tells something to a memory."""
    return len({one.speaker for one in talk}) == 1 and talk[at].speaker.name == UNNAMED


def _milestone(event: Event, text: str) -> Candidate:
    """Return the candidate of a run's milestone. It states the outcome, which the text ("Nightly import") may lack."""
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


def _best(passed: list[ScoredSentence], room: int) -> list[ScoredSentence]:
    """Return at most `room` statements, in the order of the turn."""
    if len(passed) <= room:
        return passed
    ranked = sorted(range(len(passed)), key=lambda at: (-passed[at].score, at))
    return [passed[at] for at in sorted(ranked[:room])]


def _add(found: dict[tuple[str, str], Candidate], candidate: Candidate) -> None:
    """Add a candidate; a duplicate adds its sources, and an acceptance replaces the accepted delivery."""
    if "settled" in candidate.signals:
        handed = [
            key
            for key, one in found.items()
            if "delivered" in one.signals and set(one.sources) & set(candidate.sources)
        ]
        for key in handed:
            del found[key]
    key = (candidate.type, candidate.content.casefold())
    known = found.get(key)
    if known is None:
        found[key] = candidate
        return
    sources = tuple(sorted({*known.sources, *candidate.sources}))
    found[key] = replace(known, sources=sources, valid_from=min(known.valid_from, candidate.valid_from))
