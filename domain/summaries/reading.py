"""Turn events into candidate sentences of a summary.

Noise and secrets are removed, the speaker is put in the third person, dates are resolved, and each sentence gets its
facet and signals.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slowwave_server.domain.dates import Mention, annotate, local_day, mentions
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.answers import statement
from slowwave_server.domain.extraction.edges import trim, without_vocative
from slowwave_server.domain.extraction.person import Speaker, third_person
from slowwave_server.domain.extraction.sentences import MAX_SENTENCE, normalise, sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech, name_of, speeches
from slowwave_server.domain.extraction.standalone import flaw, is_dangling
from slowwave_server.domain.extraction.tools import Call, calls
from slowwave_server.domain.extraction.wording import is_clear
from slowwave_server.domain.extraction.wording import quoted as quoted_as
from slowwave_server.domain.noise import is_chatter, is_noise, without_machinery
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.summaries.endings import ending
from slowwave_server.domain.summaries.exchanges import earlier, last_of
from slowwave_server.domain.summaries.facets import facet_of, tells_outcome
from slowwave_server.domain.summaries.joining import joined
from slowwave_server.domain.summaries.lines import Facet
from slowwave_server.domain.summaries.prose import bare, own_with_lists, plain, quoted, without_address
from slowwave_server.domain.summaries.requests import asked_to
from slowwave_server.domain.summaries.segments import MAX_EVENT_CHARACTERS
from slowwave_server.domain.summaries.sentence import Sentence
from slowwave_server.domain.summaries.stance import stance_of
from slowwave_server.domain.summaries.stories import played
from slowwave_server.domain.summaries.talk import is_aside, is_empty, last_refusals, of_agent, of_person
from slowwave_server.domain.summaries.tool_lines import done as done_by
from slowwave_server.domain.summaries.tool_lines import failed, failures, hands_over

TASK = "task"
"""The speaker of a milestone without a name."""

_DONE = re.compile(
    r"^(?:done|understood|noted|certainly|of course|sure thing|will do|no worries)\s?[,.!:;-]\s*(?=\w)", re.IGNORECASE
)
_SCRIPT = re.compile(r"^(?!(?:note|done|status|update|result|warning)\b)[A-Za-z]+: ", re.IGNORECASE)
"""A line of a dialogue or a form that an agent wrote."""
_GREETS = re.compile(r"^(?:hi|hello|hey)(?: there)?\s?[,!.]\s+(?=\w)", re.IGNORECASE)
_PLEASE = re.compile(r",? please(?=\.$)", re.IGNORECASE)
_MAY_BE = re.compile(
    r"\b(?:could|can|may|might|would|should|for example|typically|usually|if|whenever|next steps?)\b", re.IGNORECASE
)
_OF_TWO = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|myself|you|your|yours)\b", re.IGNORECASE)
_FRAGMENT = re.compile(r"^[^:\"]{0,60}: \"?(?:like|such as|which|because|especially|including) ", re.IGNORECASE)
"""A fragment that its author wrote as a sentence."""
_CUT = re.compile(r"\*\*\d{0,2}[.\"]*$")
"""A sentence that ends at the start of a numbered list item in bold."""
_HALF_A_YEAR = 183
# A truncated word at the cut, if another word precedes or follows it.
_SHORTENED_END = re.compile(r"(?<=\s)\S{1,80}\Z")
_SHORTENED_START = re.compile(r"\A\S{1,80}(?=\s)")


def read(events: Sequence[Event], *, agent: str, time_zone: str, preceding: Sequence[Event] = ()) -> list[Sentence]:
    """Return the sentences of a segment in order. Raises ZoneInfoNotFoundError for an unknown zone."""
    clean = [cleaned(event) for event in events if event.kind != "tool"]
    talk = list(speeches(clean, map(cleaned, preceding), agent))
    by_seq = {speech.event.seq: at for at, speech in enumerate(talk)}
    with_agent = any(speech.is_agent for speech in talk) or all(event.kind != "assistant" for event in clean)
    at_work = any(speech.is_agent for speech in talk) or any(
        event.kind == "assistant" and name_of(event, agent) == agent for event in preceding
    )
    done = list(calls(event for event in events if event.kind == "tool"))
    refusals = last_refusals(talk)
    story = played(talk) if at_work else frozenset()
    found: list[Sentence] = []
    for event in clean:
        if is_noise(event) or is_chatter(event.content):
            continue
        if event.kind == "task":
            found.append(_milestone(event, agent))
        elif event.seq in by_seq and event.seq not in story:
            at = by_seq[event.seq]
            spoken = _spoken(talk[at], time_zone, with_agent=with_agent, at_work=at_work, is_last=_is_last(talk, at))
            found += _at_work(talk, at, list(spoken), done, refusals) if at_work else spoken
    if at_work:
        found += _of_calls(done, {event.seq: event for event in events}, agent)
        real = [speech for speech in talk if speech.event.seq not in story]
        asked = earlier(real, done, last_of(talk))
        found = joined(found, asked, ending(talk, done, agent, story), agent)
    return sorted(found, key=lambda one: one.event.seq)


def _is_last(talk: Sequence[Speech], at: int) -> bool:
    """Return True if the agent has no later turn, so that the conversation does not answer the agent's question."""
    return not any(speech.is_agent for speech in talk[at + 1 :])


