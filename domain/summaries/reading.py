"""From events to sentences that could stand in a summary: noise and secrets out, the speaker in the third person,
dates resolved, each with the question that it answers and its signals.

Must not know: how many sentences a summary takes, and how they compare.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from slowwave_server.domain.dates import annotate, local_day, mentions
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.answers import statement
from slowwave_server.domain.extraction.edges import trim, without_vocative
from slowwave_server.domain.extraction.person import Speaker, third_person
from slowwave_server.domain.extraction.sentences import MAX_SENTENCE, normalise, sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech, name_of, speeches
from slowwave_server.domain.noise import is_chatter, is_noise, without_machinery
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.summaries.facets import facet_of, tells_outcome
from slowwave_server.domain.summaries.lines import Facet
from slowwave_server.domain.summaries.requests import asked_to
from slowwave_server.domain.summaries.segments import MAX_EVENT_CHARACTERS

TASK = "task"
"""The speaker of a milestone that bears no name."""

_DONE = re.compile(
    r"^(?:done|understood|noted|certainly|of course|sure thing|will do|no worries)\s?[,.!:;-]\s*(?=\w)", re.IGNORECASE
)
# Half a word at the cut, where there is another before or behind it.
_SHORTENED_END = re.compile(r"(?<=\s)\S{1,80}\Z")
_SHORTENED_START = re.compile(r"\A\S{1,80}(?=\s)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as a summary would show it. fired: its signals, and what else the weights know it by."""

    facet: Facet
    text: str
    speaker: str
    event: Event
    fired: tuple[str, ...]


def read(events: Sequence[Event], *, agent: str, time_zone: str, preceding: Sequence[Event] = ()) -> list[Sentence]:
    """The sentences of a segment in order. Raises ZoneInfoNotFoundError for an unknown zone."""
    clean = [cleaned(event) for event in events if event.kind != "tool"]
    talk = {speech.event.seq: speech for speech in speeches(clean, map(cleaned, preceding), agent)}
    with_agent = any(speech.is_agent for speech in talk.values()) or all(event.kind != "assistant" for event in clean)
    found: list[Sentence] = []
    for event in clean:
        if is_noise(event) or is_chatter(event.content):
            continue
        if event.kind == "task":
            found.append(_milestone(event, agent))
        elif event.seq in talk:
            found += _spoken(talk[event.seq], time_zone, with_agent=with_agent)
    return found


def cleaned(event: Event) -> Event:
    """The event without machinery; without secrets first, then cut: half a secret would not be found."""
    text = redact(event.content).text
    if len(text) > MAX_EVENT_CHARACTERS:
        half = MAX_EVENT_CHARACTERS // 2
        text = f"{_SHORTENED_END.sub('', text[:half])}\n{_SHORTENED_START.sub('', text[-half:])}"
    return replace(event, content=without_machinery(text).strip())


def _milestone(event: Event, agent: str) -> Sentence:
    outcome = str(event.metadata["event"])
    told = " ".join(normalise(event.content).split())
    cut = told if len(told) <= MAX_SENTENCE else told[:MAX_SENTENCE].rsplit(" ", 1)[0] + " …"
    facet: Facet = "executed" if outcome == "run_finished" else "state"
    name = name_of(event, agent) if event.name else TASK
    return Sentence(facet, f"{outcome.replace('_', ' ').capitalize()}: {cut}", name, event, ("milestone", outcome))


def _spoken(speech: Speech, time_zone: str, *, with_agent: bool) -> Iterator[Sentence]:
    for at, spoken in enumerate(sentences(speech.event.content)):
        said = _DONE.sub("", without_vocative(spoken, speech.speaker.addressee))
        seen = Seen()
        if at == 0:
            seen = Seen.after(speech.before)
            said = said if speech.is_agent else _answer(speech.before, said) or said
        if not is_chatter(said):
            fired = signals(said, seen)
            outcome = ("outcome",) if tells_outcome(said, fired) else ()
            yield _sentence(speech, said, (*fired, *outcome), time_zone, with_agent=with_agent)


def _answer(before: str | None, sentence: str) -> str | None:
    """The statement that a short answer makes of the question before it."""
    asked = [part for part in sentences((before or "")[-MAX_SENTENCE:]) if part.endswith("?")]
    return statement(asked[-1], sentence) if asked else None


def _sentence(speech: Speech, said: str, fired: tuple[str, ...], time_zone: str, *, with_agent: bool) -> Sentence:
    event, speaker = speech.event, speech.speaker
    named = mentions(said, local_day(event.happened_at, time_zone))
    whole = annotate(said, named)
    to_agent = with_agent and not speech.is_agent
    what = asked_to(trim(whole) or whole, bids=to_agent and {"decision", "rule"}.isdisjoint(fired))
    facet: Facet
    if what is not None:
        facet = "state" if speech.is_agent else "wanted"  # what the agent asks for keeps it from going on
        text = _asked_to(what, speaker)
    elif "question" in fired:
        facet = "wanted" if to_agent else "said"
        text = f'{speaker.name} asked: "{whole.strip(chr(34))}"'
    else:
        past = any(mention.past for mention in named)
        facet = facet_of(said, fired, is_agent=speech.is_agent, to_agent=to_agent, past_date=past)
        text = third_person(whole, speaker)
        text = text if speaker.inside(speaker.name) in text or speaker.name in text else f"{speaker.name}: {text}"
    extra = {"dated": bool(named), "agent": speech.is_agent, "request": what is not None, "to_agent": to_agent}
    return Sentence(facet, text, speaker.name, event, (*fired, *(name for name, holds in extra.items() if holds)))


def _asked_to(what: str, speaker: Speaker) -> str:
    """A request behind "… asked", with the speaker in the third person: "Maya asked to book a room for Maya."."""
    plain = third_person(what, speaker).removeprefix(f"{speaker.name}: ")
    return f"{speaker.name} asked {plain[:1].lower()}{plain[1:]}"