def _at_work(
    talk: Sequence[Speech], at: int, spoken: Sequence[Sentence], done: Sequence[Call], refusals: Collection[int]
) -> Iterator[Sentence]:
    """Yield a turn's self-contained sentences, and the lines that summarise the turn."""
    speech = talk[at]
    names = (speech.speaker.name, speech.speaker.addressee or speech.speaker.name)
    if speech.is_agent:
        after = next((one for one in talk[at + 1 :] if not one.is_agent), None)
        told = list(of_agent(speech, accepted=after is not None and _agrees(after), with_tools=bool(done)))
        kept = [one for one in spoken if _is_of_work(one) and not is_empty(one.text, names)]
        told = [one for one in told if one.fired != ("refused",) or speech.event.seq in refusals]
    else:
        end = talk[at + 1].event.seq if at + 1 < len(talk) else math.inf
        by_tool = any(speech.event.seq < call.seqs[0] < end and call.changes_state for call in done)
        told = list(of_person(speech, decided_by_tool=by_tool))
        kept = [one for one in spoken if not is_empty(one.text, names, least=2 if one.facet == "said" else 1)]
        kept = [one for one in kept if one.facet not in {"said", "state"} or flaw(one.text, names=names) is None]
        kept = [one for one in kept if _FRAGMENT.search(one.text) is None and _CUT.search(one.text) is None]
        kept = [one for one in kept if one.facet != "decided" or not is_dangling(one.text)]
    said = {one.text for one in kept}
    yield from kept
    settled = any(one.facet == "decided" for one in kept)
    for one in told:
        if one.text not in said and not (settled and "taken" in one.fired):
            yield Sentence(one.facet, one.text, speech.speaker.name, speech.event, one.fired)


def _is_of_work(one: Sentence) -> bool:
    """Return True if an agent's sentence reports its work, a state, or input that it needs."""
    if "request" in one.fired:
        return True
    return (
        (one.facet == "executed" or "outcome" in one.fired)
        and _MAY_BE.search(one.text) is None
        and "hope" not in one.text
    )


def _agrees(speech: Speech) -> bool:
    stance = stance_of(plain(speech.event.content))
    return stance is not None and stance.verb == "agreed"


def _of_calls(done: Sequence[Call], events: Mapping[int, Event], agent: str) -> Iterator[Sentence]:
    """Yield a sentence for each change by a tool and for each failed change."""
    for call in done:
        if call.changes_state and call.is_identified and call.error is None and not hands_over(call):
            yield Sentence("executed", redact(done_by(call, agent, done)).text, agent, events[call.seqs[-1]], ("tool",))
    for call in failures(done):
        yield Sentence("state", redact(failed(call, agent)).text, agent, events[call.seqs[-1]], ("tool",))


def cleaned(event: Event) -> Event:
    """Return the event without machine output, redacted before the cut: half a secret would not be found."""
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
    text = f"{outcome.replace('_', ' ').capitalize()}: {cut}"
    return Sentence(facet, text, name, event, ("milestone", outcome), _run_of(event))


def _run_of(event: Event) -> str | None:
    """Return the run id of a milestone, if its task has one."""
    run = event.metadata.get("run")
    return str(run) if isinstance(run, (str, int)) and run != "" else None


def _spoken(speech: Speech, time_zone: str, *, with_agent: bool, at_work: bool, is_last: bool) -> Iterator[Sentence]:
    """Yield the sentences of a turn. at_work: True if an agent takes part; is_last: True for the agent's last turn."""
    content = speech.event.content
    parts = plain(content) if at_work and speech.is_agent else list(sentences(content))
    mine = set(own_with_lists(content)) if at_work and not speech.is_agent else None
    for at, part in enumerate(parts):
        spoken = without_address(part) if at_work else part
        spoken = _GREETS.sub("", spoken) if at_work else spoken
        if at_work and speech.is_agent and _SCRIPT.match(part):
            continue
        said = _DONE.sub("", without_vocative(spoken, speech.speaker.addressee))
        seen = Seen()
        if at == 0:
            seen = Seen.after(speech.before)
            said = said if speech.is_agent else _answer(speech.before, said) or said
        if not is_chatter(said) and not (at_work and not speech.is_agent and is_aside(said)):
            fired = signals(said, seen)
            outcome = ("outcome",) if tells_outcome(said, fired) else ()
            one = _sentence(speech, said, (*fired, *outcome), time_zone, with_agent=with_agent)
            waits = "agent" in one.fired and "request" in one.fired
            if (is_last or not waits) and (mine is None or bare(part) in mine):
                yield one


def _answer(before: str | None, sentence: str) -> str | None:
    """Turn a short answer and its question into a statement."""
    asked = [part for part in sentences((before or "")[-MAX_SENTENCE:]) if part.endswith("?")]
    return statement(asked[-1], sentence) if asked else None


def _sentence(speech: Speech, said: str, fired: tuple[str, ...], time_zone: str, *, with_agent: bool) -> Sentence:
    event, speaker = speech.event, speech.speaker
    named = _clear(mentions(said, local_day(event.happened_at, time_zone)), said, event.happened_at)
    whole = annotate(said, named)
    to_agent = with_agent and not speech.is_agent
    what = asked_to(trim(whole) or whole, bids=to_agent and {"decision", "rule"}.isdisjoint(fired))
    facet: Facet
    if what is not None:
        # the agent can't continue before the person answers its question
        facet = "state" if speech.is_agent else "wanted"
        text = _asked_to(what, whole, speaker)
    elif "question" in fired:
        facet = "wanted" if to_agent else "said"
        text = f'{speaker.name} asked: "{whole.strip(chr(34))}"'
    else:
        past = any(mention.past for mention in named)
        facet = facet_of(said, fired, is_agent=speech.is_agent, to_agent=to_agent, past_date=past)
        clear = is_clear(whole, speaker)
        text = _PLEASE.sub("", third_person(whole, speaker)) if clear else quoted_as(whole, speaker)
        text = text if speaker.inside(speaker.name) in text or speaker.name in text else f"{speaker.name}: {text}"
    extra = {"dated": bool(named), "agent": speech.is_agent, "request": what is not None, "to_agent": to_agent}
    return Sentence(facet, text, speaker.name, event, (*fired, *(name for name, holds in extra.items() if holds)))


def _clear(named: tuple[Mention, ...], said: str, at: datetime) -> tuple[Mention, ...]:
    """Keep the unambiguous dates: a date without a year must be at most half a year away."""
    return tuple(
        one for one in named if str(one.first.year) in said or abs((one.first - at.date()).days) <= _HALF_A_YEAR
    )


def _asked_to(what: str, whole: str, speaker: Speaker) -> str:
    """Write a request as "Maya asked to book a room."; quote it if it mentions the speaker or the listener."""
    if _OF_TWO.search(what) or not is_clear(what, speaker):
        return f"{speaker.name} asked: {quoted(whole, MAX_SENTENCE)}"
    plain = third_person(what, speaker).removeprefix(f"{speaker.name}: ")
    return f"{speaker.name} asked {plain[:1].lower()}{plain[1:]}"
